"""task-topology: tasks of one job on the same node, or on different ones, by role. Upstream: plugins/task-topology."""

import numpy as np

from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.plugins.nodes.task_buckets import JobBuckets, read_buckets, role_of

MAX_NODE_SCORE = 100


class TaskTopology(Plugin):
    """Places buckets of tasks."""

    name = "task-topology"

    def on_session_open(self) -> None:
        self._weight = self.arguments.integer("task-topology.weight", 1)
        self._jobs: dict[str, JobBuckets] = {}
        for job in self.session.jobs.values():
            buckets = read_buckets(job) if job.index.of(TaskStatus.PENDING) else None
            if buckets is not None:
                self._jobs[job.uid] = buckets
        self.add(Point.TASK_ORDER, self._task_order)
        self.add(Point.NODE_ORDER, self._score)
        self.session.subscribe(self)

    def _task_order(self, left: TaskInfo, right: TaskInfo) -> int:
        one, other = self._jobs.get(left.job), self._jobs.get(right.job)
        if one is None or other is None:
            return 0
        mine, theirs = one.find(left), other.find(right)
        if (mine is None) != (theirs is None):
            return 1 if mine is None else -1
        if left.job != right.job or mine is None or theirs is None:
            return 0
        if len(mine.tasks) != len(theirs.tasks):
            return -1 if len(mine.tasks) > len(theirs.tasks) else 1
        if mine.index == theirs.index:
            return -one.compare(left, right)
        return -1 if mine.index < theirs.index else 1

    def _score(self, task: TaskInfo, rows: Rows) -> Floats:
        buckets = self._jobs.get(task.job)
        nodes = self.session.node_list
        scores = np.asarray([float(self._of_node(task, nodes[row], buckets)) for row in rows.tolist()])
        if buckets is not None and buckets.largest:
            scores = scores * float(MAX_NODE_SCORE) / float(buckets.largest)
        return scores

    def _of_node(self, task: TaskInfo, node: NodeInfo, buckets: JobBuckets | None) -> int:
        """How many tasks of the bucket are on the node or would fit, less those the task wants to be away from."""
        most = node.idle.add(node.releasing)
        bucket = buckets.find(task) if buckets is not None else None
        if bucket is None or buckets is None or most.less_partly(task.resreq):
            return 0
        score = bucket.nodes.get(node.name, 0)
        on_node = buckets.on_nodes.get(node.name)
        if on_node is not None:
            score += min(buckets.wish(role_of(task), on_node, True), 0)
        score += len(bucket.tasks)
        if not bucket.request.less_equal(most):
            left = bucket.request.clone()
            for uid in sorted(bucket.tasks):
                if uid == task.uid:
                    continue
                left.sub(bucket.tasks[uid].resreq)
                score -= 1
                if left.less_equal(most):
                    break
        return score * self._weight

    def on_allocate(self, task: TaskInfo) -> None:
        buckets = self._jobs.get(task.job)
        if buckets is not None:
            buckets.bind(task)
