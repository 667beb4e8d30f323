"""Processes for work that cannot be interrupted: a job that takes too long ends together with its process.

A process is started with the first job that needs one and serves one job at a time. It sets itself an alarm before each
job, so that it ends in time even where its server is gone, and it ends when its standard input does.
"""

import asyncio
import contextlib
import io
import pickle
import signal
import struct
import subprocess
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

import orjson

from seatrial.model.errors import ServerTimeout, StatusError

SECONDS = 5
"""Seconds of a processor that a job may take."""
WALL = 12
"""How many times as long it may take on the clock, on a busy machine."""
NUMBER = 2
_LENGTH = struct.Struct("!Q")
_STARTED = "from seatrial.server.worker_processes import work; work()"
Job = Callable[[], Any]


class WorkerProcesses:
    """A few processes, each with a thread of this one that waits for it."""

    def __init__(self, number: int = NUMBER, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._idle: list[subprocess.Popen[bytes]] = []
        self._all: set[subprocess.Popen[bytes]] = set()
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="isolated")
        weakref.finalize(self, _end_all, self._all)

    async def run(self, job: Job) -> Any:
        """The result of a job; a StatusError as a value where it failed or took too long."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, job)

    def close(self) -> None:
        """End all processes with what they do."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        _end_all(self._all)

    def _run(self, job: Job) -> Any:
        process = self._idle.pop() if self._idle else self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            _send(process.stdin, (self._seconds, job))
            result = _receive(process.stdout)
        except (OSError, EOFError):
            self._end(process)
            return ServerTimeout(
                f"expressions, patterns or policies that apply to the request took longer than {self._seconds:g} s"
            )
        self._idle.append(process)
        return result

    def _start(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-c", _STARTED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self._all.add(process)
        return process

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        self._all.discard(process)
        _end_all({process})


def _end_all(processes: "set[subprocess.Popen[bytes]]") -> None:
    for process in tuple(processes):
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe and pipe.close()


def work() -> None:
    """Do jobs from standard input until it ends: the other side."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            seconds, job = _receive(source)
        except EOFError:
            return
        # The default action of the signal ends the process wherever it is; no Python code needs to run.
        _set_alarms(seconds)
        try:
            result = job()
        except StatusError as error:
            result = error
        except Exception as error:  # noqa: BLE001  the request is answered with it
            result = StatusError(f"{type(error).__name__}: {error}")
        _set_alarms(0)
        _send(sink, result)


def _set_alarms(seconds: float) -> None:
    """End this process after so many seconds of a processor; 0: do not."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WALL * seconds)


class _Pickler(pickle.Pickler):
    """Documents hold parts that are already encoded."""

    def reducer_override(self, value: Any) -> Any:
        return (orjson.Fragment, (orjson.dumps(value),)) if isinstance(value, orjson.Fragment) else NotImplemented


def _send(sink: IO[bytes], value: Any) -> None:
    buffer = io.BytesIO()
    _Pickler(buffer).dump(value)
    sink.write(_LENGTH.pack(buffer.tell()) + buffer.getvalue())
    sink.flush()


def _receive(source: IO[bytes]) -> Any:
    (length,) = _LENGTH.unpack(_exactly(source, _LENGTH.size))
    return pickle.loads(_exactly(source, length))


def _exactly(source: IO[bytes], length: int) -> bytes:
    data = source.read(length)
    if len(data) < length:
        raise EOFError
    return data
