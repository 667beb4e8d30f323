"""A job: a PodGroup with its tasks, and whether its gang is complete. Upstream: pkg/scheduler/api/job_info.go."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.times import parse_time
from seatrial.volcano.apis.labels import JDB_MAX_UNAVAILABLE, JDB_MIN_AVAILABLE, PREEMPTABLE, REVOCABLE_ZONE
from seatrial.volcano.cache.fit_errors import FitErrors
from seatrial.volcano.cache.resource import Resource, exceeded_part, shared_resource
from seatrial.volcano.cache.sub_job_info import NetworkTopology, SubJobInfo, match_values
from seatrial.volcano.cache.task_index import TaskIndex
from seatrial.volcano.cache.task_info import (
    ALLOCATED_STATUSES,
    READY_STATUSES,
    SCHEDULED_STATUSES,
    TaskInfo,
    TaskStatus,
    parse_bool,
)

PENDING, INQUEUE, RUNNING, UNKNOWN, COMPLETED = "Pending", "Inqueue", "Running", "Unknown", "Completed"
WAITING_TIMES = ("volcano.sh/sla-waiting-time", "sla-waiting-time")
BUDGETS = (JDB_MIN_AVAILABLE, JDB_MAX_UNAVAILABLE)
_HELD = READY_STATUSES | {TaskStatus.PIPELINED}
_VALID = _HELD | {TaskStatus.PENDING}


@dataclass(slots=True)
class PodGroup:
    """The PodGroup of a job: what the scheduler reads of it, and the status it writes."""

    document: Document
    phase: str
    conditions: list[Document]
    counts: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, document: Document) -> "PodGroup":
        status = document.get("status") or {}
        counts = {name: status[name] for name in ("running", "succeeded", "failed") if status.get(name)}
        return cls(document, status.get("phase") or "", list(status.get("conditions") or ()), counts)

    @property
    def metadata(self) -> Document:
        metadata: Document = self.document["metadata"]
        return metadata

    @property
    def spec(self) -> Document:
        return self.document.get("spec") or {}

    @property
    def annotations(self) -> Document:
        return self.metadata.get("annotations") or {}

    @property
    def min_member(self) -> int:
        return int(self.spec.get("minMember") or 0)

    @property
    def min_resources(self) -> Document | None:
        resources: Document | None = self.spec.get("minResources")
        return resources

    def set_condition(self, condition: Document) -> None:
        """Replaces the condition of the same type, or adds it."""
        for place, present in enumerate(self.conditions):
            if present.get("type") == condition["type"]:
                self.conditions[place] = condition
                return
        self.conditions.append(condition)


class JobInfo:
    """A job as the session sees it."""

    def __init__(self, pod_group: PodGroup, priority: int = 0) -> None:
        metadata, spec = pod_group.metadata, pod_group.spec
        self.pod_group = pod_group
        self.name: str = metadata["name"]
        self.namespace: str = metadata.get("namespace") or "default"
        self.uid = f"{self.namespace}/{self.name}"
        self.queue: str = spec.get("queue") or ""
        self.priority = priority
        self.min_available = pod_group.min_member
        created = metadata.get("creationTimestamp")
        self.created = parse_time(created) if created else 0
        self.task_min_available: dict[str, int] = dict(spec.get("minTaskMember") or {})
        self.task_min_total = sum(self.task_min_available.values())
        self.allocated = Resource()
        self.index = TaskIndex()
        self._moves = 0
        """How often a task has changed its status in the session."""
        self.job_fit_errors = ""
        self.nodes_fit_errors: dict[str, FitErrors] = {}
        self._failed_roles: dict[str, set[str]] = {}
        self.network_topology = NetworkTopology.read(spec.get("networkTopology"))
        self.allocated_hyper_node = ""
        self.sub_jobs: dict[str, SubJobInfo] = {}
        self.sub_job_of: dict[str, str] = {}
        self.min_sub_jobs: dict[str, int] = {
            f"{self.uid}/{policy.get('name', '')}": int(policy.get("minSubGroups") or 0) for policy in self.policies
        }

    @cached_property
    def policies(self) -> list[Document]:
        return self.pod_group.spec.get("subGroupPolicy") or []

    @cached_property
    def min_resources(self) -> Resource:
        """What the gang needs at least; nothing where the PodGroup does not say. Not to be changed."""
        return shared_resource(self.pod_group.min_resources)

    @cached_property
    def waiting_time(self) -> int | None:
        """How long the job may wait at most, in microseconds."""
        for key in WAITING_TIMES:
            text = self.pod_group.annotations.get(key)
            if text is not None:
                try:
                    waiting = parse_duration(text)
                except ValueError:
                    continue
                if waiting > 0:
                    return waiting
        return None

    @cached_property
    def preemptable(self) -> bool:
        """Whether the PodGroup says that its tasks may be evicted."""
        for source in (self.pod_group.annotations, self.pod_group.metadata.get("labels") or {}):
            if PREEMPTABLE in source:
                return parse_bool(source[PREEMPTABLE]) or False
        return False

    @cached_property
    def revocable_zone(self) -> str:
        zone = self.pod_group.annotations.get(REVOCABLE_ZONE)
        if zone is not None:
            return "*" if zone == "*" else ""
        return "*" if parse_bool(self.pod_group.annotations.get(PREEMPTABLE, "")) else ""

    @property
    def budget(self) -> tuple[str, str]:
        """The disruption budget: how many must stay, or how many may go."""
        least, most = (self.pod_group.annotations.get(key) for key in BUDGETS)
        if least is not None:
            return least, ""
        return "", most or ""

    # -- tasks -------------------------------------------------------------------------------------------------

    @property
    def is_as_read(self) -> bool:
        """Whether no session has changed the job since it was made; its PodGroup aside, and one that waits counts.

        A job with a network topology is prepared again for each session.
        """
        return (
            not self._moves
            and not self.index.of(TaskStatus.PENDING)
            and not self.job_fit_errors
            and not self.nodes_fit_errors
            and not self.has_network_topology
            and all(task.is_as_read for task in self.index.tasks.values())
        )

    def add_task(self, task: TaskInfo) -> None:
        self.index.add(task)
        if task.status in ALLOCATED_STATUSES:
            self.allocated.add(task.resreq)
        sub_job = self._sub_job_for(task)
        if sub_job.index is not self.index:
            sub_job.index.add(task)
        sub_job.priority = max(sub_job.priority, task.priority)
        self.sub_job_of[task.uid] = sub_job.uid

    def update_status(self, task: TaskInfo, status: TaskStatus) -> None:
        """Moves a task of the job to another status.

        A copy of the task takes its place. The sub-job looks for the task in the status of the copy, as upstream does:
        where the copy was made in another one, the sub-job goes on listing the task as it was.
        """
        self._moves += 1
        present = self.index.tasks[task.uid]
        old, given = present.status, task.status
        if (old in ALLOCATED_STATUSES) != (status in ALLOCATED_STATUSES):
            if status in ALLOCATED_STATUSES:
                self.allocated.add(task.resreq)
            else:
                self.allocated.sub(task.resreq)
        task.status = status
        self.index.move(task, old, status)
        sub_job = self.sub_jobs[self.sub_job_of[task.uid]]
        if self.policies:
            sub_job.index.move(task, given, status)
        elif TaskStatus.PENDING in (given, status):
            sub_job.left_pending.pop(task.uid, None)
        elif old is TaskStatus.PENDING:
            sub_job.left_pending[task.uid] = present

    def _sub_job_for(self, task: TaskInfo) -> SubJobInfo:
        for policy in self.policies:
            values = match_values(policy, task)
            if values:
                gid = f"{self.uid}/{policy.get('name', '')}"
                uid = f"{gid}-{'-'.join(values)}"
                if uid not in self.sub_jobs:
                    size = policy.get("subGroupSize")
                    topology = NetworkTopology.read(policy.get("networkTopology"))
                    self.sub_jobs[uid] = SubJobInfo(gid, uid, self.uid, 1 if size is None else size, topology, values)
                return self.sub_jobs[uid]
        if self.uid not in self.sub_jobs:
            topology = self.network_topology.copy() if self.network_topology else None
            least = 1 if self.policies else self.min_available
            whole = SubJobInfo(self.uid, self.uid, self.uid, least, topology)
            if not self.policies:
                whole.index = self.index  # it has all tasks of the job
            self.sub_jobs[self.uid] = whole
        return self.sub_jobs[self.uid]

    # -- the gang ----------------------------------------------------------------------------------------------

    @property
    def ready_tasks(self) -> int:
        return self.index.ready

    @property
    def is_ready(self) -> bool:
        return self.index.ready + self.index.best_effort >= self.min_available

    @property
    def is_pipelined(self) -> bool:
        return self.index.waiting + self.index.ready + self.index.best_effort >= self.min_available

    @property
    def is_starving(self) -> bool:
        return self.index.waiting + self.index.ready < self.min_available

    @property
    def is_pending(self) -> bool:
        return self.pod_group.phase in (PENDING, "")

    @property
    def valid_tasks(self) -> int:
        return self.index.count(_VALID)

    @property
    def scheduled_tasks(self) -> int:
        return self.index.count(SCHEDULED_STATUSES)

    @property
    def releasing_scheduled_tasks(self) -> int:
        return sum(bool(task.node_name) for task in self.index.of(TaskStatus.RELEASING).values())

    def tasks_valid(self) -> bool:
        """Whether every role has as many tasks as it needs (CheckTaskValid)."""
        if self.min_available < self.task_min_total:
            return True
        return all(
            least == 0 or self.index.in_role(role, _VALID) >= least for role, least in self.task_min_available.items()
        )

    def tasks_ready(self) -> bool:
        """Whether every role holds the resources it needs (CheckTaskReady)."""
        return self._roles_filled(READY_STATUSES)

    def tasks_pipelined(self) -> bool:
        """Whether every role holds or will get the resources it needs (CheckTaskPipelined)."""
        return self._roles_filled(_HELD)

    def _roles_filled(self, statuses: frozenset[TaskStatus]) -> bool:
        if self.min_available < self.task_min_total:
            return True
        index = self.index
        return all(
            index.in_role(role, statuses) + index.best_effort_in(role) >= least
            for role, least in self.task_min_available.items()
        )

    def sub_jobs_valid(self) -> bool:
        """Whether every policy has as many subgroups as it needs."""
        return self._subgroups(lambda _: True)

    def sub_jobs_ready(self) -> bool:
        return self._subgroups(lambda sub_job: sub_job.is_ready)

    def sub_jobs_pipelined(self) -> bool:
        return self._subgroups(lambda sub_job: sub_job.is_pipelined)

    def _subgroups(self, holds: Any) -> bool:
        if not any(self.min_sub_jobs.values()):
            return True
        counted: dict[str, int] = {}
        for sub_job in self.sub_jobs.values():
            counted[sub_job.gid] = counted.get(sub_job.gid, 0) + bool(holds(sub_job))
        return all(counted.get(gid, 0) >= least for gid, least in self.min_sub_jobs.items() if least)

    def needs_more(self, sub_job: SubJobInfo) -> bool:
        """Whether other tasks are worth trying after one fitted nowhere (NeedContinueAllocating)."""
        if self.min_available == len(self.index) or sub_job.min_available >= len(sub_job.index):
            return False
        if self.policies:
            return True
        failed = self._failed_roles.get(sub_job.uid, set())
        if self.min_available < self.task_min_total:
            left = sum(count for role, count in self.index.pending_roles().items() if role not in failed)
            return self.index.ready + left >= self.min_available
        index = self.index
        for role in failed:
            least = self.task_min_available.get(role, 0)
            if least and index.in_role(role, READY_STATUSES) + index.best_effort_in(role) < least:
                return False
        return True

    # -- fit errors --------------------------------------------------------------------------------------------

    def set_fit_errors(self, task: TaskInfo, errors: FitErrors) -> None:
        self.nodes_fit_errors[task.uid] = errors
        self._failed_roles.setdefault(self.sub_job_of[task.uid], set()).add(task.role)

    def role_failed(self, sub_job: SubJobInfo, task: TaskInfo) -> bool:
        """Whether a task of the same role has already failed to fit."""
        return bool(task.role) and task.role in self._failed_roles.get(sub_job.uid, ())

    def reset_fit_errors(self, sub_job: SubJobInfo | None = None) -> None:
        """Forgets the fit errors of the job, or of one sub-job."""
        if sub_job is None:
            self.job_fit_errors = ""
            self.nodes_fit_errors = {}
            self._failed_roles = {}
            return
        kept = {uid: errors for uid, errors in self.nodes_fit_errors.items() if self.sub_job_of[uid] != sub_job.uid}
        self.nodes_fit_errors = kept
        self._failed_roles.pop(sub_job.uid, None)

    # -- resources ---------------------------------------------------------------------------------------------

    @property
    def elastic(self) -> Resource:
        """What the job holds beyond its minimum."""
        return exceeded_part(self.allocated, self.min_resources)

    def without_gated(self, resource: Resource) -> Resource:
        """An amount less what tasks behind foreign scheduling gates ask for (DeductSchGatedResources)."""
        gated = Resource()
        for task in self.index.tasks.values():
            if task.sch_gated and not task.has_only_volcano_gate:
                gated.add(task.resreq)
        if gated.is_empty():
            return resource
        left = resource.clone()
        left.cpu, left.memory = max(left.cpu - gated.cpu, 0.0), max(left.memory - gated.memory, 0.0)
        for name, amount in (left.scalars or {}).items():
            if name in (gated.scalars or {}):
                left.set_scalar(name, max(amount - gated.get(name), 0.0))
        return left

    # -- topology ----------------------------------------------------------------------------------------------

    @property
    def hard_tier(self) -> int | None:
        return self.network_topology.hard_tier if self.network_topology else None

    @property
    def has_hard_topology(self) -> bool:
        return self.hard_tier is not None or any(s.hard_tier is not None for s in self.sub_jobs.values())

    @property
    def has_network_topology(self) -> bool:
        return self.network_topology is not None or any(s.network_topology for s in self.sub_jobs.values())
