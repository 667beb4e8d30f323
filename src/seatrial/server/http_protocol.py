"""Limits of a connection before its request is parsed: size and time of the headers, and number of connections.

uvicorn's parser collects headers of any size for any time, from any number of connections. The figures for headers
are those of kube-apiserver (k8s.io/apiserver/pkg/server/secure_serving.go).
"""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

MAX_HEADER_BYTES = 1 << 20
HEADER_TIMEOUT = 32.0
"""Seconds from the first byte of a request, or from the start of the connection, to the end of the headers."""
IDLE_TIMEOUT = 180
"""Seconds an idle connection stays open: longer than clients keep theirs, so that they close first."""
MAX_CONNECTIONS = 10_000
LINGER = 1.0
FILES_KEPT = 128
"""Open files that the server needs in addition to its connections."""


def connection_limit() -> int:
    """How many connections may be open; the soft limit of files is raised for them where it may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + FILES_KEPT
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else max(1, min(MAX_CONNECTIONS, soft - FILES_KEPT))


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with bounds on what comes before a request."""

    max_connections = MAX_CONNECTIONS
    header_timeout = HEADER_TIMEOUT

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._in_head = True
        self._refused = False
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            self._refuse(503, "too many connections")
            return
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused or self.transport.is_closing():
            return
        super().data_received(data)
        if not self._in_head:
            return
        # Headers that arrive whole, as most do, need no timer.
        self._start_head_timer()
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEADER_BYTES:
            self._refuse(431, f"the headers are larger than {MAX_HEADER_BYTES} bytes", LINGER)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_head_timer()
        if [name for name, _ in self.headers].count(b"host") > 1:
            # Go's net/http refuses it likewise: two readers of one request could see two hosts (RFC 9112, 3.2).
            self._refuse(400, "too many Host headers")
            return
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._refused:
            super().on_message_complete()

    def _start_head_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.header_timeout, self._too_slow)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        self._head_timer = None
        self._refuse(408, "the headers did not arrive in time")

    def _refuse(self, status: int, why: str, linger: float = 0.0) -> None:
        """Send the reason as plain text and close; a client that is still sending gets a moment to read it."""
        self._stop_head_timer()
        self._refused = True
        if self.transport.is_closing():
            return
        lines = (b"content-type: text/plain; charset=utf-8", b"connection: close", b"content-length: %d" % len(why))
        self.transport.write(STATUS_LINE[status] + b"\r\n".join((*lines, b"", why.encode())))
        if linger:
            self.loop.call_later(linger, self.transport.close)
        else:
            self.transport.close()
