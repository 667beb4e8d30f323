"""Bounds of a connection before its request is known."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from seatrial.server.http_protocol import MAX_HEADER_BYTES, BoundedProtocol, connection_limit


async def application(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def listening(**bounds: Any) -> AsyncIterator[int]:
    config = uvicorn.Config(application, lifespan="off", log_config=None, ws="none")
    config.load()
    state = uvicorn.server.ServerState()
    protocol = type("Protocol", (BoundedProtocol,), bounds)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol(config, state, {}, loop), "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for connection in tuple(state.connections):
            connection.transport.abort()


async def answer(port: int, *parts: bytes, wait: float = 0.0) -> bytes:
    """What the server says to these bytes before it ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(wait)
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        return await reader.read()
    finally:
        writer.close()


ASKED = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n"


def run(coroutine: Any) -> Any:
    return asyncio.run(asyncio.wait_for(coroutine, 20))


def test_headers_beyond_a_mebibyte_are_refused() -> None:
    async def scene() -> bytes:
        async with listening() as port:
            return await answer(port, ASKED, *[b"x-a: " + b"a" * 65536 + b"\r\n"] * (MAX_HEADER_BYTES // 65536 + 2))

    assert run(scene()).startswith(b"HTTP/1.1 431 ")


def test_headers_below_the_limit_are_read() -> None:
    async def scene() -> bytes:
        async with listening() as port:
            return await answer(port, ASKED, b"x-a: " + b"a" * 65536 + b"\r\n\r\n")

    assert run(scene()).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("beginning", [b"", b"GET / HTTP/1.1\r\nhost"])
def test_headers_that_do_not_come_end_the_connection(beginning: bytes) -> None:
    async def scene() -> bytes:
        async with listening(header_timeout=0.05) as port:
            return await answer(port, beginning)

    assert run(scene()).startswith(b"HTTP/1.1 408 ")


def test_a_second_request_has_its_own_time() -> None:
    async def scene() -> bytes:
        async with listening(header_timeout=0.5) as port:
            return await answer(port, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n", b"GET / HTTP/1.1\r\nhost", wait=0.05)

    said = run(scene())
    assert said.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in said


def test_connections_beyond_the_limit_are_refused() -> None:
    async def scene() -> bytes:
        async with listening(max_connections=1) as port:
            _, first = await asyncio.open_connection("127.0.0.1", port)
            try:
                return await answer(port)
            finally:
                first.close()

    assert run(scene()).startswith(b"HTTP/1.1 503 ")


def test_the_limit_of_connections_leaves_files_for_the_server() -> None:
    assert 1 <= connection_limit() <= 10_000
