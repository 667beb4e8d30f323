"""Files that a server keeps for itself: secrets, certificates, its kubeconfig.

Each is written whole or not at all, so that no kill, full disk or power failure leaves a part of one behind.
"""

import os
import re
import secrets
import tempfile
from pathlib import Path

from seatrial.model.errors import ConfigError

_SECRET = re.compile(rb"[A-Za-z0-9_-]{43}\n")


def write_private(path: Path, data: bytes) -> None:
    """Replace a file in one step, readable by its owner alone; ConfigError where that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A file of a new, unpredictable name: another user of the folder cannot have made it before.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise ConfigError(str(path), "", f"cannot be written: {error.strerror or error}") from error


def kept_secret(path: Path) -> str:
    """The secret in a file, made at the first use; ConfigError where the file is damaged."""
    if not path.exists():
        write_private(path, secrets.token_urlsafe(32).encode() + b"\n")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(str(path), "", f"cannot be read: {error.strerror or error}") from error
    if _SECRET.fullmatch(data) is None:
        raise ConfigError(str(path), "", "the file is damaged; remove it, and a new secret is made")
    return data.decode().strip()
