"""Extenders over real HTTP."""

import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from seatrial.scheduler.config import Extender
from seatrial.scheduler.extender.extender import TransportError

if TYPE_CHECKING:
    from http.client import HTTPConnection


class HttpTransport:
    """Posts to extenders over connections that are kept open, for each thread its own."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def _connections(self) -> dict[tuple[str, str], "HTTPConnection"]:
        found: dict[tuple[str, str], HTTPConnection] = self._local.__dict__.setdefault("connections", {})
        return found

    def post(self, extender: Extender, url: str, body: bytes, timeout: int) -> tuple[int, bytes]:
        """Status code and body of the answer; TransportError if none arrives in time."""
        from http.client import HTTPException

        from seatrial.scheduler.extender.connections import open_connection, renew

        parts = urlsplit(url)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        key = (parts.scheme, parts.netloc)
        # A kept connection may have been closed by the other side meanwhile: one more try on a fresh one.
        for is_last in (key not in self._connections, True):
            connection = self._connections.get(key) or open_connection(extender, parts.scheme, parts.netloc, timeout)
            self._connections[key] = connection
            try:
                renew(connection, timeout)
                connection.request("POST", path, body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (OSError, HTTPException) as failure:
                connection.close()
                del self._connections[key]
                if is_last or isinstance(failure, TimeoutError):
                    raise TransportError(str(failure) or type(failure).__name__) from failure
        raise AssertionError("unreachable")

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
