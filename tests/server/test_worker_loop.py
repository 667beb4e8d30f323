import asyncio
import time

import pytest

from seatrial.clock.real import RealClock
from seatrial.model.builtin import builtin_kinds
from seatrial.server.api import KubernetesApi
from seatrial.server.auth.authentication import Identities
from seatrial.server.messages import Request
from seatrial.server.metrics import Metrics
from seatrial.server.worker_loop import REST, SLICE, WorkerLoop
from seatrial.store.store import Store
from seatrial.store.users import User
from tests.known_kinds import known_kind


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


def pump(*workers: Digger) -> tuple[Store, RealClock, WorkerLoop]:
    clock = RealClock()
    store = Store(builtin_kinds(), clock)
    return store, clock, WorkerLoop(store, clock, workers)


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
        kind = known_kind(store.kinds, "v1", "Namespace")
        store.create(kind, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}, writer="test")
        await asyncio.sleep(0.05)
        task.cancel()
        assert digger.pieces == 0

    asyncio.run(story())


def test_workers_rest_while_the_store_writes_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        digger = Digger(1_000_000)
        store, _, working = pump(digger)
        writing = asyncio.Event()
        monkeypatch.setattr(store, "written", writing.wait)
        task = asyncio.ensure_future(working.run())
        await asyncio.sleep(0.02)
        left = digger.pieces
        await asyncio.sleep(0.02)
        assert digger.pieces == left < 1_000_000
        writing.set()
        while digger.pieces == left:
            await asyncio.sleep(0)
        task.cancel()

    asyncio.run(story())


def test_timers_fire_when_they_are_due() -> None:
    async def story() -> None:
        _, clock, working = pump()
        fired = asyncio.Event()
        clock.after(20_000, fired.set, outer=True)
        task = asyncio.ensure_future(working.run())
        await asyncio.wait_for(fired.wait(), 60)
        task.cancel()

    asyncio.run(story())


class Stumbler:
    """A worker that always has work and always raises."""

    name = "stumbler"
    calls = 0

    def has_work(self) -> bool:
        return True

    def work(self) -> bool:
        self.calls += 1
        raise RuntimeError("boom")


def test_a_worker_that_raises_is_told_once_and_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        stumbler, digger = Stumbler(), Digger(20)
        clock = RealClock()
        working = WorkerLoop(Store(builtin_kinds(), clock), clock, [stumbler, digger])
        began, task = time.monotonic(), working.start()
        async with asyncio.timeout(60):
            while digger.pieces or stumbler.calls < 3:
                await asyncio.sleep(0.01)
        assert working.is_alive
        assert stumbler.calls <= (time.monotonic() - began) / REST + 2
        task.cancel()

    asyncio.run(story())
    assert [record.message for record in caplog.records] == ["stumbler: RuntimeError: boom"]


def test_a_timer_that_raises_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def stumble() -> None:
        raise RuntimeError("late")

    async def story() -> None:
        digger = Digger(0)
        _, clock, working = pump(digger)
        clock.after(1_000, stumble)
        task = working.start()
        await asyncio.sleep(0.05)
        digger.pieces = 1
        working._notice(None)  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
        assert digger.pieces == 0
        task.cancel()

    asyncio.run(story())
    assert [record.message for record in caplog.records] == ["timer: RuntimeError: late"]


def test_a_server_whose_workers_have_stopped_is_not_healthy() -> None:
    async def story() -> None:
        clock = RealClock()
        store = Store(builtin_kinds(), clock)
        working = WorkerLoop(store, clock, ())
        api = KubernetesApi(store, Identities(b"key"), Metrics(), is_alive=lambda: working.is_alive)
        answers = []
        for path in ("/healthz", "/livez"):
            endpoint = api.find("GET", path)
            assert endpoint is not None
            request = Request("GET", path, {}, {}, b"", User("system:anonymous"))
            answers.append(await endpoint(request))
            task = working.start()
            answers.append(await endpoint(request))
            task.cancel()
            await asyncio.sleep(0.01)
        assert [answer.status for answer in answers] == [500, 200, 500, 200]

    asyncio.run(story())
