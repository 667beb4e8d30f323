"""The folder of a command's results: its files appear together, when all of them are written, or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from seatrial.model.errors import ConfigError


def make_folder(target: Path) -> list[Path]:
    """Find out before a long run whether its results can be kept; the folders that had to be made, inner ones first."""
    made = [folder for folder in (target, *target.parents) if not folder.exists()]
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError("", "--out", f"{target} cannot be made a folder: {error.strerror}") from error
    if not os.access(target, os.W_OK):
        raise ConfigError("", "--out", f"{target} cannot be written to")
    return made


@contextmanager
def output_folder(target: Path) -> Iterator[Path]:
    """A folder to write results into; they are moved to `target` at the end, and nothing is left after a failure."""
    made = make_folder(target)
    try:
        with tempfile.TemporaryDirectory(dir=target, prefix=".partial-", ignore_cleanup_errors=True) as staging:
            yield Path(staging)
            for file in sorted(Path(staging).iterdir()):
                file.replace(target / file.name)
    except BaseException:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise
