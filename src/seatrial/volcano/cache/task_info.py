"""A task: one pod, with its place in the session. Upstream: pkg/scheduler/api (TaskInfo, pod_info.go, helpers.go)."""

from collections.abc import Callable, Hashable, Mapping
from copy import copy
from dataclasses import dataclass
from enum import Enum

from seatrial.model.documents import Document
from seatrial.scheduler.cache import PodInfo
from seatrial.store import Stored
from seatrial.volcano.apis.labels import GROUP_NAME, PREEMPTABLE, REVOCABLE_ZONE, TASK_SPEC
from seatrial.volcano.cache.resource import CPU, MEMORY, PODS, Resource

TASK_PRIORITY = "volcano.sh/task-priority"
QUEUE_ALLOCATION_GATE = "scheduling.volcano.sh/queue-allocation-gate"
DEFAULT_PRIORITY = 1
PodScheduled = tuple[str, str, str]
"""Status, reason and message of the condition PodScheduled."""
_TRUE, _FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


class TaskStatus(Enum):
    """Where a task is in its life; Allocated, Pipelined and Binding exist inside a session only."""

    PENDING = "Pending"
    ALLOCATED = "Allocated"
    PIPELINED = "Pipelined"
    BINDING = "Binding"
    BOUND = "Bound"
    RUNNING = "Running"
    RELEASING = "Releasing"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"

    __hash__ = object.__hash__  # members are compared by identity; Enum's own hash is slow


ALLOCATED_STATUSES = frozenset((TaskStatus.BOUND, TaskStatus.BINDING, TaskStatus.RUNNING, TaskStatus.ALLOCATED))
READY_STATUSES = ALLOCATED_STATUSES | {TaskStatus.SUCCEEDED}
SCHEDULED_STATUSES = frozenset((TaskStatus.RUNNING, TaskStatus.BOUND, TaskStatus.FAILED, TaskStatus.SUCCEEDED))
PREEMPTABLE_STATUSES = frozenset((TaskStatus.BOUND, TaskStatus.RUNNING))
TERMINATED_STATUSES = frozenset((TaskStatus.SUCCEEDED, TaskStatus.FAILED))


@dataclass(frozen=True, slots=True)
class Transaction:
    """What a discarded statement had planned for a task; messages are made of it."""

    node_name: str
    status: TaskStatus
    eviction_occurred: bool


