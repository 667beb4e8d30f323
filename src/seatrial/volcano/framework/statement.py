"""A statement: evictions, pipelines and allocations that take effect at once and can all be undone.

Upstream: pkg/scheduler/framework/statement.go.
"""

from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus

if TYPE_CHECKING:
    from seatrial.volcano.framework.session import Session


class Kind(Enum):
    EVICT = "evict"
    PIPELINE = "pipeline"
    ALLOCATE = "allocate"


class Operation(Struct, frozen=True):
    """One step of a statement."""

    kind: Kind
    task: TaskInfo
    reason: str = ""


class Statement:
    """Steps on a session, committed or discarded as one."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self.operations: list[Operation] = []

    @property
    def has_evictions(self) -> bool:
        return any(operation.kind is Kind.EVICT for operation in self.operations)

    def evict(self, task: TaskInfo, reason: str) -> None:
        """Marks a task as releasing its resources."""
        session = self._session
        session.set_status(task, TaskStatus.RELEASING)
        node = session.nodes.get(task.node_name)
        if node is not None:
            node.update_task(task)
        session.deallocated(task)
        self.operations.append(Operation(Kind.EVICT, task, reason))

    def pipeline(self, task: TaskInfo, node: NodeInfo, eviction_occurred: bool) -> bool:
        """Reserves what will be free on a node; False where a plugin refused and it was undone."""
        session = self._session
        session.set_status(task, TaskStatus.PIPELINED)
        task.node_name = node.name
        task.eviction_occurred = eviction_occurred
        is_added = node.add_task(task)
        if not session.allocated(task) or not is_added:
            self._undo_placement(task)
            return False
        self.operations.append(Operation(Kind.PIPELINE, task))
        return True

    def allocate(self, task: TaskInfo, node: NodeInfo) -> bool:
        """Gives a task resources of a node; False where a plugin refused and it was undone."""
        session = self._session
        session.set_status(task, TaskStatus.ALLOCATED)
        task.node_name = node.name
        is_added = node.add_task(task)
        if not session.allocated(task) or not is_added:
            self._undo_placement(task)
            return False
        self.operations.append(Operation(Kind.ALLOCATE, task))
        return True

    def unpipeline(self, task: TaskInfo) -> None:
        """Takes back a reservation of an earlier statement."""
        self._undo_placement(task)

    def _undo_placement(self, task: TaskInfo) -> None:
        session = self._session
        session.set_status(task, TaskStatus.PENDING)
        node = session.nodes.get(task.node_name)
        if node is not None:
            node.remove_task(task)
        session.deallocated(task)
        task.node_name = ""
        task.job_allocated_hyper_node = ""

    def _undo_eviction(self, task: TaskInfo) -> None:
        session = self._session
        session.set_status(task, TaskStatus.RUNNING)
        node = session.nodes.get(task.node_name)
        if node is not None:
            node.update_task(task)
        session.allocated(task)

    def discard(self) -> None:
        """Undoes all steps, last first; tasks remember what was planned for them."""
        for operation in reversed(self.operations):
            task = operation.task
            task.last_transaction = task.present
            if operation.kind is Kind.EVICT:
                self._undo_eviction(task)
            else:
                self._undo_placement(task)
        self.operations = []

    def commit(self) -> None:
        """Carries the steps out: victims are evicted, allocated tasks bound; a pipelined task only keeps its place."""
        victims = [operation.task.key for operation in self.operations if operation.kind is Kind.EVICT]
        if victims:
            if self._session.conf.version.rules.has_newest_metrics:
                self._session.measures.inc("eviction_transactions_total", self._session.action)
            for job in dict.fromkeys(each.task.job for each in self.operations if each.kind is not Kind.EVICT):
                self._session.trial_of(job).victims.extend(victims)
        for operation in self.operations:
            operation.task.last_transaction = None
            if operation.kind is Kind.EVICT:
                self._session.carry_out_eviction(operation.task, operation.reason)
            elif operation.kind is Kind.ALLOCATE:
                self._session.bind(operation.task)
        self.operations = []

    def merge(self, other: "Statement") -> None:
        """Takes over the steps of another statement."""
        self.operations.extend(other.operations)
        other.operations = []


def save_operations(*statements: Statement) -> list[Operation]:
    """The steps of statements about to be discarded, to be taken again if they prove best: on copies of the tasks."""
    return [
        Operation(operation.kind, operation.task.clone(), operation.reason)
        for statement in statements
        for operation in statement.operations
    ]


def recover_operations(statement: Statement, saved: list[Operation], nodes: dict[str, NodeInfo]) -> bool:
    """Takes saved steps again; False where one fails."""
    for step in saved:
        task = step.task
        if step.kind is Kind.EVICT:
            statement.evict(task, step.reason)
        elif step.kind is Kind.PIPELINE:
            if not statement.pipeline(task, nodes[task.node_name], task.eviction_occurred):
                return False
        elif not statement.allocate(task, nodes[task.node_name]):
            return False
    return True
