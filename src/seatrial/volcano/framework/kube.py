"""The one door to the scheduler room: its node table, and its filters and scores as columns for Volcano's plugins.

Volcano runs kube-scheduler's own plugins on a snapshot of nodes and pods of its session. Here they run on the node
table; what depends on a pod's shape and one row alone is kept and only changed rows are asked for again.

Upstream: pkg/scheduler/plugins/util/k8s, pkg/scheduler/plugins/util/nodescore.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seatrial.model.documents import Document, encode
from seatrial.scheduler.cache import Nodes, NodeTable, PodInfo, PodShape
from seatrial.scheduler.framework import (
    MISSING,
    Code,
    FilterCall,
    Handle,
    Narrowed,
    ObjectLister,
    Plugin,
    Reads,
    ScoreCall,
    Status,
    Verdicts,
)
from seatrial.scheduler.plugins import load
from seatrial.scheduler.versions import find_version
from seatrial.volcano.cache.fit_errors import FITS, REJECTED, UNRESOLVABLE, FitStatus, Severities, Statuses
from seatrial.volcano.cache.node_columns import Floats, Rows
from seatrial.volcano.cache.node_info import NodeInfo
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.kept_columns import Columns

SKIPPED = object()
"""The state of a plugin that does not score a pod."""


class NoNominator:
    """Volcano's filters do not look at nominated pods."""

    changes = 0

    def nominated_to(self, node: str) -> Sequence[PodInfo]:
        return ()

    def changed_since(self, changes: int) -> Sequence[str] | None:
        return ()

    def node_of(self, pod: PodInfo) -> str:
        return ""

    def nominated_nodes(self) -> Sequence[str]:
        return ()


@dataclass(frozen=True, slots=True)
class KubeColumns:
    """Kept columns: of what depends on nodes alone, which do not change in a session, and on the pods on them too."""

    by_node: Columns
    by_row: Columns

    def of(self, plugin: Plugin) -> Columns | None:
        """Where a plugin's columns are kept; None where they depend on more than their rows."""
        if plugin.reads == Reads.CLUSTER:
            return None
        return self.by_node if plugin.reads == Reads.NODE else self.by_row


@dataclass(slots=True)
class CycleState:
    """What PreFilter left behind for a task. A plugin that skipped once stays skipped for the session."""

    states: dict[str, Any] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    is_prepared: bool = False
    """Whether every PreFilter has run."""


class KubeSnapshot:
    """Nodes and the pods on them as kube-scheduler's plugins see them; rows are those of the session's nodes."""

    def __init__(self, nodes: Sequence[NodeInfo], cluster: ObjectLister, now: int, version: str) -> None:
        self.table = NodeTable()
        for node in nodes:
            self.table.add_node(node.kube.copy())
        for node in nodes:
            for task, _ in node.listed():
                self.table.add_pod(task.pod.on(node.name))
        self.table.refresh()
        self.handle = Handle(cluster, self.table, NoNominator(), now=lambda: now, version=find_version(version))

    def add(self, task: TaskInfo, node: str) -> None:
        self.table.add_pod(task.pod.on(node))

    def remove(self, task: TaskInfo, node: str) -> None:
        self.table.remove_pod(task.pod.on(node))

    def put_back(self, task: TaskInfo, node: str) -> None:
        """Puts a pod where it was, unless it is there."""
        info = self.table.find(node)
        if info is not None and not any(pod.uid == task.uid for pod in info.pods):
            self.add(task, node)

    def plugin(self, name: str, args: Document | None = None) -> Plugin:
        """A plugin of kube-scheduler with its arguments."""
        kind = load(name)
        assert kind is not None
        return kind(args, self.handle)

    def changes(self, since: int) -> tuple[int, list[int] | None]:
        """The rows that changed after a mark."""
        if since < 0:
            return self.table.mark, None
        if since == self.table.mark:
            return since, []
        only = self.table.only_change(since)
        if only is not None:
            return self.table.mark, [only[0]]
        now, nodes, pods = self.table.changes(since)
        return now, None if nodes is None else sorted(nodes | pods)


