"""What an action does to a Job in each phase, and which phase follows.

Upstream: pkg/controllers/job/state.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from seatrial.volcano.controllers.job.status import JobSpec, JobStatus

Update = Callable[[JobSpec, JobStatus], bool]
"""Changes a status by the spec of its Job; True where the phase changed."""

RETAIN_NONE: Final[frozenset[str]] = frozenset()
RETAIN_SOFT: Final = frozenset({"Succeeded", "Failed"})
SYNC: Final = "SyncJob"
TARGETED: Final = ("RestartTask", "RestartPod", "RestartPartition")


@dataclass(frozen=True, slots=True)
class Step:
    """What is done to the pods, and how the status follows; pods in a retained phase survive a kill."""

    operation: Literal["sync", "kill", "kill-target"]
    update: Update | None
    retain: frozenset[str] = RETAIN_NONE


def next_step(phase: str, action: str) -> Step:
    """What an action means for a Job in this phase."""
    match phase:
        case "Running":
            return _live(action, _run)
        case "Restarting":
            return _restarting(action)
        case "Terminated" | "Completed" | "Failed":
            return Step("kill", None, RETAIN_SOFT)
        case "Terminating":
            return Step("kill", _once_dead("Terminated"), RETAIN_SOFT)
        case "Completing":
            return Step("kill", _once_dead("Completed"), RETAIN_SOFT)
        case "Aborting" | "Aborted" if action == "ResumeJob":
            return Step("kill", _restart, RETAIN_SOFT)
        case "Aborting":
            return Step("kill", _once_dead("Aborted"), RETAIN_SOFT)
        case "Aborted":
            return Step("kill", None, RETAIN_SOFT)
    return _live(action, _start)


def _live(action: str, sync: Update) -> Step:
    """A Job that is Pending or Running."""
    if action == "RestartJob":
        return Step("kill", _restart)
    if action in TARGETED:
        return Step("kill-target", _restart)
    phases = {"AbortJob": "Aborting", "TerminateJob": "Terminating", "CompleteJob": "Completing"}
    if action in phases:
        return Step("kill", _enter(phases[action]), RETAIN_SOFT)
    return Step("sync", sync)


def _restarting(action: str) -> Step:
    if action == SYNC:
        return Step("sync", _after_restart)
    return Step("kill-target" if action in TARGETED else "kill", _after_restart)


def _enter(phase: str) -> Update:
    def update(spec: JobSpec, status: JobStatus) -> bool:
        status.state.phase = phase
        return True

    return update


def _once_dead(phase: str) -> Update:
    def update(spec: JobSpec, status: JobStatus) -> bool:
        if status.terminating or status.pending or status.running:
            return False
        status.state.phase = phase
        return True

    return update


def _restart(spec: JobSpec, status: JobStatus) -> bool:
    status.retry_count += 1
    status.state.phase = "Restarting"
    return True


def _after_restart(spec: JobSpec, status: JobStatus) -> bool:
    if status.retry_count >= spec.max_retry:
        status.state.phase = "Failed"
        return True
    if spec.replicas - status.terminating >= status.min_available:
        status.state.phase = "Pending"
        return True
    return False


def _start(spec: JobSpec, status: JobStatus) -> bool:
    if spec.min_available <= status.running + status.succeeded + status.failed:
        status.state.phase = "Running"
        return True
    return False


def _run(spec: JobSpec, status: JobStatus) -> bool:
    replicas = spec.replicas
    if not replicas:
        return False
    least_success = spec.min_success
    if least_success is not None and status.succeeded >= least_success:
        status.state.phase = "Completed"
        return True
    if status.succeeded + status.failed == replicas:
        status.state.phase = _verdict(spec, status)
        return True
    if status.pending > replicas - spec.min_available:
        status.state.phase = "Pending"
        return True
    return False


def _verdict(spec: JobSpec, status: JobStatus) -> str:
    """Completed or Failed, once every pod has ended."""
    if spec.min_available >= sum(task.least for task in spec.tasks):
        for task in spec.tasks:
            counted = status.task_status_count.get(task.name)
            wanted = task.min_available
            if counted is not None and wanted is not None and counted.phase.get("Succeeded", 0) < wanted:
                return "Failed"
    if spec.min_success is not None and status.succeeded < spec.min_success:
        return "Failed"
    return "Completed" if status.succeeded >= spec.min_available else "Failed"