class TaskInfo:
    """One pod of a job. `resreq` is shared by tasks of one shape and never changed."""

    __slots__ = (
        "best_effort",
        "eviction_occurred",
        "first_status",
        "index",
        "job",
        "job_allocated_hyper_node",
        "key",
        "last_transaction",
        "name",
        "namespace",
        "node_name",
        "nominated_node",
        "pod",
        "pod_annotations",
        "pod_scheduled",
        "preemptable",
        "priority",
        "request_key",
        "resreq",
        "revocable_zone",
        "role",
        "sch_gated",
        "source",
        "status",
        "uid",
    )

    def __init__(
        self,
        pod: PodInfo,
        source: Document | Stored,
        pod_scheduled: PodScheduled | None = None,
        volumes: Mapping[str, int] | None = None,
    ) -> None:
        """`volumes`: how many CSI volumes the pod has, by resource."""
        annotations = pod.annotations
        self.pod = pod
        self.source = source
        self.pod_scheduled = pod_scheduled
        """What the pod's PodScheduled condition says."""
        self.uid = pod.uid
        self.key = pod.key
        self.name = pod.name
        self.namespace = pod.namespace
        group = annotations.get(GROUP_NAME)
        self.job = f"{pod.namespace}/{group}" if group else ""
        self.role = annotations.get(TASK_SPEC) or pod.labels.get(TASK_SPEC) or ""
        self.resreq, self.request_key = self._request()
        if volumes:
            self.resreq = self.resreq.clone()
            for name, count in volumes.items():
                self.resreq.add_scalar(name, float(count))
            self.request_key = self.resreq.key()
        self.best_effort = self.resreq.is_empty()
        self.status = self.first_status = status_of(pod)
        self.node_name = pod.node
        self.nominated_node = pod.nominated_node
        self.priority = _priority(pod)
        self.preemptable = is_preemptable(pod)
        self.revocable_zone = _revocable_zone(pod)
        self.sch_gated = bool(pod.spec.get("schedulingGates"))
        self.index = _index(pod.name)
        self.eviction_occurred = False
        self.job_allocated_hyper_node = ""
        self.last_transaction: Transaction | None = None
        self.pod_annotations: dict[str, str] = {}
        """What plugins note on the pod when it is bound."""

    @property
    def document(self) -> Document:
        """The whole pod; decoded when it is asked for."""
        return self.source if isinstance(self.source, dict) else self.source.document()

    def _request(self) -> tuple[Resource, Hashable]:
        """What the pod asks for, one of `pods` included, and the same as a key; shared by pods of one shape."""
        pod = self.pod
        if pod.requests is not pod.shape.requests:
            request = _request(pod.spec, self.document.get("status") or {})
            return request, request.key()
        notes = pod.shape.shared.notes
        known: tuple[Resource, Hashable] | None = notes.get(_request)
        if known is None:
            request = _request(pod.spec, {})
            known = notes[_request] = (request, request.key())
        return known

    def clone(self) -> "TaskInfo":
        """A copy with a status and a node of its own."""
        other = copy(self)
        other.pod_annotations = dict(self.pod_annotations)
        other.job_allocated_hyper_node = ""
        return other

    @property
    def transaction(self) -> Transaction:
        """The last plan for the task: that of a discarded statement, or its present state."""
        return self.last_transaction or self.present

    @property
    def present(self) -> Transaction:
        return Transaction(self.node_name, self.status, self.eviction_occurred)

    @property
    def is_as_read(self) -> bool:
        """Whether no session has changed the task since it was made of its pod; one that waits counts as changed."""
        return (
            self.status is self.first_status
            and self.status is not TaskStatus.PENDING
            and self.last_transaction is None
            and not self.eviction_occurred
            and not self.pod_annotations
            and not self.job_allocated_hyper_node
        )

    @property
    def has_only_volcano_gate(self) -> bool:
        gates = self.pod.spec.get("schedulingGates") or []
        return len(gates) == 1 and gates[0].get("name") == QUEUE_ALLOCATION_GATE

    def __repr__(self) -> str:
        return f"Task({self.key}, {self.status.value}, {self.node_name or '-'})"


def comes_before(left: TaskInfo, right: TaskInfo) -> bool:
    """The order of tasks for which no plugin decides: by index, then age, then uid (CompareTask)."""
    if left.index is None or right.index is None or left.index == right.index:
        if left.pod.created == right.pod.created:
            return left.uid < right.uid
        return left.pod.created < right.pod.created
    return left.index < right.index


def status_of(pod: PodInfo) -> TaskStatus:
    """The status a pod has outside a session."""
    if pod.phase == "Running":
        return TaskStatus.RELEASING if pod.deleting else TaskStatus.RUNNING
    if pod.phase == "Pending":
        if pod.deleting:
            return TaskStatus.RELEASING
        return TaskStatus.BOUND if pod.node else TaskStatus.PENDING
    if pod.phase == "Succeeded":
        return TaskStatus.SUCCEEDED
    return TaskStatus.FAILED if pod.phase == "Failed" else TaskStatus.UNKNOWN


def is_preemptable(pod: PodInfo) -> bool:
    """Whether the pod may be evicted; it may unless it says otherwise."""
    for source in (pod.annotations, pod.labels):
        if PREEMPTABLE in source:
            return parse_bool(source[PREEMPTABLE]) or False
    return True


def parse_bool(text: str) -> bool | None:
    """A boolean as Go's strconv reads it; None if the text is no boolean."""
    if text in _TRUE:
        return True
    return False if text in _FALSE else None


