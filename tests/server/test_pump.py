import asyncio
import time

from seatrial.clock.real import RealClock
from seatrial.model.builtin import builtin_kinds
from seatrial.server.pump import SLICE, Pump
from seatrial.store.store import Store


class Digger:
    """A worker with so many pieces of work, each of a millisecond."""

    def __init__(self, pieces: int) -> None:
        self.pieces = pieces

    def has_work(self) -> bool:
        return self.pieces > 0

    def work(self) -> bool:
        self.pieces -= 1
        time.sleep(0.001)
        return True


def pump(*workers: Digger) -> tuple[Store, RealClock, Pump]:
    clock = RealClock()
    store = Store(builtin_kinds(), clock)
    return store, clock, Pump(store, clock, workers)


def test_others_get_their_turn_while_workers_are_busy() -> None:
    async def story() -> None:
        digger = Digger(200)
        _, _, working = pump(digger)
        task = asyncio.ensure_future(working.run())
        turns = 0
        while digger.pieces:
            await asyncio.sleep(0)
            turns += 1
        task.cancel()
        assert turns >= 200 * 0.001 / SLICE / 2

    asyncio.run(story())


def test_a_write_wakes_the_workers() -> None:
    async def story() -> None:
        digger = Digger(0)
        store, _, working = pump(digger)
        task = asyncio.ensure_future(working.run())
        await asyncio.sleep(0.02)
        digger.pieces = 1
        kind = store.kinds.named("v1", "Namespace")
        store.create(kind, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}, writer="test")
        await asyncio.sleep(0.05)
        task.cancel()
        assert digger.pieces == 0

    asyncio.run(story())


def test_timers_fire_when_they_are_due() -> None:
    async def story() -> None:
        _, clock, working = pump()
        fired = asyncio.Event()
        clock.after(20_000, fired.set, outer=True)
        task = asyncio.ensure_future(working.run())
        await asyncio.wait_for(fired.wait(), 3)
        task.cancel()

    asyncio.run(story())
