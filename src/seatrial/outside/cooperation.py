"""For programs that can be changed: the functions of KEP-140 over plain HTTP.

`POST /scenario/check-step-phase?name=NAME` at the end of a controller's loop returns at once, unless the phase of the
running Scenario is ControllerPaused and NAME is the running controller; then when the phase becomes
OperatingCompleted. `POST /scenario/next-pod?pod=NAMESPACE/NAME` at the top of a scheduler's loop returns when the
scheduler may try that pod. Both answer 200 to go on; 202 after a while means: ask again.

The phases are seen here as the engine enters them. A watch of the Scenario may leave some of them out.
"""

import asyncio

from seatrial.model.errors import BadRequest
from seatrial.outside.controllers import OutsideControllers
from seatrial.scenario import ScenarioStatus
from seatrial.scenario.spec import RUNNING, Phase
from seatrial.server.extension_points import RouteTable
from seatrial.server.messages import Answer, Request, json_answer

CHECK, NEXT = "/scenario/check-step-phase", "/scenario/next-pod"
LONGEST = 20.0
"""Seconds after which a request that still waits is answered with 202."""
GO_ON, WAIT = json_answer({"proceed": True}), json_answer({"proceed": False}, 202)


class Cooperation:
    """Answers both functions; a publisher of the status."""

    def __init__(self, controllers: OutsideControllers, *, longest: float = LONGEST) -> None:
        self._controllers = controllers
        self._longest = longest
        self._paused = ""
        """The controller that is paused."""
        self._resumed: dict[str, list[asyncio.Future[None]]] = {}
        self.routes = RouteTable()
        self.routes.add("POST", CHECK, self._check)
        self.routes.add("POST", NEXT, self._next_pod)

    def publish(self, status: ScenarioStatus) -> None:
        """The Scenario has entered a phase."""
        is_running = status.phase == RUNNING
        if is_running and status.step_phase is Phase.PAUSED:
            self._paused = status.running
        elif self._paused and (not is_running or status.step_phase is Phase.OPERATED):
            for future in self._resumed.pop(self._paused, ()):
                if not future.done():
                    future.set_result(None)
            self._paused = ""

    async def _check(self, request: Request) -> Answer:
        name = request.query.get("name", "")
        if not name:
            raise BadRequest("name is required: the controller that calls")
        participant = self._controllers.playing.get(name)
        if participant is not None:
            participant.loop_ended()
        if self._paused != name:
            return GO_ON
        future = asyncio.get_running_loop().create_future()
        self._resumed.setdefault(name, []).append(future)
        return await self._until(future, request)

    async def _next_pod(self, request: Request) -> Answer:
        namespace, slash, name = request.query.get("pod", "").partition("/")
        if not (namespace and slash and name):
            raise BadRequest("pod is required: NAMESPACE/NAME of the pod that is tried next")
        caller = self._controllers.name_of(request.user)
        participant = self._controllers.playing.get(caller or "")
        if participant is None:
            return GO_ON
        taking = asyncio.ensure_future(participant.take((namespace, name)))
        return await self._until(taking, request)

    async def _until(self, future: "asyncio.Future[None]", request: Request) -> Answer:
        gone = asyncio.ensure_future(request.gone()) if request.gone is not None else None
        waited: list[asyncio.Future[None]] = [future, *([gone] if gone is not None else [])]
        try:
            await asyncio.wait(waited, timeout=self._longest, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if gone is not None:
                gone.cancel()
        if future.done():
            future.result()
            return GO_ON
        future.cancel()
        return WAIT
