"""Connections to extenders, with the TLS settings of the configuration; loaded when the first one is opened."""

import base64
import http.client
import ssl
import tempfile
from pathlib import Path

from seatrial.model.times import SECOND
from seatrial.scheduler.config import Extender
from seatrial.scheduler.extender.extender import TransportError
from seatrial.server import TimedSocket


def open_connection(extender: Extender, scheme: str, address: str, timeout: int) -> http.client.HTTPConnection:
    """A connection to an extender that is made with its first request."""
    seconds = timeout / SECOND
    if scheme == "https":
        try:
            context = _tls_context(extender)
        except (OSError, ValueError) as failure:
            raise TransportError(f"TLS settings: {failure}") from failure
        name = (extender.tls or {}).get("serverName")
        return _NamedConnection(name, address, timeout=seconds, context=context)
    return _Connection(address, timeout=seconds)


def renew(connection: http.client.HTTPConnection, timeout: int) -> None:
    """Begin another exchange on a connection that is kept."""
    if isinstance(connection.sock, TimedSocket):
        connection.sock.renew(timeout / SECOND)


class _Connection(http.client.HTTPConnection):
    """A connection with a deadline for each exchange."""

    def connect(self) -> None:
        super().connect()
        self.sock = TimedSocket.lasting(self.sock, self.timeout or 0)


class _NamedConnection(http.client.HTTPSConnection):
    """Such a connection whose other end may be called otherwise than its address."""

    def __init__(self, name: str | None, address: str, *, timeout: float, context: ssl.SSLContext) -> None:
        super().__init__(address, timeout=timeout, context=context)
        self._name = name or self.host
        self._tls = context

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        secured = self._tls.wrap_socket(self.sock, server_hostname=self._name)
        self.sock = TimedSocket.lasting(secured, self.timeout or 0)


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
