"""Ctrl-C and SIGTERM: a run ends between two loops, where everything is whole, or out of code that does not return."""

import os
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 2.0
"""Seconds that running code has to come back after the first signal."""
INSISTENCE = 3
"""How often code that catches the interruption is interrupted before the process ends at once."""


class Interrupted(BaseException):
    """Raised inside code that did not come back; no `except Exception` stops it. Its text names the position."""


@contextmanager
def interruption() -> Iterator[list[int]]:
    """The signals caught so far. One is enough: what does not come back within PATIENCE is interrupted."""
    caught: list[int] = []
    tried = 0

    def notice(number: int, _: FrameType | None) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE, PATIENCE)

    def insist(_: int, frame: FrameType | None) -> None:
        nonlocal tried
        tried += 1
        if tried > INSISTENCE:
            os._exit(1)
        raise Interrupted(_place(frame))

    watched = {signal.SIGINT: notice, signal.SIGTERM: notice, signal.SIGALRM: insist}
    before = {number: signal.signal(number, handler) for number, handler in watched.items()}
    try:
        yield caught
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _place(frame: FrameType | None) -> str:
    """File, line and function of a frame."""
    if frame is None:
        return "code that did not return"
    at = traceback.extract_stack(frame, 1)[0]
    return f"{at.name} ({os.path.basename(at.filename)}, line {at.lineno}), which did not return"  # noqa: PTH119
