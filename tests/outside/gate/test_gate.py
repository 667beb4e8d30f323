"""What waits at the gate in which phase, and how that is bounded."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from seatrial.outside import requests
from seatrial.outside.configuration import OutsideController
from seatrial.outside.controllers import OutsideControllers
from seatrial.outside.session import Phase, Session
from seatrial.server.auth.authentication import AUTHENTICATED
from seatrial.server.messages import Disconnected, Request
from seatrial.store.users import MASTERS, User
from tests.outside.gate.playing import no_program
from tests.server.client import Server
from tests.server.documents import MAPS, config_map

TOKEN = "Bearer outside"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
EVENTS = "/api/v1/namespaces/default/events"


class Stage:
    """A server with one outside controller whose phase is set by hand."""

    def __init__(self) -> None:
        self.gate = OutsideControllers((OutsideController("toy", user="toy"),), launch=no_program)
        self.server = Server(gates=[self.gate])
        self.server.identities.add("outside", User("toy", (MASTERS, AUTHENTICATED)))

    @property
    def session(self) -> Session:
        return self.gate.sessions["toy"]

    def send(self, method: str, path: str, body: Any = None) -> "asyncio.Future[Any]":
        return asyncio.ensure_future(self.server.send(method, path, body, authorization=TOKEN))


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def play(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


def lease(name: str) -> dict[str, Any]:
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}}


def test_leases_and_events_pass_while_everything_else_waits() -> None:
    async def story() -> None:
        stage = Stage()
        stage.session.move_to(Phase.CLOSED)
        writing, reading = stage.send("POST", MAPS, config_map("a")), stage.send("GET", MAPS)
        assert (await stage.send("POST", LEASES, lease("l"))).status == 201
        event = {"metadata": {"name": "e", "namespace": "default"}, "involvedObject": {"namespace": "default"}}
        assert (await stage.send("POST", EVENTS, event)).status == 201
        await settled()
        assert not writing.done() and not reading.done()
        stage.session.move_to(Phase.OPEN)
        assert ((await writing).status, (await reading).status) == (201, 200)

    play(story)


def test_reads_pass_and_writes_wait_while_a_program_starts() -> None:
    async def story() -> None:
        stage = Stage()
        stage.session.move_to(Phase.STARTING)
        writing = stage.send("POST", MAPS, config_map("a"))
        assert (await stage.send("GET", MAPS)).status == 200
        assert not writing.done()
        stage.session.move_to(Phase.FREE)
        assert (await writing).status == 201

    play(story)


def test_other_users_never_wait() -> None:
    async def story() -> None:
        stage = Stage()
        stage.session.move_to(Phase.CLOSED)
        assert (await stage.server.send("POST", MAPS, config_map("a"))).status == 201

    play(story)


def test_a_write_in_a_scenario_carries_the_name_of_the_controller() -> None:
    async def story() -> None:
        stage = Stage()
        writers: list[str] = []
        stage.server.store.subscribe(lambda change: writers.append(change.writer))
        await stage.send("POST", MAPS, config_map("a"))
        stage.session.move_to(Phase.OPEN)
        await stage.send("POST", MAPS, config_map("b"))
        assert writers == ["user:toy", "toy"]

    play(story)


@pytest.mark.parametrize(("limit", "value"), [("HELD_AT_MOST", 1), ("HELD_BYTES", 100)])
def test_more_than_may_wait_is_refused(limit: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, limit, value)

    async def story() -> None:
        stage = Stage()
        stage.session.move_to(Phase.CLOSED)
        first = stage.send("GET", f"{MAPS}/a")
        await settled()
        large = config_map("b") | {"data": {"text": "x" * 100}}
        answer = await stage.send("POST", MAPS, large)
        assert (answer.status, answer.header("retry-after")) == (429, "1")
        stage.session.move_to(Phase.FREE)
        assert (await first).status == 404

    play(story)


def test_a_request_waits_for_a_limited_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "HELD_FOR", 0.01)

    async def story() -> None:
        stage = Stage()
        stage.session.move_to(Phase.CLOSED)
        assert (await stage.send("POST", MAPS, config_map("a"))).status == 504
        assert not len(stage.session.waiting)

    play(story)


def test_a_client_that_goes_away_is_forgotten() -> None:
    async def story() -> None:
        stage = Stage()
        stage.session.move_to(Phase.CLOSED)
        gone = asyncio.Event()
        target = stage.server.api.find("POST", MAPS)
        assert target is not None
        user = User("toy", (MASTERS, AUTHENTICATED))
        request = Request("POST", MAPS, {}, {}, b"{}", user, gone=gone.wait)  # type: ignore[arg-type]
        waiting = asyncio.ensure_future(target(request))
        await settled()
        assert len(stage.session.waiting) == 1
        gone.set()
        await asyncio.wait([waiting])
        assert isinstance(waiting.exception(), Disconnected)
        assert not len(stage.session.waiting)

    play(story)


def test_the_events_of_a_watch_are_held_back() -> None:
    async def story() -> None:
        stage = Stage()
        async with stage.server.watch(f"{MAPS}?watch=true&resourceVersion=1", authorization=TOKEN) as watch:
            stage.session.move_to(Phase.CLOSED)
            await stage.server.send("POST", MAPS, config_map("a"))
            await settled()
            assert not stage.session.watches.is_delivered()
            stage.session.move_to(Phase.OPEN)
            assert (await watch.next())["object"]["metadata"]["name"] == "a"
        await settled()
        assert stage.session.watches.kinds == set()

    play(story)
