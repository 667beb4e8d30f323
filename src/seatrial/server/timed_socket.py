"""A socket for http.client with a deadline for the whole exchange.

The timeout of a socket begins again with every byte, so that a peer which sends one byte now and then holds a caller
for as long as it likes.
"""

import io
import socket
import time
from typing import Any


class TimedSocket:
    """A connected socket, as far as http.client uses it."""

    def __init__(self, connected: socket.socket, deadline: float) -> None:
        """`deadline` is a time of the monotonic clock."""
        self._socket = connected
        self.deadline = deadline

    @classmethod
    def lasting(cls, connected: socket.socket, seconds: float) -> "TimedSocket":
        """A socket whose exchange must be over in so many seconds."""
        return cls(connected, time.monotonic() + seconds)

    def renew(self, seconds: float) -> None:
        """Begin another exchange."""
        self.deadline = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that are left; TimeoutError where there are none."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left

    def sendall(self, data: bytes) -> None:
        """Send everything in time."""
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(self.left())
            rest = rest[self._socket.send(rest) :]

    def makefile(self, mode: str, *more: Any) -> io.BufferedReader:
        """What is received, as a file; it outlives the socket, as http.client expects."""
        return io.BufferedReader(_Received(self, self._socket))

    def close(self) -> None:
        self._socket.close()


class _Received(io.RawIOBase):
    def __init__(self, timed: TimedSocket, connected: socket.socket) -> None:
        self._timed, self._socket = timed, connected
        self._file = connected.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(self._timed.left())
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


def connect(address: tuple[str, int], deadline: float) -> socket.socket:
    """A connection that is there before the deadline; TimeoutError where it is not."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    connected = socket.create_connection(address, left)
    connected.settimeout(max(0.001, deadline - time.monotonic()))
    return connected
