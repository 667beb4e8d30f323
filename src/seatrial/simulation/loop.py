"""The one loop that runs a scenario in this process: progress, deadline and interruption after every turn."""

import math
import time
from collections.abc import Callable, Iterator, Sequence

from seatrial.scenario import ScenarioRun
from seatrial.simulation.interruption import Interrupted, interruption

Tick = Callable[[ScenarioRun], object]
"""Called after every loop of a run."""


def no_tick(run: ScenarioRun) -> None:
    """Shows no progress."""


def loops(
    run: ScenarioRun, tick: Tick = no_tick, deadline: float = 0, interrupted: Sequence[int] = ()
) -> Iterator[None]:
    """Run to the end, and yield after every loop.

    The run ends as Failed after `deadline` seconds (0: never), and when a signal was added to `interrupted`.
    """
    end = time.monotonic() + deadline if deadline else math.inf
    for _ in run.run():
        tick(run)
        if interrupted:
            break
        if time.monotonic() > end:
            run.fail(f"not finished within {deadline} s")
            return
        yield
    if interrupted:
        run.fail(f"interrupted {_place(run)}; the result is partial")


def run_interruptibly(run: ScenarioRun, tick: Tick, deadline: float = 0) -> None:
    """Run until the end, Ctrl-C or SIGTERM; code that does not return after a signal is abandoned."""
    with interruption() as interrupted:
        try:
            for _ in loops(run, tick, deadline, interrupted):
                pass
        except Interrupted as error:
            run.fail(f"interrupted {_place(run)} in {error}; the result is partial")


def _place(run: ScenarioRun) -> str:
    return "before the first step" if run.status.major is None else f"in step {run.status.major}"
