"""A node with its tasks; amounts are in the columns shared by all nodes. Upstream: pkg/scheduler/api/node_info.go."""

from collections.abc import Mapping
from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.scheduler.cache import NodeInfo as KubeNode
from seatrial.volcano.apis.labels import REVOCABLE_ZONE
from seatrial.volcano.cache.csi_volumes import offered_by
from seatrial.volcano.cache.devices.interface import Devices
from seatrial.volcano.cache.node_columns import Change, NodeColumns
from seatrial.volcano.cache.resource import Resource
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus

OVERSUBSCRIPTION_CPU = "volcano.sh/oversubscription-cpu"
OVERSUBSCRIPTION_MEMORY = "volcano.sh/oversubscription-memory"
_RELEASING: Change = (-1, 1, 1, 0)
_PIPELINED: Change = (0, 0, 0, 1)
_HELD: Change = (-1, 1, 0, 0)
_NOT_HELD = (TaskStatus.RELEASING, TaskStatus.PIPELINED)


@dataclass(frozen=True, slots=True, eq=False)
class NodeFacts:
    """What a node's document says; shared by all sessions until it changes."""

    document: Document
    kube: KubeNode
    allocatable: Resource
    capacity: Resource

    @classmethod
    def read(cls, document: Document, csi_node: Document | None = None) -> "NodeFacts":
        """A node with the volumes that its CSINode offers."""
        kube = KubeNode.read(document)
        status = document.get("status") or {}
        extra, volumes = oversubscription(kube.annotations), offered_by(csi_node).scalars or {}
        offered, present = status.get("allocatable"), status.get("capacity")
        allocatable = Resource.read(offered).add(extra)
        capacity = allocatable.clone() if present == offered else Resource.read(present).add(extra)
        for name, count in volumes.items():
            allocatable.set_scalar(name, count)
            capacity.set_scalar(name, count)
        return cls(document, kube, allocatable, capacity)


class NodeInfo:
    """One node. A task counts in the state it had when it was put here, whatever has become of it since."""

    __slots__ = ("allocatable", "capacity", "columns", "devices", "facts", "kube", "name", "row", "statuses", "tasks")

    def __init__(self, facts: NodeFacts, row: int) -> None:
        self.facts = facts
        self.kube = facts.kube
        self.name = facts.kube.name
        self.row = row
        self.allocatable = facts.allocatable
        self.capacity = facts.capacity
        self.tasks: dict[str, TaskInfo] = {}
        self.statuses: dict[str, TaskStatus] = {}
        self.devices: Devices | None = None
        """What pods share on the node."""
        self.columns: NodeColumns
        """The columns of all nodes; set when the nodes are assembled."""

    @property
    def revocable_zone(self) -> str:
        return self.kube.labels.get(REVOCABLE_ZONE, "")

    @property
    def idle(self) -> Resource:
        return self.columns.resource(self.columns.idle, self.row)

    @property
    def used(self) -> Resource:
        return self.columns.resource(self.columns.used, self.row)

    @property
    def releasing(self) -> Resource:
        return self.columns.resource(self.columns.releasing, self.row)

    @property
    def future_idle(self) -> Resource:
        return self.columns.resource(self.columns.future, self.row)

    def fits_idle(self, task: TaskInfo) -> bool:
        return self.columns.covers(task.resreq, self.columns.idle, self.row)

    def fits_future(self, task: TaskInfo) -> bool:
        return self.columns.covers(task.resreq, self.columns.future, self.row)

    def add_task(self, task: TaskInfo) -> bool:
        """Puts a task on the node; False where it is here already."""
        if task.key in self.tasks:
            return False
        self.columns.change(self.row, task.resreq, _change(task.status))
        task.node_name = self.name
        self.tasks[task.key] = task
        self.statuses[task.key] = task.status
        if self.devices is not None and task.status not in _NOT_HELD:
            self.devices.add(task.pod)
        return True

    def share(self, devices: Devices) -> None:
        """Gives the node its devices; tasks that are here hold their part."""
        self.devices = devices
        for task, status in self.listed():
            if status not in _NOT_HELD:
                devices.add(task.pod)

    def remove_task(self, task: TaskInfo) -> None:
        status = self.statuses.pop(task.key, None)
        if status is None:
            return
        idle, used, releasing, pipelined = _change(status)
        self.columns.change(self.row, task.resreq, (-idle, -used, -releasing, -pipelined))
        del self.tasks[task.key]
        if self.devices is not None and status not in _NOT_HELD:
            self.devices.remove(task.pod)

    def update_task(self, task: TaskInfo) -> None:
        """The task counts in its present state from now on."""
        self.remove_task(task)
        self.add_task(task)

    def listed(self) -> list[tuple[TaskInfo, TaskStatus]]:
        """The tasks with the states they count in, in the order of their keys."""
        return [(self.tasks[key], self.statuses[key]) for key in sorted(self.tasks)]


def _change(status: TaskStatus) -> Change:
    if status is TaskStatus.RELEASING:
        return _RELEASING
    return _PIPELINED if status is TaskStatus.PIPELINED else _HELD


def oversubscription(annotations: Mapping[str, str]) -> Resource:
    return Resource(_number(annotations.get(OVERSUBSCRIPTION_CPU)), _number(annotations.get(OVERSUBSCRIPTION_MEMORY)))


def _number(text: str | None) -> float:
    try:
        return float(text) if text else 0.0
    except ValueError:
        return 0.0
