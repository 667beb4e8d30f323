"""Notes in the message of a Scenario: parts of it that have no effect, and pods and jobs that wait for a reason.

Each note answers a question that the timeline leaves open because nothing happened.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from seatrial.scenario.engine.controller_set import SimulationControllers
from seatrial.scenario.engine.embedded_volcano import VOLCANO
from seatrial.scenario.engine.user_controllers import UserControllerParticipant
from seatrial.scenario.spec.kind import Controllers
from seatrial.scenario.spec.validation import canonical
from seatrial.timeline import PodHistory, scheduler_of
from seatrial.words import counted

if TYPE_CHECKING:
    from seatrial.volcano import JobWords

REPORTED_JOBS = 5
"""Waiting jobs of Volcano whose reasons the message of a scenario gives."""
REPORTED_ERRORS = 3
"""Different errors of attempts that the message of a scenario gives."""
REPORTED_PODS = 3
"""Pods without a scheduler that the message of a scenario names."""


def unserved(controllers: SimulationControllers) -> Iterator[tuple[str, str]]:
    """Controllers that were never called because a kind they watch is not served: probably a mistake."""
    for controller in (*controllers.preparing, *controllers.simulated):
        missing = controller.unserved() if isinstance(controller, UserControllerParticipant) else []
        text = f"controller {controller.name} watches {', '.join(missing)}, which is not served" if missing else ""
        yield f"unserved {controller.name}", text


def waiting_jobs(waiting: "Sequence[JobWords]") -> Iterator[tuple[str, str]]:
    """Why jobs of Volcano still wait."""
    reasons = [job.text for job in waiting[:REPORTED_JOBS]]
    more = f"; {len(waiting) - REPORTED_JOBS} more jobs wait" if len(waiting) > REPORTED_JOBS else ""
    yield VOLCANO, "; ".join(reasons) + more


def unclaimed_pods(pods: Iterable[PodHistory], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Pending pods whose schedulerName no scheduler of the run has."""
    waiting: dict[str, list[str]] = {}
    for history in pods:
        if history.is_pending and (name := scheduler_of(history.latest)) not in names:
            waiting.setdefault(name, []).append(history.key)
    parts = [f"{len(listed)} for {name} ({_few(listed)})" for name, listed in waiting.items()]
    running = f"the schedulers are {', '.join(sorted(names))}" if names else "none is enabled"
    yield "unclaimed", f"no scheduler takes these pods, {running}: {'; '.join(parts)}" if parts else ""


def errors(counts: Mapping[str, int], failing: Collection[str]) -> Iterator[tuple[str, str]]:
    """Attempts that failed with an error, and the pods that still do: those of plugins and extenders above all."""
    total = sum(counts.values())
    listed = [f"{times} × {text}" for text, times in list(counts.items())[:REPORTED_ERRORS]]
    more = f"; {counted(len(counts) - REPORTED_ERRORS, 'more error')}" if len(counts) > REPORTED_ERRORS else ""
    yield "errors", f"{counted(total, 'attempt')} failed with an error: {'; '.join(listed)}{more}" if total else ""
    rest = "rests" if len(failing) == 1 else "rest"
    rests = f"{counted(len(failing), 'pod')} {rest} after errors until something changes: {_few(list(failing))}"
    yield "resting", rests if failing else ""


def contradictions(controllers: Controllers) -> Iterator[tuple[str, str]]:
    """Controllers that one set both enables and disables: they do not run."""
    for field, chosen in (
        ("presimulationControllers", controllers.presimulation_controllers),
        ("simulationControllers", controllers.simulation_controllers),
    ):
        disabled = {canonical(each.name) for each in (chosen.disabled if chosen else None) or ()}
        for each in (chosen.enabled if chosen else None) or ():
            if canonical(each.name) in disabled:
                text = f"controller {each.name} does not run: spec.controllers.{field} enables and disables it"
                yield f"disabled {each.name}", text


def _few(names: list[str]) -> str:
    more = len(names) - REPORTED_PODS
    return ", ".join(names[:REPORTED_PODS]) + (f" and {more} more" if more > 0 else "")
