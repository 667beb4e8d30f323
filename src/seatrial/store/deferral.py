"""Long work that a request meets while it holds the thread that serves everybody.

Inside `short_turns` such work is not done where it is met: Deferred is raised with the work, its caller does it on
another thread and makes the request again, and this time the result is there. Elsewhere (a run on the command line)
the work is done at once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_short = ContextVar("short turns", default=False)


class Deferred(Exception):
    """Not done yet: call `work` on another thread, then try again. Nothing has been written."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__("work for another thread")
        self.work = work


@contextmanager
def short_turns() -> Iterator[None]:
    """Inside, long work is deferred."""
    token = _is_short.set(True)
    try:
        yield
    finally:
        _is_short.reset(token)


def defers() -> bool:
    """Whether long work is to be deferred here."""
    return _is_short.get()
