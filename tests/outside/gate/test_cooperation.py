"""The functions of KEP-140 over HTTP: when they block, and when they return."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from seatrial.outside.controllers import OutsideControllers
from seatrial.outside.cooperation import CHECK, NEXT, Cooperation
from seatrial.scenario.spec.dialect import FAILED, OPERATIONS, PAUSED, RUNNING, Phase
from seatrial.scenario.status import ScenarioStatus
from tests.outside.gate.playing import no_program
from tests.proofs import proves
from tests.server.client import Reply, Server

HOGE = f"{CHECK}?name=hoge-controller"


class Stage:
    """A server with both functions, and a Scenario whose phase is set by hand."""

    def __init__(self, longest: float = 10) -> None:
        self.cooperation = Cooperation(OutsideControllers((), launch=no_program), longest=longest)
        self.server = Server(routes=[self.cooperation.routes])
        self.status = ScenarioStatus(OPERATIONS, "", phase=RUNNING)

    def show(self, phase: Phase, running: str = "hoge-controller", scenario: str = RUNNING) -> None:
        self.status.step_phase, self.status.running, self.status.phase = phase, running, scenario
        self.cooperation.publish(self.status)

    def begin(self) -> "asyncio.Future[Reply]":
        return asyncio.ensure_future(self.server.send("POST", HOGE))


def play(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


@proves("V2-074")
def test_a_controller_that_is_not_paused_goes_on_at_once() -> None:
    """Not before any scenario, not while it runs, and not while another one is paused."""

    async def story() -> None:
        stage = Stage()
        assert (await stage.server.send("POST", HOGE)).status == 200
        for phase, running in ((Phase.RUNNING, "hoge-controller"), (Phase.PAUSED, "another")):
            stage.show(phase, running)
            assert (await stage.server.send("POST", HOGE)).json() == {"proceed": True}

    play(story)


@proves("V2-065", "V2-074")
def test_a_paused_controller_waits_for_operating_completed() -> None:
    """Even if ControllerRunning follows at once."""

    async def story() -> None:
        stage = Stage()
        stage.show(Phase.PAUSED)
        waiting = stage.begin()
        await asyncio.sleep(0.01)
        stage.show(Phase.PAUSED)
        await asyncio.sleep(0.01)
        assert not waiting.done()
        stage.show(Phase.OPERATED)
        stage.show(Phase.RUNNING)
        assert (await waiting).status == 200

    play(story)


def test_the_end_of_a_scenario_lets_a_paused_controller_go() -> None:
    async def story() -> None:
        for end in (FAILED, PAUSED):
            stage = Stage()
            stage.show(Phase.PAUSED)
            waiting = stage.begin()
            await asyncio.sleep(0.01)
            stage.show(Phase.FINISHED, scenario=end)
            assert (await waiting).status == 200

    play(story)


def test_a_controller_that_waits_long_is_told_to_ask_again() -> None:
    async def story() -> None:
        stage = Stage(longest=0.01)
        stage.show(Phase.PAUSED)
        answer = await stage.begin()
        assert (answer.status, answer.json()) == (202, {"proceed": False})

    play(story)


def test_a_call_without_a_name_is_refused() -> None:
    stage = Stage()
    assert stage.server("POST", CHECK).status == 400
    assert stage.server("POST", f"{NEXT}?pod=a").status == 400
    assert stage.server("POST", HOGE, authorization="").status == 401


def test_outside_a_scenario_a_scheduler_takes_pods_freely() -> None:
    assert Stage().server("POST", f"{NEXT}?pod=default/a").json() == {"proceed": True}
