"""Hands the user of a connection's client certificate to the application, which uvicorn does not.

The certificate is read once per connection.
"""

import asyncio
from typing import Any

from seatrial.server.auth.signing import user_of_certificate
from seatrial.server.http_protocol import BoundedProtocol
from seatrial.store import User

CERTIFICATE_USER = "seatrial.certificate_user"
"""Where the ASGI scope holds a user that is known without a token: by a client certificate, or a browser's session."""


class CertificateProtocol(BoundedProtocol):
    """HTTP on a connection whose client may have shown a certificate."""

    _certificate_user: User | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer: Any = transport.get_extra_info("peercert")
        self._certificate_user = user_of_certificate(peer)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._certificate_user is not None:
            scope: dict[str, Any] = self.scope  # type: ignore[assignment]
            scope[CERTIFICATE_USER] = self._certificate_user