class Filter:
    """One kube-scheduler filter over all nodes."""

    def __init__(self, plugin: Plugin, snapshot: KubeSnapshot, columns: KubeColumns) -> None:
        self.plugin = plugin
        self.name = plugin.name
        self._call = FilterCall(plugin)
        self._table = snapshot.table
        self._columns = None if self._call.one_by_one else columns.of(plugin)
        self._pre_filter = getattr(plugin, "pre_filter", None)
        self.pre_filters = self._pre_filter is not None
        self._answers: dict[bytes, Any] = {}
        """What PreFilter of a plugin that reads no other pods says, by spec."""

    @property
    def reads_nodes_alone(self) -> bool:
        """Whether verdicts change neither with pods nor with other objects."""
        return self._columns is not None and self.plugin.reads == Reads.NODE and self.plugin.depends_on() is None

    def pre_filter(self, task: TaskInfo, state: CycleState) -> Status | None:
        """Runs PreFilter; the status of a failure, None otherwise."""
        if self._pre_filter is None:
            return None
        if self._columns is None:
            answer = self._pre_filter(task.pod, self._table.all())
        else:
            key = spec_key(task.pod.shape)
            answer = self._answers.get(key, MISSING)
            if answer is MISSING:
                answer = self._answers[key] = self._pre_filter(task.pod, self._table.all())
        if isinstance(answer, Status) and answer.code == Code.SKIP:
            state.skipped.add(self.name)
            return None
        if isinstance(answer, Status) and not answer.is_success:
            return answer
        state.states[self.name] = answer.state if isinstance(answer, Narrowed) else answer
        return None

    def severity(self, task: TaskInfo, state: CycleState) -> Severities | None:
        """How unfit each node is; None where all fit."""
        if self.name in state.skipped:
            return None

        def compute(rows: Rows | None) -> Severities:
            nodes = self._table.all() if rows is None else self._table.take(rows)
            return severity_of(self._call(task.pod, nodes, state.states.get(self.name, MISSING)), len(nodes))

        if self._columns is None:
            return compute(None)
        # A filter that is asked before its PreFilter has run may say something else.
        key = self.plugin, spec_key(task.pod.shape), self.plugin.depends_on(), self.name in state.states
        return self._columns.get(key, compute)

    def verdicts(self, task: TaskInfo, state: CycleState) -> Verdicts | None:
        """The verdicts of this moment in full; None where all nodes pass."""
        if self.name in state.skipped:
            return None
        return self._call(task.pod, self._table.all(), state.states.get(self.name, MISSING))


