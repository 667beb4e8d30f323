"""A session: one scheduling cycle's view of the cluster, and everything decided in it.

Upstream: pkg/scheduler/framework/session.go, framework.go.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seatrial.controllers.framework import EventType
from seatrial.scheduler.extender import HttpTransport, Transport
from seatrial.scheduler.framework import Code
from seatrial.volcano.cache.cluster_info import ClusterInfo, total_resource
from seatrial.volcano.cache.fit_errors import (
    REJECTED,
    FitStatus,
    Judgement,
    Severities,
    Statuses,
    insufficient,
)
from seatrial.volcano.cache.hyper_node_info import CLUSTER_TOP
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_columns import Columns as Amounts
from seatrial.volcano.cache.node_columns import Floats, Mask, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus
from seatrial.volcano.config.scheduler_conf import SchedulerConf
from seatrial.volcano.framework.events import NORMAL, SessionEvent
from seatrial.volcano.framework.extension_points import Point
from seatrial.volcano.framework.kept_columns import Columns, KeptColumns, PlainColumns, logged
from seatrial.volcano.framework.kube import KubeColumns, KubeSnapshot
from seatrial.volcano.framework.node_search import NodeSearch, RotatingStart, SearchOptions
from seatrial.volcano.framework.plugin import Plugin, ScoringError
from seatrial.volcano.framework.session_plugins import SessionPlugins
from seatrial.volcano.framework.statement import Statement
from seatrial.volcano.framework.topology import prepare_topology
from seatrial.volcano.metrics.measures import Measures, NoMeasures

Pick = Callable[[Sequence[str]], str]
"""Chooses among names that are equally good."""


@dataclass(slots=True)
class SessionOptions:
    """Options of a session that are not in its configuration."""

    keeps_columns: bool = True
    """False: every column is computed whenever it is asked for."""
    search: SearchOptions = field(default_factory=SearchOptions)
    start: RotatingStart = field(default_factory=RotatingStart)
    pick: Pick = min
    """Which of several equal nodes or HyperNodes is taken; the lowest name by default."""
    memory: dict[str, object] = field(default_factory=dict)
    """What plugins keep from one session to the next."""
    transport: Callable[[], Transport] = HttpTransport
    """Makes the connection through which extenders are asked."""
    events: bool = True
    """False: nothing reads the events of the session, and it has none."""
    keys_jobs: bool = True
    """False: jobs are ordered by asking the plugins about two at a time, as upstream does."""
    explains: bool = False
    """Whether every plugin that keeps a job out is noted, not only the first."""
    measures: Measures = field(default_factory=NoMeasures)
    """What durations and counts are told to."""


class Session(SessionPlugins):
    """The state of one cycle."""

    def __init__(
        self, uid: str, cluster: ClusterInfo, conf: SchedulerConf, options: SessionOptions | None = None
    ) -> None:
        super().__init__(conf)
        self.uid = uid
        self.cluster = cluster
        self.options = options or SessionOptions()
        self.asks_all = self.options.explains
        self.measures = self.options.measures
        self.keys_jobs = self.options.keys_jobs
        self.now = cluster.now
        self.jobs = cluster.jobs
        self.queues = cluster.queues
        self.node_list = cluster.nodes
        self.nodes = {node.name: node for node in cluster.nodes}
        self.hyper_nodes = cluster.hyper_nodes
        self.columns = cluster.columns
        self.total_resource = total_resource(cluster.nodes)
        self.all_rows: Rows = np.arange(len(cluster.nodes))
        names = sorted(self.nodes)
        rank = {name: place for place, name in enumerate(names)}
        self._name_rank = np.asarray([rank[node.name] for node in cluster.nodes], np.int64)
        self.kube = KubeSnapshot(cluster.nodes, cluster.objects, cluster.now, conf.version.kubernetes)
        kind = KeptColumns if self.options.keeps_columns else PlainColumns
        self.kept: Columns = kind(logged(self.columns.log))
        """Columns derived from what nodes have left."""
        self.kube_kept = KubeColumns(kind(lambda since: (0, [])), kind(self.kube.changes))
        self.binds: list[TaskInfo] = []
        self.evictions: list[tuple[TaskInfo, str]] = []
        self.events: list[SessionEvent] = []
        self.dirty_jobs: set[str] = set()
        self.notes: dict[str, Any] = {}
        """What plugins share in this session."""
        self._handlers: list[Plugin] = []
        self._to_allocate: tuple[bytes, bytes, Severities] | None = None
        self.plugins: dict[str, Plugin] = {}
        prepare_topology(self)

    def open(self, plugins: Mapping[str, type[Plugin]]) -> None:
        """Makes the plugins of the configuration, tier by tier, and lets them register."""
        for tier in self.conf.tiers:
            for option in tier:
                kind = plugins.get(option.name)
                if kind is not None:
                    plugin = self.plugins[option.name] = kind(option.arguments, self)
                    with self.measures.timed("plugin_scheduling_latency_milliseconds", option.name, "OnSessionOpen"):
                        plugin.on_session_open()

    def release(self) -> None:
        """Drops what refers back to the session, so that it is freed at once and not by the garbage collector."""
        self.forget()
        self.plugins.clear()
        self._handlers.clear()
        del self.kept, self.kube_kept

    def subscribe(self, plugin: Plugin) -> None:
        """Tells a plugin about every allocation and deallocation from now on."""
        self._handlers.append(plugin)

    # -- changes -----------------------------------------------------------------------------------------------

    def statement(self) -> Statement:
        return Statement(self)

    def set_status(self, task: TaskInfo, status: TaskStatus) -> None:
        job = self.jobs.get(task.job)
        if job is not None:
            job.update_status(task, status)

    def allocated(self, task: TaskInfo) -> bool:
        """Tells plugins that a task got resources; False where one could not reserve them."""
        done = True
        for plugin in self._handlers:
            done &= plugin.on_allocate(task) is not False
        return done

    def deallocated(self, task: TaskInfo) -> None:
        """Tells plugins that a task gave resources back."""
        for plugin in self._handlers:
            plugin.on_deallocate(task)

    def bind(self, task: TaskInfo) -> None:
        """Sends a task to its node."""
        self.binds.append(task)
        self.measures.reached("Assumed", task.pod.created)
        self.set_status(task, TaskStatus.BINDING)

    def allocate(self, task: TaskInfo, node: NodeInfo) -> None:
        """Allocates a task outside a statement; once its job is ready, all allocated tasks of the job are bound."""
        job = self.jobs[task.job]
        self.set_status(task, TaskStatus.ALLOCATED)
        task.node_name = node.name
        node.add_task(task)
        self.allocated(task)
        if self.job_ready(job):
            for ready in job.index.listed(TaskStatus.ALLOCATED):
                self.bind(ready)

    def carry_out_eviction(self, task: TaskInfo, reason: str) -> None:
        """Sends a task off its node."""
        self.evictions.append((task, reason))
        self.record(self.jobs[task.job], NORMAL, "Evict", reason)

    def evict(self, task: TaskInfo, reason: str) -> None:
        """Evicts a task at once."""
        self.carry_out_eviction(task, reason)
        self.set_status(task, TaskStatus.RELEASING)
        node = self.nodes.get(task.node_name)
        if node is not None:
            node.update_task(task)
        self.deallocated(task)

    def record(self, job: JobInfo, type: EventType, reason: str, message: str) -> None:
        """An event on a job's PodGroup."""
        if self.options.events and not self.is_asking:
            self.events.append(SessionEvent("PodGroup", job.uid, type, reason, message))

    # -- nodes -------------------------------------------------------------------------------------------------

    def queue_metrics(self) -> dict[str, dict[str, float]]:
        """What plugins export about queues."""
        found: dict[str, dict[str, float]] = {}
        for plugin in self.plugins.values():
            for queue, metrics in plugin.queue_metrics().items():
                found.setdefault(queue, {}).update(metrics)
        if not self.conf.version.rules.has_newest_metrics:
            for metrics in found.values():
                for name in [each for each in metrics if each.startswith("inqueue_")]:
                    del metrics[name]
        return found

    def rows_of(self, hyper_node: str) -> Rows:
        """The rows of the nodes in a HyperNode."""
        if hyper_node == CLUSTER_TOP:
            return self.all_rows
        nodes = self.hyper_nodes.real_nodes.get(hyper_node, ())
        return np.asarray([node.row for node in nodes], np.intp)

    def search(self, remembers: bool = True) -> NodeSearch:
        """A search for nodes; `remembers` failures of a task role."""
        return NodeSearch(self.all_rows, self.options.start, self.options.search, remembers)

    def pre_predicate(self, task: TaskInfo) -> str:
        """Why a task fits nowhere, whatever the node; empty where nothing is known against it."""
        for _, fn in self.fns(Point.PRE_PREDICATE):
            error: str = fn(task)
            if error:
                return error
        return ""

    def fits_idle(self, task: TaskInfo) -> Mask:
        """The nodes with enough idle resources for a task."""
        return self._fits("idle", task, self.columns.idle)

    def fits_future(self, task: TaskInfo) -> Mask:
        """The nodes that will have enough once what is being released is free."""
        return self._fits("future", task, self.columns.future)

    def _fits(self, kind: str, task: TaskInfo, amounts: Amounts) -> Mask:
        columns, request = self.columns, task.resreq
        fits: Mask = self.kept.get(
            (kind, task.request_key),
            lambda rows: columns.fits(request, amounts, rows),
            lambda row: columns.covers(request, amounts, row),
        )
        return fits

    def severity(self, task: TaskInfo, among: Mask | None = None) -> Severities:
        """How unfit each node is by the predicates; the first plugin that rejects a node decides.

        `among`: the nodes that upstream asks about, where it matters to a plugin which nodes passed.
        """
        total: Severities | None = None
        for _, predicate in self.fns(Point.PREDICATE):
            found = predicate.severity(task)
            if found is not None:
                total = found if total is None else np.where(total, total, found)
            passed = getattr(predicate, "passed", None)
            if passed is not None:
                fits = np.ones(len(self.node_list), np.bool_) if total is None else total == 0
                passed(task, np.flatnonzero(fits if among is None else fits & among))
        return np.zeros(len(self.node_list), np.int8) if total is None else total

    def severity_to_allocate(self, task: TaskInfo) -> Severities:
        """The same, where a node must also have the resources at last."""
        fits = self.fits_future(task)
        severity = self.severity(task, fits)
        now, known = (fits.tobytes(), severity.tobytes()), self._to_allocate
        if known is None or known[:2] != now:
            known = self._to_allocate = (*now, np.where(fits, severity, np.int8(REJECTED)))
        return known[2]

    def judge(self, task: TaskInfo) -> Judgement:
        """What the predicates say at this moment, in words."""
        severity = self.severity(task, np.zeros(len(self.node_list), np.bool_)).copy()
        explanations = [predicate.explain(task) for _, predicate in self.fns(Point.PREDICATE)]
        return Judgement(severity, lambda row: next((s for explain in explanations if (s := explain(row))), ()))

    def judge_to_allocate(self, task: TaskInfo) -> Judgement:
        """The same with missing resources."""
        plain = self.judge(task)
        fits = self.fits_future(task).copy()
        future = {name: column.copy() for name, column in self.columns.future.items()}

        def explain(row: int) -> Statuses:
            if fits[row]:
                return plain.statuses(row)
            names = self.columns.short(task.resreq, future, row)
            return (FitStatus(Code.UNSCHEDULABLE, insufficient(names)),)

        return Judgement(np.where(fits, plain.severity, np.int8(REJECTED)), explain)

    def predicate(self, task: TaskInfo, node: NodeInfo) -> int:
        """How unfit one node is by the predicates."""
        return int(self.severity(task, self.all_rows == node.row)[node.row])

    def rows_worth_evicting(self, task: TaskInfo) -> Rows:
        """The nodes that evictions may make fit, by what allocate found out."""
        errors = self.jobs[task.job].nodes_fit_errors.get(task.uid)
        hopeless = errors.unresolvable_rows() if errors else ()
        if not hopeless:
            return self.all_rows
        return np.asarray([row for row in self.all_rows.tolist() if row not in hopeless], np.intp)

    def scores(self, task: TaskInfo, rows: Rows) -> Floats:
        """The total score of each candidate."""
        with self.measures.timed("scheduling_stage_duration_milliseconds", "Scoring"):
            order = self._sum(Point.NODE_ORDER, task, rows)
            batch = self._sum(Point.BATCH_NODE_ORDER, task, rows)
        if order is None or batch is None:
            return _given(batch if order is None else order, rows)
        return order + batch

    def node_scores(self, task: TaskInfo, rows: Rows) -> Floats:
        """The part of the scores that plugins give node by node."""
        return _given(self._sum(Point.NODE_ORDER, task, rows), rows)

    def batch_scores(self, task: TaskInfo, rows: Rows) -> Floats:
        """The part of the scores that plugins give to all candidates at once."""
        return _given(self._sum(Point.BATCH_NODE_ORDER, task, rows), rows)

    def _sum(self, point: Point, task: TaskInfo, rows: Rows) -> Floats | None:
        """The scores of all plugins; None where none scores the task."""
        total: Floats | None = None
        for _, fn in self.fns(point):
            found: Floats | None = fn(task, rows)
            if found is not None:
                total = found if total is None else total + found
        return total

    def best_node(self, task: TaskInfo, rows: Rows) -> NodeInfo | None:
        """The candidate with the highest score; None where a plugin could not score them."""
        try:
            scores = self.scores(task, rows)
        except ScoringError:
            return None
        best = rows[scores == np.maximum.reduce(scores)]
        if len(best) == 1:
            return self.node_list[int(best[0])]
        if self.options.pick is min:
            return self.node_list[int(best[self._name_rank[best].argmin()])]
        return self.nodes[self.options.pick(sorted(self.node_list[row].name for row in best.tolist()))]

    def by_score(self, task: TaskInfo, rows: Rows) -> list[NodeInfo]:
        """The candidates, best first; equal ones keep their order. Empty where a plugin could not score them."""
        if not len(rows):
            return []
        try:
            scores = self.scores(task, rows)
        except ScoringError:
            return []
        order = np.argsort(-scores, kind="stable")
        return [self.node_list[row] for row in rows[order].tolist()]


def _given(scores: Floats | None, rows: Rows) -> Floats:
    return np.zeros(len(rows)) if scores is None else scores
