"""Real time: timers come due by themselves, in one order, and time never goes back."""

import asyncio

from seatrial.clock.real import RealClock
from seatrial.model.times import MILLISECOND, SECOND


class Watch:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.nanoseconds = 0

    def __call__(self) -> int:
        return self.nanoseconds


def test_time_passes_with_the_monotonic_clock() -> None:
    watch = Watch()
    clock = RealClock(start=100 * SECOND, monotonic=watch)
    watch.nanoseconds = 1_500_000_000
    assert clock.now() == 101 * SECOND + 500 * MILLISECOND


def test_due_timers_are_called_in_the_order_of_time_then_priority() -> None:
    watch = Watch()
    calls: list[str] = []
    clock = RealClock(start=0, monotonic=watch)
    clock.at(2 * SECOND, lambda: calls.append("late"))
    clock.at(1 * SECOND, lambda: calls.append("second"), priority=1)
    clock.at(1 * SECOND, lambda: calls.append("first"), outer=True)
    clock.at(9 * SECOND, lambda: calls.append("not yet"))
    watch.nanoseconds = 3_000_000_000
    assert clock.fire_due() == 3
    assert calls == ["first", "second", "late"]


def test_a_cancelled_timer_is_not_called() -> None:
    clock = RealClock(start=0, monotonic=Watch())
    calls: list[str] = []
    clock.at(0, lambda: calls.append("rang")).cancel()
    assert clock.fire_due() == 0
    assert calls == []


def test_the_pump_wakes_for_a_timer_that_is_set_while_it_sleeps() -> None:
    async def play() -> list[str]:
        clock = RealClock()
        calls: list[str] = []
        pump = asyncio.create_task(clock.run())
        await asyncio.sleep(0.01)
        done = asyncio.Event()

        def ring() -> None:
            calls.append("rang")
            done.set()

        clock.after(5 * MILLISECOND, ring)
        await asyncio.wait_for(done.wait(), 5)
        pump.cancel()
        return calls

    assert asyncio.run(play()) == ["rang"]


def test_many_due_timers_let_others_have_a_turn() -> None:
    watch = Watch()
    clock = RealClock(start=SECOND, monotonic=watch)
    for _ in range(100):
        clock.at(SECOND, lambda: None)
    assert clock.fire_due(most=10) == 10
