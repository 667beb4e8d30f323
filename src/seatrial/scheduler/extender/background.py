"""Work on threads of its own, for calls that must not hold up the thread they are made from."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from seatrial.scheduler.framework.status import Status

Answer = Status | None


class Threads:
    """A few threads; implements `binding_cycle.Background`."""

    def __init__(self, number: int = 4) -> None:
        self._pool = ThreadPoolExecutor(number, thread_name_prefix="extender")

    def __call__(self, work: Callable[[], Answer], done: Callable[[Answer], None]) -> None:
        self._pool.submit(lambda: done(work()))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
