"""Cross-origin requests: pages of the listed origins may call the server, as kube-apiserver's filters/cors.go has it.

The origins are compared as text (kube-scheduler-simulator's CORS_ALLOWED_ORIGIN_LIST), not as regular expressions.
"""

from collections.abc import Collection, MutableMapping
from typing import Any

from seatrial.server.application import Receive, Send, Served

HEADERS = (
    (b"access-control-allow-methods", b"POST, GET, OPTIONS, PUT, DELETE, PATCH"),
    (
        b"access-control-allow-headers",
        b"Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, "
        b"If-Modified-Since",
    ),
    (b"access-control-expose-headers", b"Date"),
    (b"access-control-allow-credentials", b"true"),
)


class CrossOrigin:
    """An application that adds the headers of cross-origin requests."""

    def __init__(self, application: Served, origins: Collection[str]) -> None:
        self._application = application
        self._origins = frozenset(origin.encode("latin-1") for origin in origins)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a preflight request, or pass the request on and add the headers to its answer."""
        origin = dict(scope.get("headers") or ()).get(b"origin", b"")
        if origin not in self._origins:
            await self._application(scope, receive, send)
            return
        added = [(b"access-control-allow-origin", origin), *HEADERS]
        if scope["method"] == "OPTIONS":
            await send({"type": "http.response.start", "status": 204, "headers": added})
            await send({"type": "http.response.body", "body": b""})
            return

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        await self._application(scope, receive, send_with_headers)
