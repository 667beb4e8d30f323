"""A small HTTP/1.1 load generator over plain sockets: bodies are encoded beforehand, answers are read whole.

It lives in the measuring process; the server is another one, whose CPU time is read from /proc.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from seatrial.model.errors import SeatrialError

CPUCLOCK_SCHED = 2
"""The kind of clock that Linux adds to a process id for `clock_gettime`: all its CPU time."""


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A `seatrial serve` that was started to be measured."""

    pid: int
    host: str
    port: int

    def cpu_seconds(self) -> float:
        """User and system time so far.

        Read from the process's CPU clock: /proc counts in ticks of 10 ms, more than a short measurement takes.
        """
        return time.clock_gettime((~self.pid << 3) | CPUCLOCK_SCHED)

    def resident_megabytes(self) -> float:
        """Resident memory."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def running_server(*flags: str) -> Iterator[ServerProcess]:
    """A server on a free port, without token and TLS, and its end."""
    command = [str(Path(sys.executable).with_name("seatrial")), "serve", "--port", "0", "--insecure", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                found = re.match(r"ready: http://([\d.]+):(\d+)", line)
                if found:
                    yield ServerProcess(process.pid, found[1], int(found[2]))
                    return
            raise SeatrialError("the server to be measured ended before it was ready")
        finally:
            process.terminate()


class Connection:
    """One keep-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, server: ServerProcess) -> "Connection":
        return cls(*await asyncio.open_connection(server.host, server.port, limit=1 << 22))

    async def exchange(self, message: bytes) -> tuple[int, bytes]:
        """Send a request and read its whole answer."""
        self._writer.write(message)
        status, length = await self._head()
        if length is None:
            return status, b"".join([chunk async for chunk in self.chunks()])
        return status, await self._reader.readexactly(length)

    async def timed(self, message: bytes) -> tuple[float, float, int]:
        """Seconds to the first byte of the body and to its end, and its size."""
        start = time.perf_counter()
        self._writer.write(message)
        _, length = await self._head()
        first = 0.0
        size = 0
        if length is None:
            async for chunk in self.chunks():
                first = first or time.perf_counter() - start
                size += len(chunk)
        else:
            first = time.perf_counter() - start
            size = len(await self._reader.readexactly(length))
        return first, time.perf_counter() - start, size

    async def open_stream(self, message: bytes) -> int:
        """Send a request and read only the head of its answer."""
        self._writer.write(message)
        return (await self._head())[0]

    async def chunks(self) -> AsyncIterator[bytes]:
        """The chunks of a chunked body."""
        while size := int(await self._reader.readline(), 16):
            yield await self._reader.readexactly(size)
            await self._reader.readexactly(2)
        await self._reader.readexactly(2)

    async def _head(self) -> tuple[int, int | None]:
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        return int(head[9:12]), int(length[1]) if length else None

    def close(self) -> None:
        self._writer.close()


def request(method: str, path: str, body: bytes = b"", user: str = "") -> bytes:
    """The bytes of a request, in the name of a user where one is given."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"
    if user:
        head += f"Impersonate-User: {user}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


async def send_all(server: ServerProcess, messages: Iterable[bytes], connections: int = 8) -> None:
    """Send requests over some connections, each taking the next when its last is answered."""
    remaining = iter(messages)

    async def work() -> None:
        connection = await Connection.to(server)
        for message in remaining:
            status, body = await connection.exchange(message)
            if status >= 300:
                raise SeatrialError(f"the server answered {status}: {json.loads(body).get('message')}")
        connection.close()

    await asyncio.gather(*(work() for _ in range(connections)))
