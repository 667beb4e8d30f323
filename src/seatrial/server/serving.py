"""Running the server: one socket on 127.0.0.1, uvicorn around the application, and a clean end on SIGTERM."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import uvicorn

from seatrial.server.application import Served
from seatrial.server.client_certificates import CertificateProtocol
from seatrial.server.http_protocol import IDLE_TIMEOUT, BoundedProtocol, connection_limit

GRACE = 2
LONGEST_END = 4.5
"""Seconds from a signal to the end of the process, whatever still runs: what was acknowledged is on disk."""
Socket = socket.socket


@dataclass(slots=True)
class Listener:
    """A socket that is bound but does not yet answer."""

    socket: socket.socket
    tls: ssl.SSLContext | None
    more: list[Socket] = field(default_factory=list)
    """Further sockets with the same content."""

    @classmethod
    def on(cls, address: str, port: int, tls: Callable[[int], ssl.SSLContext | None]) -> "Listener":
        """Bind to a port (0: any free one); `tls` gives the context for the port that it became."""
        bound = bind(address, port)
        return cls(bound, tls(bound.getsockname()[1]))

    @property
    def port(self) -> int:
        port: int = self.socket.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"


def bind(address: str, port: int) -> socket.socket:
    """A socket on this address and port."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((address, port))
    except OSError:
        bound.close()
        raise
    return bound


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling, which would end the process by the signal instead of with exit 0."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def _wait_tasks_to_complete(self) -> None:
        # Requests in progress are waited for; idle connections are closed without the client's part of the handshake.
        while self.server_state.tasks:
            await asyncio.sleep(0.02)
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    application: Served,
    listener: Listener,
    *,
    ready: Callable[[], None],
    stop: Callable[[], None],
    until: "asyncio.Future[None] | None" = None,
) -> None:
    """Serve until SIGTERM, SIGINT or the end of `until`.

    `ready` is called once requests are accepted, `stop` before connections end.
    """
    server = _build(application, listener, ready)

    def end() -> None:
        stop()
        server.should_exit = True

    def finished(until: "asyncio.Future[None]") -> None:
        end()

    loop = asyncio.get_running_loop()

    def signalled(*_: object) -> None:
        # A handler of the loop would not be called while a plugin or a long request keeps the loop busy.
        watchdog = threading.Timer(LONGEST_END, os._exit, [0])
        watchdog.daemon = True
        watchdog.start()
        loop.call_soon_threadsafe(end)

    before = {number: signal.signal(number, signalled) for number in (signal.SIGTERM, signal.SIGINT)}
    if until is not None:
        until.add_done_callback(finished)
    try:
        await server.serve(sockets=[listener.socket, *listener.more])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if until is not None:
            until.remove_done_callback(finished)


@contextlib.asynccontextmanager
async def serving(application: Served, listener: Listener, stop: Callable[[], None]) -> AsyncIterator[None]:
    """Serve while the body runs; `stop` is called before connections end."""
    ready = asyncio.Event()
    server = _build(application, listener, ready.set)
    task = asyncio.ensure_future(server.serve(sockets=[listener.socket]))
    try:
        await ready.wait()
        yield
    finally:
        stop()
        server.should_exit = True
        await task


def _build(application: Served, listener: Listener, ready: Callable[[], None]) -> _Server:
    BoundedProtocol.max_connections = connection_limit()
    config = uvicorn.Config(
        application,
        loop="none",
        http=CertificateProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        date_header=True,
        timeout_keep_alive=IDLE_TIMEOUT,
        timeout_graceful_shutdown=GRACE,
        backlog=2048,
    )
    config.load()
    config.ssl = listener.tls
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    return _Server(config, ready)


def tune_collector() -> None:
    """Raise the collector's thresholds: most objects here are long-lived and have no cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
