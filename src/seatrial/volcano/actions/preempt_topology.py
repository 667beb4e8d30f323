"""preempt with enableTopologyAwarePreemption: dry runs on several nodes, and the least harmful one wins.

Evictions are tried on the session itself and undone, which gives the same answers as upstream's copies of a node.
Where upstream starts at a random node, this starts at the first.

Upstream: actions/preempt/preempt.go (topologyAwarePreempt and what it calls).
"""

from collections.abc import Callable, Sequence

from seatrial.volcano.actions.reclaim import suffices
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
from seatrial.volcano.config.arguments import Arguments
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.session import Session
from seatrial.volcano.framework.statement import Statement

Allowed = Callable[[TaskInfo, TaskStatus], bool]
Victims = list[TaskInfo]
_OFFSET = 1 << 31


class TopologyAware:
    """Finds victims by dry runs."""

    def __init__(self, session: Session, arguments: Arguments) -> None:
        self._session = session
        self._percentage = arguments.integer("minCandidateNodesPercentage", 10)
        self._least = arguments.integer("minCandidateNodesAbsolute", 1)
        self._most = arguments.integer("maxCandidateNodesAbsolute", 100)

    def preempt(self, statement: Statement, preemptor: TaskInfo, allowed: Allowed, nodes: Sequence[NodeInfo]) -> bool:
        """Evicts on the best candidate; whether there was one."""
        enough = min(max(len(nodes) * self._percentage // 100, self._least), self._most, len(nodes))
        candidates: dict[str, Victims] = {}
        for node in nodes:
            if len(candidates) >= enough:
                break
            victims = self._victims_on(node, preemptor, allowed)
            if victims:
                candidates[node.name] = victims
        if not candidates:
            return False
        best = self._best(candidates)
        attempt = self._session.statement()
        for victim in candidates[best]:
            attempt.evict(victim, "preempt")
        self._session.measures.inc("total_preemption_attempts")
        if not attempt.pipeline(preemptor, self._session.nodes[best], True):
            attempt.discard()
            return False
        statement.merge(attempt)
        return True

    def _victims_on(self, node: NodeInfo, preemptor: TaskInfo, allowed: Allowed) -> Victims:
        """The tasks that must go for the preemptor to fit; as many as possible of those first taken are spared."""
        session = self._session
        preemptees = [task for task, status in node.listed() if allowed(task, status)]
        offered = session.preemptable(preemptor, preemptees)
        session.measures.set("pod_preemption_victims", len(offered))
        if not suffices(preemptor, node, offered):
            return []
        queue = session.victims_queue(offered, preemptor)
        ordered = [queue.pop() for _ in range(len(queue))]  # upstream's dry run leaves jobs, and so their order, as is
        dry_run = session.statement()
        taken: Victims = []
        for victim in ordered:
            taken.append(victim)
            dry_run.evict(victim, "preempt")
            if self._fits(preemptor, node):
                break
        victims = self._reprieve(taken, preemptor, node) if taken and self._passes(preemptor, node) else []
        dry_run.discard()
        for task in taken:
            session.kube.put_back(task, node.name)  # upstream's dry run works on copies: nothing stays changed
        return victims

    def _reprieve(self, taken: Victims, preemptor: TaskInfo, node: NodeInfo) -> Victims:
        """Gives tasks back, the last taken first, and keeps those without which the preemptor does not fit."""
        victims: Victims = []
        for place in range(len(taken) - 1, -1, -1):
            trial = self._session.statement()
            kept = [*victims, *taken[:place]]
            spared = [task for task in taken if task not in kept]
            for task in spared:
                self._give_back(task)
            if not self._fits(preemptor, node):
                victims.append(taken[place])
            for task in spared:
                trial.evict(task, "preempt")
        return victims

    def _give_back(self, task: TaskInfo) -> None:
        session = self._session
        session.set_status(task, TaskStatus.RUNNING)
        session.nodes[task.node_name].update_task(task)
        session.allocated(task)

    def _passes(self, preemptor: TaskInfo, node: NodeInfo) -> bool:
        session = self._session
        names = [name for name, _ in session.fns(Point.PREDICATE)]
        return all(session.plugins[name].passes_dry_run(preemptor, node) for name in names)

    def _fits(self, preemptor: TaskInfo, node: NodeInfo) -> bool:
        session = self._session
        queue = session.queues[session.jobs[preemptor.job].queue]
        return session.allocatable(queue, preemptor) and node.fits_future(preemptor) and self._passes(preemptor, node)

    def _best(self, candidates: dict[str, Victims]) -> str:
        """The candidate with the least important victims, the fewest, and those that started last."""
        now = self._session.now

        def started(task: TaskInfo) -> int:
            return now if task.pod.start_time is None else task.pod.start_time

        def harm(name: str) -> tuple[int, int, int, int, str]:
            victims = candidates[name]
            highest = max(task.pod.priority for task in victims)
            earliest = min(started(task) for task in victims if task.pod.priority == highest)
            total = sum(task.pod.priority + _OFFSET for task in victims)
            return victims[0].pod.priority, total, len(victims), -earliest, name

        return min(candidates, key=harm)
