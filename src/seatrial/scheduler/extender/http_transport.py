"""Extenders over real HTTP, with the TLS settings of the configuration."""

import base64
import http.client
import ssl
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlsplit

from seatrial.model.times import SECOND
from seatrial.scheduler.config import Extender
from seatrial.scheduler.extender.extender import TransportError


class HttpTransport:
    """Posts to extenders over connections that are kept open, for each thread its own."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def _connections(self) -> dict[tuple[str, str], http.client.HTTPConnection]:
        found: dict[tuple[str, str], http.client.HTTPConnection] = self._local.__dict__.setdefault("connections", {})
        return found

    def post(self, extender: Extender, url: str, body: bytes, timeout: int) -> tuple[int, bytes]:
        """Status code and body of the answer; TransportError where there is none in time."""
        parts = urlsplit(url)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        key = (parts.scheme, parts.netloc)
        # A kept connection may have been closed by the other side meanwhile: one more try on a fresh one.
        for is_last in (key not in self._connections, True):
            connection = self._connections.get(key) or self._open(extender, parts.scheme, parts.netloc, timeout)
            self._connections[key] = connection
            try:
                connection.request("POST", path, body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException) as failure:
                connection.close()
                del self._connections[key]
                if is_last or isinstance(failure, TimeoutError):
                    raise TransportError(str(failure) or type(failure).__name__) from failure
        raise AssertionError("unreachable")

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def _open(self, extender: Extender, scheme: str, address: str, timeout: int) -> http.client.HTTPConnection:
        seconds = timeout / SECOND
        if scheme == "https":
            try:
                context = _tls_context(extender)
            except (OSError, ValueError) as failure:
                raise TransportError(f"TLS settings: {failure}") from failure
            name = (extender.tls or {}).get("serverName")
            return _NamedConnection(name, address, timeout=seconds, context=context)
        return http.client.HTTPConnection(address, timeout=seconds)


class _NamedConnection(http.client.HTTPSConnection):
    """A connection whose other end may be called otherwise than its address."""

    def __init__(self, name: str | None, address: str, *, timeout: float, context: ssl.SSLContext) -> None:
        super().__init__(address, timeout=timeout, context=context)
        self._name = name or self.host
        self._tls = context

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)


def _tls_context(extender: Extender) -> ssl.SSLContext:
    tls = extender.tls or {}
    authority = tls.get("caFile"), tls.get("caData")
    context = ssl.create_default_context(
        cafile=authority[0] or None, cadata=base64.b64decode(authority[1]).decode() if authority[1] else None
    )
    if tls.get("insecure") or (extender.enable_https and not any(authority)):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.get("certData"):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = Path(folder, "cert.pem"), Path(folder, "key.pem")
            certificate.write_bytes(base64.b64decode(tls["certData"]))
            key.write_bytes(base64.b64decode(tls.get("keyData", "")))
            context.load_cert_chain(certificate, key)
    elif tls.get("certFile"):
        context.load_cert_chain(tls["certFile"], tls.get("keyFile") or None)
    return context
