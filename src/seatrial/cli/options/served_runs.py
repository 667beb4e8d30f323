"""Reads a Scenario with its whole timeline from `seatrial serve`."""

import ssl
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.results import Run

SECONDS = 120


@contextmanager
def fetch_run(server: str, name: str) -> Iterator["Run"]:
    """A Scenario of a server (a URL, or the kubeconfig that `serve` wrote); its files are removed at the end."""
    from seatrial.results import Run
    from seatrial.scenario.output_files import RESULT
    from seatrial.scenario.spec.kind import SCENARIO
    from seatrial.timeline import NAME

    url, token, tls = _connection(server)
    path = f"{url}/apis/{SCENARIO.api_version}/{SCENARIO.plural}/{urllib.parse.quote(name, safe='')}"
    with tempfile.TemporaryDirectory(prefix="seatrial-served-") as folder:
        target = Path(folder) / name
        target.mkdir()
        (target / RESULT).write_bytes(_get(path, token, tls))
        (target / NAME).write_bytes(_get(f"{path}/timeline", token, tls))
        yield Run.load(target)


def _connection(server: str) -> tuple[str, str, ssl.SSLContext | None]:
    """URL, token and TLS settings of a server."""
    if "://" in server:
        return server.rstrip("/"), "", None
    import yaml

    from seatrial.outside import SeatrialClientError, connection_of

    try:
        document = yaml.safe_load(Path(server).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(server, "--server", f"expected a URL or a kubeconfig: {error}") from error
    try:
        url, token, tls = connection_of(document if isinstance(document, dict) else {})
    except SeatrialClientError as error:
        raise ConfigError(server, "--server", str(error)) from error
    return url.rstrip("/"), token, tls


def _get(url: str, token: str, tls: ssl.SSLContext | None) -> bytes:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=SECONDS, context=tls) as got:
            body: bytes = got.read()
            return body
    except urllib.error.HTTPError as error:
        with error:
            raise ConfigError(url, "", f"{error.code}: {_message(error.read())}") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise ConfigError(url, "--server", f"no answer: {why}; is `seatrial serve` running there?") from error


def _message(body: bytes) -> str:
    from seatrial.model.documents import decode

    try:
        return str(decode(body).get("message") or body[:200].decode(errors="replace"))
    except (ValueError, AttributeError):
        return body[:200].decode(errors="replace")
