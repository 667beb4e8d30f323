"""How a plugin of Volcano's scheduler is written.

Every session makes a new instance of each plugin. In `on_session_open` it registers functions for extension points:

    JOB_ORDER, SUB_JOB_ORDER, QUEUE_ORDER, TASK_ORDER (left, right) -> int    negative: left goes first
    VICTIM_QUEUE_ORDER (left, right, preemptor) -> int
    PRE_PREDICATE (task) -> str                                               an error, or nothing
    PREDICATE: a Predicate                                                    severities of all nodes, and their words
    NODE_ORDER, BATCH_NODE_ORDER (task, rows) -> array                        scores of some nodes
    HYPER_NODE_ORDER (sub_job, {HyperNode: nodes}) -> {HyperNode: score}
    HYPER_NODE_GRADIENT_FOR_JOB, …_SUB_JOB (job, HyperNode, evicts) -> lists of HyperNodes, best first
    PREEMPTABLE, RECLAIMABLE (task, candidates) -> (victims, vote)            a vote of ABSTAIN is no opinion
    UNIFIED_EVICTABLE (context, candidates) -> (victims, vote)
    OVERUSED (queue) -> bool, ALLOCATABLE (queue, task) -> bool, PREEMPTIVE (queue, tasks) -> bool
    JOB_READY, SUB_JOB_READY, JOB_STARVING (job) -> bool
    JOB_PIPELINED, SUB_JOB_PIPELINED, JOB_ENQUEUEABLE (job) -> vote
    JOB_VALID (job) -> ValidateResult | None, JOB_ENQUEUED (job) -> None
    VICTIM_TASKS (tasks) -> tasks to evict

Upstream: pkg/scheduler/framework/interface.go.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from seatrial.volcano.cache.fit_errors import Severities, Statuses
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.config.arguments import Arguments
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.queue_state import QueueState

if TYPE_CHECKING:
    from seatrial.volcano.framework.session import Session


class ScoringError(Exception):
    """A plugin could not score the candidates; none of them is chosen."""


class Predicate(Protocol):
    """A judgement of all nodes at once."""

    def severity(self, task: TaskInfo) -> Severities | None:
        """How unfit each node is; None where all fit."""
        ...

    def explain(self, task: TaskInfo) -> Callable[[int], Statuses]:
        """The statuses of this moment that were not success, by row."""
        ...

    # A predicate with a method `passed(task, rows)` is told which nodes it and those before it let pass.


class Plugin:
    """Base of all plugins."""

    name: ClassVar[str]

    def __init__(self, arguments: Arguments, session: "Session") -> None:
        self.arguments = arguments
        self.session = session

    @classmethod
    def faults(cls, arguments: Arguments) -> Iterable[tuple[str, str]]:
        """Arguments that the plugin cannot work with, and why; the configuration is refused."""
        return ()

    def on_session_open(self) -> None:
        """Registers the plugin's functions."""

    def on_session_close(self) -> None:
        """Writes down what the session found out."""

    def on_allocate(self, task: TaskInfo) -> bool | None:
        """A task got resources; False where they could not be reserved. Called after `subscribe`."""
        return None

    def on_deallocate(self, task: TaskInfo) -> None:
        """A task gave resources back."""

    def wakes_at(self) -> int | None:
        """When the plugin may decide otherwise although nothing has changed; None where time does not matter to it."""
        return None

    def lacks_state(self, task: TaskInfo) -> bool:
        """Whether the plugin's predicate fails with an error, since its PrePredicate has not run for the task."""
        return False

    def passes_dry_run(self, task: TaskInfo, node: NodeInfo) -> bool:
        """Whether a task fits on a node in the dry run of topology-aware preemption (SimulatePredicateFn)."""
        return True

    def queue_metrics(self) -> dict[str, dict[str, float]]:
        """What the plugin exports about queues, by queue; nothing where it does not look after queues."""
        return {}

    def queue_states(self) -> dict[str, QueueState]:
        """The queues at the end of the session; nothing where the plugin does not look after queues."""
        return {}

    def add(self, point: Point, fn: Callable[..., object]) -> None:
        self.session.add(point, self.name, fn)

    def count_jobs(self, enqueueable: Callable[[JobInfo], int], count: Callable[[JobInfo], None]) -> None:
        """Registers whether a job may be let in, and what counts it when the version of Volcano does."""

        def vote(job: JobInfo) -> int:
            answer = enqueueable(job)
            if answer > 0 and not self.session.is_asking:
                count(job)
            return answer

        if self.session.conf.version.rules.counts_jobs_let_in:
            self.add(Point.JOB_ENQUEUEABLE, enqueueable)
            self.add(Point.JOB_ENQUEUED, count)
        else:
            self.add(Point.JOB_ENQUEUEABLE, vote)

    def add_predicate(self, predicate: Predicate) -> None:
        self.session.add(Point.PREDICATE, self.name, predicate)


class NodeByNode:
    """A predicate that judges one node at a time."""

    def __init__(self, nodes: Sequence[NodeInfo], judge: Callable[[TaskInfo, NodeInfo], Statuses]) -> None:
        self._nodes = nodes
        self._judge = judge

    def severity(self, task: TaskInfo) -> Severities | None:
        found = [max((s.severity for s in self._judge(task, node)), default=0) for node in self._nodes]
        return np.asarray(found, np.int8)

    def explain(self, task: TaskInfo) -> Callable[[int], Statuses]:
        found = [tuple(self._judge(task, node)) for node in self._nodes]
        return lambda row: found[row]
