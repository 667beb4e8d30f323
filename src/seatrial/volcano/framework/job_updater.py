"""The end of a session: phases and counts of PodGroups, what queues hold, events and nominations.

Upstream: pkg/scheduler/framework/job_updater.go, session.go (closeSession), cache/cache.go (RecordJobStatusEvent).
"""

from dataclasses import dataclass, field

from seatrial.model.documents import Document
from seatrial.model.quantity import BINARY_SI, Quantity
from seatrial.volcano.cache.fit_errors import UNAVAILABLE
from seatrial.volcano.cache.job_info import COMPLETED, INQUEUE, PENDING, RUNNING, UNKNOWN, JobInfo
from seatrial.volcano.cache.queue_info import ROOT
from seatrial.volcano.cache.resource import PODS, Resource
from seatrial.volcano.cache.task_info import ALLOCATED_STATUSES, TERMINATED_STATUSES, TaskInfo, TaskStatus
from seatrial.volcano.framework.events import NORMAL, WARNING, SessionEvent
from seatrial.volcano.framework.messages import POD_GROUP_READY, fit_error, scheduling_reason
from seatrial.volcano.framework.session import Session

FAILED_SCHEDULING = "FailedScheduling"
_UNBOUND = (TaskStatus.ALLOCATED, TaskStatus.PENDING, TaskStatus.PIPELINED)


@dataclass(frozen=True, slots=True)
class PodUpdate:
    """What is written to a pod that was not bound: the PodScheduled condition and its nomination."""

    task: TaskInfo
    reason: str
    message: str
    nominated_node: str

    @property
    def nomination(self) -> str:
        """The nomination that the pod has once this is written: allocate takes one away that does not hold."""
        return self.nominated_node or self.task.nominated_node

    @property
    def changes_pod(self) -> bool:
        """Whether the pod does not say so already."""
        if self.nomination != self.task.nominated_node:
            return True
        return self.task.pod_scheduled != ("False", self.reason, self.message)


@dataclass(slots=True)
class SessionResult:
    """What a finished session leaves to be written."""

    binds: list[TaskInfo]
    evictions: list[tuple[TaskInfo, str]]
    events: list[SessionEvent]
    pods: list[PodUpdate] = field(default_factory=list)
    statuses: dict[str, Document] = field(default_factory=dict)
    """The status of every PodGroup, by job uid."""
    changed: set[str] = field(default_factory=set)
    """Jobs whose PodGroup status differs from what it was, times aside."""
    moved: bool = False
    """Whether a PodGroup has come to another phase."""
    queues: dict[str, dict[str, str]] = field(default_factory=dict)
    """What each queue holds."""


def close_session(session: Session) -> SessionResult:
    """Lets plugins finish, and works out what is to be written."""
    for name, plugin in session.plugins.items():
        with session.measures.timed("plugin_scheduling_latency_milliseconds", name, "OnSessionClose"):
            plugin.on_session_close()
    result = SessionResult(session.binds, session.evictions, session.events)
    for uid, job in session.jobs.items():
        before = job.pod_group.document.get("status") or {}
        status = _status(session, job)
        result.statuses[uid] = status
        if _differs(before, status):
            result.changed.add(uid)
        result.moved |= (before.get("phase") or "") != status["phase"]
        _record(session, job, uid in result.changed, result)
    result.queues = _queue_allocations(session)
    return result


def _status(session: Session, job: JobInfo) -> Document:
    group = job.pod_group
    unschedulable = any(
        condition.get("type") == "Unschedulable"
        and condition.get("status") == "True"
        and condition.get("transitionID") == session.uid
        for condition in group.conditions
    )
    group.phase = _phase(job, unschedulable, session.conf.version.rules.counts_releasing_tasks)
    counts = {
        "running": len(job.index.of(TaskStatus.RUNNING)),
        "succeeded": len(job.index.of(TaskStatus.SUCCEEDED)),
        "failed": len(job.index.of(TaskStatus.FAILED)),
    }
    group.counts = {name: count for name, count in counts.items() if count}
    status: Document = {"phase": group.phase, **group.counts}
    if group.conditions:
        status["conditions"] = group.conditions
    return status


