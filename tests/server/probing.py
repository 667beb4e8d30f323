"""Asks a server for /readyz all the time, and tells a stall of the server from a machine that is busy elsewhere.

The kernel counts for each thread how long it was ready to run and had no processor (schedstat). That part of a wait is
the machine's; the rest is the server's: work, locks, blocking calls. On an idle machine there is nothing to subtract.
"""

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

NANO = 1e-9


def run_delay(path: Path) -> float:
    """Seconds that the threads under a /proc/…/task folder have waited for a processor; 0 where it is not counted."""
    total = 0
    for thread in path.glob("*/schedstat"):
        try:
            total += int(thread.read_text().split()[1])
        except (OSError, IndexError):
            # The thread has ended meanwhile.
            continue
    return total * NANO


def run_time(path: Path) -> float:
    """Seconds of a processor that a thread has taken; 0 where it is not counted."""
    try:
        return int((path / "schedstat").read_text().split()[0]) * NANO
    except (OSError, IndexError):
        return 0.0


def seconds_to_end(process: "subprocess.Popen[str]") -> float:
    """Wait for the end of a process; how long it took, without what its threads waited for a processor meanwhile."""
    threads, start = Path(f"/proc/{process.pid}/task"), time.monotonic()
    first = latest = run_delay(threads)
    while process.poll() is None:
        assert time.monotonic() - start < 120, "the process does not end"
        latest = max(latest, run_delay(threads))
        time.sleep(0.02)
    return time.monotonic() - start - (latest - first)


class Probe:
    """Keeps asking and remembers the longest wait, whole and without what the machine is to blame for.

    On a busy machine all threads wait for a processor, and more is subtracted than the loop waited: what the loop's
    thread has computed meanwhile counts in any case.
    """

    def __init__(self, process: int, ask: Callable[[], int], close: Callable[[], None]) -> None:
        self.longest = self.longest_wall = 0.0
        self.asked = 0
        self._server, self._ask, self._close = Path(f"/proc/{process}/task"), ask, close
        self._failure: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        own, loop = Path("/proc/self/task"), self._server / self._server.parent.name
        try:
            while not self._stop.wait(0.02):
                before, computed = run_delay(self._server) + run_delay(own), run_time(loop)
                start = time.perf_counter()
                status = self._ask()
                wall = time.perf_counter() - start
                delayed = run_delay(self._server) + run_delay(own) - before
                self.longest_wall = max(self.longest_wall, wall)
                self.longest = max(self.longest, wall - delayed, run_time(loop) - computed)
                self.asked += 1
                assert status == 200, status
        except BaseException as error:  # noqa: BLE001  `end` raises it
            self._failure = error

    def end(self) -> tuple[float, float]:
        """Stop asking; the longest wait that the server is to blame for, and the longest at all."""
        self._stop.set()
        self._thread.join(150)
        self._close()
        if self._failure is not None:
            raise self._failure
        return self.longest, self.longest_wall