class Score:
    """One kube-scheduler score with its weight, normalised over the candidates."""

    def __init__(self, plugin: Plugin, weight: int, snapshot: KubeSnapshot, columns: KubeColumns) -> None:
        self.plugin = plugin
        self.weight = weight
        self._call = ScoreCall(plugin, weight)
        self._table = snapshot.table
        self._columns = None if self._call.one_by_one else columns.of(plugin)
        self._pre_score = getattr(plugin, "pre_score", None)
        self._score_row: Callable[..., int] | None = getattr(plugin, "score_row", None)
        self._states: dict[bytes, Any] = {}
        """What PreScore of a plugin that reads no other pods says, by spec."""

    @property
    def is_kept(self) -> bool:
        """Whether a score depends on the spec of the pod and on the node alone, until it is normalised."""
        return self._columns is not None

    @property
    def is_normalized(self) -> bool:
        return self._call.normalize is not None

    def __call__(self, task: TaskInfo, rows: Rows, nodes: Nodes) -> Floats | None:
        """Weighted scores of some rows, which `nodes` has; None where the plugin does not score this pod."""
        pod = task.pod
        state = self.state(pod, nodes)
        if state is SKIPPED:
            return None
        raw = self._raw(pod, rows, nodes, state)
        if self._call.normalize is not None:
            raw = self._call.normalize(pod, nodes, raw, state)
        return np.asarray(raw * self.weight, np.float64)

    def state(self, pod: PodInfo, nodes: Nodes) -> Any:
        """What PreScore says; SKIPPED where the plugin does not score this pod."""
        state = MISSING if self._pre_score is None else self._prepared(pod, nodes)
        if isinstance(state, Status):
            return SKIPPED if state.code == Code.SKIP else None
        return state

    def weighted(self, pod: PodInfo, nodes: Nodes, state: Any) -> Any:
        """Weighted scores before they are normalised."""
        answer = self._call(pod, nodes, state)
        return 0 if answer is None else answer * self.weight

    def of_row(self, state: Any) -> Callable[[PodInfo, int], int] | None:
        """The same for one row; None where the plugin scores only many."""
        score_row, table, weight = self._score_row, self._table, self.weight
        prepare = getattr(self.plugin, "score_rows", None)
        prepared = None if prepare is None else prepare(table, state)
        if prepared is not None:
            return lambda _, row: prepared(row) * weight
        return None if score_row is None else lambda pod, row: score_row(pod, table, row, state) * weight

    def level(self, pod: PodInfo, state: Any) -> float | None:
        """The weighted and normalised score of a plugin that scores nodes without regard to the pod; None otherwise."""
        if self.plugin.reads != Reads.NODE or self._call.normalize is None:
            return None
        nodes = self._table.all()
        raw = self._all(pod, nodes, state)
        if not len(raw) or raw.min() != raw.max():
            return None
        return float(self._call.normalize(pod, nodes, raw, state)[0] * self.weight)

    def _prepared(self, pod: PodInfo, nodes: Nodes) -> Any:
        assert self._pre_score is not None
        if self._columns is None:
            return self._pre_score(pod, nodes)
        key = spec_key(pod.shape)
        state = self._states.get(key, MISSING)
        if state is MISSING:
            state = self._states[key] = self._pre_score(pod, nodes)
        return state

    def _raw(self, pod: PodInfo, rows: Rows, nodes: Nodes, state: Any) -> Any:
        score_row, table = self._score_row, self._table
        if self._columns is None:
            return self._all(pod, nodes, state)

        def compute(some: Rows | None) -> Any:
            return self._all(pod, table.all() if some is None else table.take(some), state)

        one = None if score_row is None else lambda row: score_row(pod, table, row, state)
        key = state if self.plugin.by_state else spec_key(pod.shape)
        return self._columns.get((self.plugin, key, self.plugin.depends_on()), compute, one)[rows]

    def _all(self, pod: PodInfo, nodes: Nodes, state: Any) -> Any:
        """The scores of nodes before they are normalised; zeros where the plugin gives none."""
        answer = self._call(pod, nodes, state)
        return np.zeros(len(nodes), np.int64) if answer is None else answer


_READ = ("tolerations", "nodeSelector", "affinity", "volumes", "overhead", "resources", "resourceClaims", "hostNetwork")
_READ_OF_CONTAINERS = ("image", "resources", "ports", "restartPolicy")


def spec_key(shape: PodShape) -> bytes:
    """The part of a spec that filters and scores of a single row read; pods of many jobs have it in common."""
    notes = shape.shared.notes
    key: bytes | None = notes.get(spec_key)
    if key is None:
        spec = shape.spec
        read: Document = {name: spec[name] for name in _READ if name in spec}
        for part in ("containers", "initContainers"):
            containers = spec.get(part) or ()
            read[part] = [[container.get(name) for name in _READ_OF_CONTAINERS] for container in containers]
        key = notes[spec_key] = encode(read)
    return key


def severity_of(verdicts: Verdicts | None, size: int) -> Severities:
    """How unfit nodes are by a plugin's verdicts."""
    severities = np.zeros(size, np.int8)
    if verdicts is None:
        return severities
    codes = verdicts.codes
    for code in set(codes[codes != 0].tolist()):
        severities[codes == code] = _severity(verdicts.meaning(code).code)
    return severities


def fit_statuses(verdicts: Mapping[str, Verdicts], row: int) -> Statuses:
    """What filters say about one node, in order, until one forbids it for good."""
    found = []
    for name, answer in verdicts.items():
        status = answer.status(row)
        if status.is_success:
            continue
        found.append(FitStatus(status.code, status.message, name))
        if found[-1].aborts:
            break
    return found


def _severity(code: Code) -> int:
    if code == Code.SUCCESS:
        return FITS
    return REJECTED if code == Code.UNSCHEDULABLE else UNRESOLVABLE
