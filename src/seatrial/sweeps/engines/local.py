"""Points in processes of this machine.

A process that dies takes the whole ProcessPoolExecutor with it, so the points it had in hand run again one at a time:
only the point that kills its process fails.
"""

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import connection, get_context, parent_process

from seatrial.sweeps.bundle import Bundle
from seatrial.sweeps.points import Point
from seatrial.sweeps.worker import FAILED, Outcome, Worker

IN_HAND = 2
"""Points for each process, so that none waits for the next."""
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""The environment of the processes: there is one for each CPU, and threads of theirs would only take turns."""
_worker: Worker | None = None


def usable_cpus() -> int:
    """How many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LocalEngine:
    """A pool of processes."""

    def __init__(self, bundle: Bundle, processes: int) -> None:
        self._bundle, self._processes = bundle, processes
        self._pool: ProcessPoolExecutor | None = None

    def outcomes(self, points: Iterable[Point]) -> Iterator[Outcome]:
        waiting = iter(points)
        running: dict[Future[Outcome], Point] = {}
        while True:
            lost: list[Point] = []
            for point in islice(waiting, IN_HAND * self._processes - len(running)):
                try:
                    running[self._started().submit(_run, point)] = point
                except BrokenProcessPool:
                    lost.append(point)
                    break
            if not running and not lost:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                point, error = running.pop(future), future.exception()
                if isinstance(error, BrokenProcessPool):
                    lost.append(point)
                else:
                    yield _outcome(point, future)
            if lost:
                lost += [running.pop(future) for future in list(running)]
                self.close()
                for point in sorted(lost, key=lambda each: each.number):
                    yield self._alone(point)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = self._new(self._processes)
        return self._pool

    def _alone(self, point: Point) -> Outcome:
        with self._new(1) as pool:
            return _outcome(point, pool.submit(_run, point))

    def _new(self, processes: int) -> ProcessPoolExecutor:
        # Libraries read these when they are imported, which is before the initializer runs.
        os.environ.update({name: os.environ.get(name, value) for name, value in ONE_THREAD.items()})
        # Spawned, not forked: polars has threads, and a fork may copy a lock that one of them holds.
        context = get_context("spawn")
        return ProcessPoolExecutor(processes, mp_context=context, initializer=_start, initargs=(self._bundle,))


def _outcome(point: Point, future: Future[Outcome]) -> Outcome:
    """The outcome of a future; an error that is not one of the input is named with its type."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, BrokenProcessPool):
        return Outcome(point.number, FAILED, "its process ended before the run did (out of memory?)")
    return Outcome(point.number, FAILED, f"{type(error).__name__}: {error}")


def _start(bundle: Bundle) -> None:
    """Prepare a process of the pool. Ctrl-C is for the parent, and no process outlives it."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = Worker(bundle)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        if _worker is not None:
            _worker.close()
        os._exit(1)


def _run(point: Point) -> Outcome:
    assert _worker is not None
    return _worker.run(point)