def _request(spec: Document, status: Document) -> Resource:
    total = _of_containers(spec, status, lambda container, present: _container_request(container, present, status))
    total.add_scalar(PODS, 1.0)
    _replace_by_pod_level(total, spec, "requests")
    return total.add(Resource.read(spec.get("overhead")))


def limits_of(task: TaskInfo) -> Resource:
    """What a pod may use at most, where its containers say so (GetPodResourceLimit)."""
    spec = task.pod.spec
    total = _of_containers(spec, task.document.get("status") or {}, _container_limit)
    _replace_by_pod_level(total, spec, "limits")
    overhead = Resource.read(spec.get("overhead"))
    total.cpu += overhead.cpu if total.cpu else 0.0
    total.memory += overhead.memory if total.memory else 0.0
    return total


def _of_containers(
    spec: Document, status: Document, amount_of: Callable[[Document, dict[str, Document]], Resource]
) -> Resource:
    """The amounts of all containers together, or of those that start the pod if that is more."""
    running = _statuses(status, "containerStatuses")
    total = Resource()
    for container in spec.get("containers") or ():
        total.add(amount_of(container, running))
    sidecars, initial = Resource(), Resource()
    starting = _statuses(status, "initContainerStatuses")
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            amount = amount_of(container, starting)
            total.add(amount)
            sidecars.add(amount)
            initial.raise_to(sidecars)
        else:
            initial.raise_to(amount_of(container, {}).add(sidecars))
    total.raise_to(initial)
    return total


def _replace_by_pod_level(total: Resource, spec: Document, part: str) -> None:
    """What the pod as a whole asks for takes the place of what its containers do."""
    pod_level = (spec.get("resources") or {}).get(part) or {}
    amounts = Resource.read(pod_level)
    for name in pod_level:
        if name == CPU:
            total.cpu = amounts.cpu
        elif name == MEMORY:
            total.memory = amounts.memory
        elif name.startswith("hugepages-"):
            total.set_scalar(name, amounts.get(name))


def _statuses(status: Document, part: str) -> dict[str, Document]:
    return {entry.get("name", ""): entry for entry in status.get(part) or ()}


def _container_request(container: Document, statuses: dict[str, Document], status: Document) -> Resource:
    """A container's request; of one being resized the largest of what it wants, has and was promised."""
    request = Resource.read((container.get("resources") or {}).get("requests"))
    present = statuses.get(container.get("name", ""))
    if present is None or present.get("resources") is None:
        return request
    infeasible = any(
        c.get("type") == "PodResizePending" and c.get("reason") == "Infeasible" for c in status.get("conditions") or ()
    )
    effective = Resource() if infeasible else request
    effective.raise_to(Resource.read(present["resources"].get("requests")))
    effective.raise_to(Resource.read(present.get("allocatedResources")))
    return effective


def _container_limit(container: Document, statuses: dict[str, Document]) -> Resource:
    """A container's limit; of one being resized the larger of what it wants and has."""
    limit = Resource.read((container.get("resources") or {}).get("limits"))
    present = (statuses.get(container.get("name", "")) or {}).get("resources") or {}
    limit.raise_to(Resource.read(present.get("limits")))
    return limit


def _priority(pod: PodInfo) -> int:
    given = pod.spec.get("priority")
    priority = DEFAULT_PRIORITY if given is None else int(given)
    text = pod.annotations.get(TASK_PRIORITY)
    if text is not None and text.lstrip("+-").isdigit() and -(1 << 31) <= int(text) < 1 << 31:
        priority = int(text)
    return priority


def _revocable_zone(pod: PodInfo) -> str:
    zone = pod.annotations.get(REVOCABLE_ZONE)
    if zone is not None:
        return zone if zone == "*" else ""
    return "*" if parse_bool(pod.annotations.get(PREEMPTABLE, "")) else ""


def _index(name: str) -> int | None:
    parts = name.split("-")
    if len(parts) < 3 or not (parts[-1].isascii() and parts[-1].isdigit()):
        return None
    return int(parts[-1])