def _phase(job: JobInfo, unschedulable: bool, with_releasing: bool) -> str:
    if job.index.of(TaskStatus.RUNNING) and unschedulable:
        return UNKNOWN
    scheduled = job.scheduled_tasks + (job.releasing_scheduled_tasks if with_releasing else 0)
    if scheduled >= job.pod_group.min_member:
        return COMPLETED if scheduled == job.index.count(TERMINATED_STATUSES) else RUNNING
    return job.pod_group.phase if job.pod_group.phase == INQUEUE else PENDING


def _record(session: Session, job: JobInfo, changed: bool, result: SessionResult) -> None:
    """Events about the job, and the PodScheduled conditions of its unbound pods."""
    is_waiting = job.pod_group.phase in (UNKNOWN, PENDING, INQUEUE)
    is_read = (is_waiting and session.options.events) or any(job.index.of(status) for status in _UNBOUND)
    text = fit_error(job) if is_read else ""
    if is_waiting and session.options.events:
        pending = len(job.index.of(TaskStatus.PENDING))
        session.record(job, WARNING, "Unschedulable", f"{pending}/{len(job.index)} tasks in gang unschedulable: {text}")
    elif changed:
        session.record(job, NORMAL, "Scheduled", POD_GROUP_READY)
    for status in _UNBOUND:
        for task in job.index.listed(status):
            if task.sch_gated:
                continue
            reason, message, nominated = scheduling_reason(job, task)
            update = PodUpdate(task, reason, message or text or UNAVAILABLE, nominated)
            if update.changes_pod:
                result.pods.append(update)
                if session.options.events:
                    result.events.append(SessionEvent("Pod", task.key, WARNING, FAILED_SCHEDULING, update.message))


def _queue_allocations(session: Session) -> dict[str, dict[str, str]]:
    """What each queue holds, with what the queues below it hold where there is a root queue."""
    held = {name: Resource() for name in session.queues}
    has_root = ROOT in session.queues
    for job in session.jobs.values():
        own = Resource()
        for status in ALLOCATED_STATUSES:
            for task in job.index.of(status).values():
                own.add(_held(session, task))
        held[job.queue].add(own)
        for name in _above(session, job.queue) if has_root else ():
            held[name].add(own)
    return {name: resource_list(amount) for name, amount in held.items()}


def _held(session: Session, task: TaskInfo) -> Resource:
    """What a task counts for; of devices, what its pod was given."""
    node = session.nodes.get(task.node_name)
    if node is None or node.devices is None or not node.devices.asks(task.pod):
        return task.resreq
    held = task.resreq.clone()
    for name, amount in node.devices.held_by(task.pod).items():
        held.set_scalar(name, amount)
    return held


def _above(session: Session, name: str) -> list[str]:
    """The queues above a queue, up to the root; of a circle of queues, each one once."""
    found: list[str] = []
    while name != ROOT or not found:
        name = session.queues[name].parent or ROOT
        if name in found:
            break
        found.append(name)
    return found


def resource_list(amount: Resource) -> dict[str, str]:
    """An amount as a resource list."""
    listed = {"cpu": str(Quantity.milli(int(amount.cpu))), "memory": str(Quantity(int(amount.memory), 0, BINARY_SI))}
    for name, value in (amount.scalars or {}).items():
        listed[name] = str(Quantity(int(value)) if name == PODS else Quantity.milli(int(value)))
    return listed


def _differs(before: Document, status: Document) -> bool:
    """Whether two statuses differ, times aside."""
    if (before.get("phase") or "") != status["phase"]:
        return True
    if any((before.get(name) or 0) != (status.get(name) or 0) for name in ("running", "succeeded", "failed")):
        return True
    old, new = before.get("conditions") or (), status.get("conditions") or ()
    return len(old) != len(new) or any(map(_is_other, old, new))


def _is_other(old: Document, new: Document) -> bool:
    """Whether two conditions differ, times aside."""
    if old is new:
        return False
    names = old.keys() | new.keys()
    return any(old.get(name) != new.get(name) for name in names if name not in ("lastTransitionTime", "transitionID"))
