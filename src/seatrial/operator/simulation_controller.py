"""The controller of SchedulerSimulations: the seven steps of KEP-184, each decided from what the cluster shows.

Nothing is remembered between two reconciliations, so the operator may be killed anywhere. The one fact that would get
lost is how the scenario-runner ended, since the Simulator with its Pod is deleted (step 6) before the phase is set
(step 7): it is kept as the condition RunnerFinished.
"""

import logging
from collections.abc import Callable

from seatrial.model.documents import Document
from seatrial.model.times import to_time
from seatrial.operator.api_client import PODS, SIMULATIONS, SIMULATORS, ApiClient, ApiError
from seatrial.operator.kinds import COMPLETED, FAILED
from seatrial.operator.outcome import SUCCEEDED, Deadlines, Outcome, next_deadline, outcome_of, persistence_warning
from seatrial.operator.pods import is_owned, simulator_for
from seatrial.operator.work_queue import BLOCKED, RETRY

FINISHED = "RunnerFinished"
log = logging.getLogger(__name__)


class SimulationController:
    """Brings a SchedulerSimulation one or more steps on its way."""

    def __init__(self, api: ApiClient, now: Callable[[], int], image: str, deadlines: Deadlines) -> None:
        self._api = api
        self._now = now
        self._image = image
        self._deadlines = deadlines

    async def reconcile(self, namespace: str, name: str) -> float | None:
        """Do what can be done now; seconds until the next look, None where an event will ask for it."""
        simulation = await self._api.get(SIMULATIONS, namespace, name)
        if simulation is None or "deletionTimestamp" in simulation["metadata"]:
            return None
        status = simulation.get("status") or {}
        if status.get("phase"):
            await self._remove(await self._simulator(simulation))
            return None
        if not status.get("startTime"):
            simulation = await self._patch(simulation, {"startTime": to_time(self._now())})
        outcome = recorded_outcome(simulation)
        simulator = await self._simulator(simulation)
        if outcome is None:
            return await self._follow(simulation, simulator)
        if simulator is not None:
            await self._remove(simulator)
            return RETRY
        await self._finish(simulation, outcome)
        return None

    async def _follow(self, simulation: Document, simulator: Document | None) -> float | None:
        """Steps 1 to 5: create the Simulator, and wait for the end of the scenario-runner."""
        if simulator is None:
            return await self._create(simulation)
        pod = await self._api.get(PODS, simulator["metadata"]["namespace"], simulator["metadata"]["name"])
        if pod is not None and not is_owned(pod, simulator):
            pod = None
        outcome = outcome_of(simulation, simulator, pod, self._deadlines, self._now())
        if outcome is None:
            return next_deadline(simulation, simulator, self._deadlines, self._now())
        await self._patch(simulation, {"conditions": [self._condition(outcome)]})
        await self._remove(simulator)
        return RETRY

    async def _create(self, simulation: Document) -> float | None:
        """Step 1, unless another object has the name or the deadline has passed before."""
        late = outcome_of(simulation, None, None, self._deadlines, self._now())
        if late is not None:
            await self._patch(simulation, {"conditions": [self._condition(late)]})
            return RETRY
        warning = persistence_warning(simulation["spec"])
        if warning:
            await self._api.record(simulation, "ResultNotPersistent", warning, self._time(), warning=True)
        try:
            made = await self._api.create(SIMULATORS, simulator_for(simulation, self._image))
        except ApiError as error:
            if error.code not in (403, 422):
                raise
            return await self._wait(simulation, f"the Simulator cannot be created: {error}")
        if made is None:
            name = simulation["metadata"]["name"]
            return await self._wait(simulation, f"a Simulator {name} exists that this SchedulerSimulation does not own")
        if (simulation.get("status") or {}).get("message"):
            await self._patch(simulation, {"message": None})
        log.info("%s: created the Simulator", _name(simulation))
        await self._api.record(simulation, "SimulatorCreated", "created the Simulator", self._time())
        return None

    async def _wait(self, simulation: Document, why: str) -> float:
        """Say what has to change before the Simulator can be created; seconds until the next attempt."""
        message = f"waiting: {why}"
        if (simulation.get("status") or {}).get("message") != message:
            log.warning("%s: %s", _name(simulation), message)
            await self._patch(simulation, {"message": message})
        left = next_deadline(simulation, None, self._deadlines, self._now())
        return BLOCKED if left is None else min(BLOCKED, left)

    async def _finish(self, simulation: Document, outcome: Outcome) -> None:
        """Step 7."""
        message = "; ".join(filter(None, (outcome.message, persistence_warning(simulation["spec"]))))
        if outcome.reason == SUCCEEDED:
            change = {"phase": COMPLETED, "completionTime": self._time(), "message": message}
        else:
            change = {"phase": FAILED, "message": outcome.message}
        failed = outcome.reason != SUCCEEDED
        # The event first: after the phase is set nothing more is done.
        await self._api.record(simulation, str(change["phase"]), outcome.message, self._time(), warning=failed)
        await self._patch(simulation, change)
        log.info("%s: %s: %s", _name(simulation), change["phase"], message)

    async def _simulator(self, simulation: Document) -> Document | None:
        """The Simulator that this SchedulerSimulation owns."""
        metadata = simulation["metadata"]
        found = await self._api.get(SIMULATORS, metadata["namespace"], metadata["name"])
        return found if found is not None and is_owned(found, simulation) else None

    async def _remove(self, simulator: Document | None) -> None:
        """Step 6; what the Simulator owns goes with it."""
        if simulator is not None and "deletionTimestamp" not in simulator["metadata"]:
            await self._api.delete(SIMULATORS, simulator)

    async def _patch(self, simulation: Document, status: Document) -> Document:
        return await self._api.patch(SIMULATIONS, simulation, {"status": status}, "status")

    def _condition(self, outcome: Outcome) -> Document:
        return {
            "type": FINISHED,
            "status": "True",
            "reason": outcome.reason,
            "message": outcome.message,
            "lastTransitionTime": self._time(),
        }

    def _time(self) -> str:
        return to_time(self._now())


def _name(document: Document) -> str:
    metadata = document["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}"


def recorded_outcome(simulation: Document) -> Outcome | None:
    """How the simulation ended, where that is known already."""
    for condition in (simulation.get("status") or {}).get("conditions") or ():
        if condition["type"] == FINISHED and condition["status"] == "True":
            return Outcome(condition["reason"], condition.get("message") or "")
    return None
