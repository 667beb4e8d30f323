"""What became of a SchedulerSimulation, worked out from its Simulator and Pod alone.

KEP-184 names success only. A simulation fails where the scenario-runner or the simulator ends with an error, where the
Pod fails, where the simulator is not Available in time, and where a deadline has passed.
"""

from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.model.times import SECOND, parse_time
from seatrial.operator.kinds import AVAILABLE
from seatrial.operator.pods import MOUNT, RUNNER, SIMULATOR

SUCCEEDED = "Succeeded"
RUNNER_FAILED, SIMULATOR_ENDED, POD_FAILED = "ScenarioRunnerFailed", "SimulatorEnded", "PodFailed"
NOT_AVAILABLE, DEADLINE = "SimulatorNotAvailable", "DeadlineExceeded"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a simulation ended."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long a simulation may take, in seconds; 0 is no limit."""

    available: int = 300
    active: int = 0


def outcome_of(
    simulation: Document, simulator: Document | None, pod: Document | None, deadlines: Deadlines, now: int
) -> Outcome | None:
    """How the simulation ended; None while it goes on."""
    return _of_containers(simulation, pod) or _of_deadlines(simulation, simulator, deadlines, now)


def next_deadline(simulation: Document, simulator: Document | None, deadlines: Deadlines, now: int) -> float | None:
    """Seconds until the next deadline; None without a deadline."""
    left = [
        (due - now) / SECOND
        for due in (_active_until(simulation, deadlines), _available_until(simulator, deadlines))
        if due is not None
    ]
    return max(min(left), 0.0) if left else None


def persistence_warning(spec: Document) -> str:
    """A sentence where the result is not kept, else the empty text."""
    path = spec["scenarioResultFilePath"]
    mounts = [MOUNT] if spec.get("volume") else []
    template = spec["simulatorSpec"].get("podTemplate") or {}
    for container in (template.get("spec") or {}).get("containers") or ():
        if container["name"] == RUNNER:
            mounts += [mount["mountPath"].rstrip("/") for mount in container.get("volumeMounts") or ()]
    if any(path.startswith(f"{mount}/") for mount in mounts):
        return ""
    return f"scenarioResultFilePath {path} is outside {MOUNT}: the result is lost with the Pod"


def _of_containers(simulation: Document, pod: Document | None) -> Outcome | None:
    if pod is None:
        return None
    status = pod.get("status") or {}
    ended = {each["name"]: (each.get("state") or {}).get("terminated") for each in status.get("containerStatuses", ())}
    if (runner := ended.get(RUNNER)) is not None:
        if runner["exitCode"] == 0:
            return Outcome(SUCCEEDED, f"the result is in {simulation['spec']['scenarioResultFilePath']}")
        return Outcome(RUNNER_FAILED, _ended(RUNNER, runner))
    if (simulator := ended.get(SIMULATOR)) is not None:
        return Outcome(SIMULATOR_ENDED, _ended(SIMULATOR, simulator))
    if status.get("phase") == "Failed":
        why = ": ".join(filter(None, (status.get("reason"), status.get("message"))))
        return Outcome(POD_FAILED, f"the Pod {pod['metadata']['name']} failed" + (f": {why}" if why else ""))
    return None


def _ended(container: str, state: Document) -> str:
    """One sentence about a container that ended, with the last line that it wrote."""
    reason = state.get("reason") or ""
    kind = f" ({reason})" if reason not in ("", "Error", "Completed") else ""
    lines = [line for line in (state.get("message") or "").splitlines() if line.strip()]
    last = f": {lines[-1].removeprefix('seatrial: ')}" if lines else ""
    return f"container {container} ended with exit code {state['exitCode']}{kind}{last}"


def _of_deadlines(simulation: Document, simulator: Document | None, deadlines: Deadlines, now: int) -> Outcome | None:
    active = _active_until(simulation, deadlines)
    if active is not None and now >= active:
        return Outcome(DEADLINE, f"not finished within {_active_seconds(simulation, deadlines)} s")
    available = _available_until(simulator, deadlines)
    if simulator is not None and available is not None and now >= available:
        why = (simulator.get("status") or {}).get("message")
        name = simulator["metadata"]["name"]
        said = f"the Simulator {name} was not Available within {deadlines.available} s"
        return Outcome(NOT_AVAILABLE, said + (f": {why}" if why else ""))
    return None


def _active_seconds(simulation: Document, deadlines: Deadlines) -> int:
    return int(simulation["spec"].get("activeDeadlineSeconds") or deadlines.active)


def _active_until(simulation: Document, deadlines: Deadlines) -> int | None:
    seconds, started = _active_seconds(simulation, deadlines), (simulation.get("status") or {}).get("startTime")
    return parse_time(started) + seconds * SECOND if seconds and started else None


def _available_until(simulator: Document | None, deadlines: Deadlines) -> int | None:
    if simulator is None or not deadlines.available or (simulator.get("status") or {}).get("phase") == AVAILABLE:
        return None
    return parse_time(simulator["metadata"]["creationTimestamp"]) + deadlines.available * SECOND
