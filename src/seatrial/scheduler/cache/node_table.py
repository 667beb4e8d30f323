"""All nodes as columns. Plugins see `Nodes`: the whole table, some rows, or rows as they would be with other pods.

Rows never move; a removed node leaves a hole that a later one may fill. `order` is the permutation of rows that the
search follows. Every change of a row is written to a log, so that a cache of columns recomputes only those rows.

Upstream: pkg/scheduler/backend/cache (cache.go, snapshot.go).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.change_log import ChangeLog
from seatrial.scheduler.cache.node_columns import ImageColumns, LabelColumn, TaintSets
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_tree import NodeTree
from seatrial.scheduler.cache.pod_counts import PodCounts
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_requests import CPU, EPHEMERAL, MEMORY, PODS
from seatrial.scheduler.cache.pod_terms import PodMatcher, Taint
from seatrial.scheduler.cache.row_names import NodeNames, RowNames

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
NO_ROWS: Rows = np.zeros(0, np.intp)
NONZERO_CPU, NONZERO_MEMORY = "nonzero:cpu", "nonzero:memory"
FEW_ENTRIES = 8
"""Entries of the log among which it pays to look whether they are all of one row."""
S = TypeVar("S", bound=np.generic)
N = TypeVar("N", bound=np.signedinteger[Any])


class NodeTable:
    """The scheduler's copy of the cluster: nodes, and the pods bound or assumed to them."""

    def __init__(self) -> None:
        self.size = 0
        self.infos: list[NodeInfo | None] = []
        self.row_of: dict[str, int] = {}
        self.order: Rows = np.zeros(0, np.intp)
        self.labels: dict[str, LabelColumn] = {}
        self.taints = TaintSets()
        self.images = ImageColumns()
        self.counts = PodCounts(0)
        self.version = 0
        """Grows with every change of a node (not of pods)."""
        self.port_rows: dict[tuple[str, int], dict[int, int]] = {}
        self.row_versions: list[int] = []
        """Grow with every change of a row."""
        self._log: ChangeLog[int] = ChangeLog()
        self._free: list[int] = []
        self._homeless: dict[str, list[PodInfo]] = {}
        self._tree = NodeTree()
        self._listed: dict[str, int] = {}
        self._relist = False
        self._names: list[str] = []
        self._row_names = RowNames(np.zeros(0, object))
        core = (CPU, MEMORY, EPHEMERAL)
        self._allocatable: dict[str, Ints] = {name: np.zeros(0, np.int64) for name in (*core, PODS)}
        self._requested: dict[str, Ints] = {
            name: np.zeros(0, np.int64) for name in (*core, PODS, NONZERO_CPU, NONZERO_MEMORY)
        }
        self.unschedulable: Mask = np.zeros(0, np.bool_)
        self.alive: Mask = np.zeros(0, np.bool_)
        self.taint_set: Ids = np.zeros(0, np.int32)

    # -- nodes -------------------------------------------------------------------------------------------------

    def add_node(self, node: NodeInfo) -> int:
        """A node has come; pods that were bound to its name before count at once."""
        row = self._free.pop() if self._free else self._new_row()
        self.infos[row] = node
        self.row_of[node.name] = row
        self._tree.add(node.name, node.zone)
        self._relist = True
        self._write_node(row, node)
        for pod in self._homeless.pop(node.name, ()):
            self._put(pod, row)
        return row

    def update_node(self, node: NodeInfo) -> None:
        """A node has changed; it keeps its row and its pods."""
        row = self.row_of[node.name]
        old = self.info(row)
        if old.zone != node.zone:
            self._tree.remove(old.name, old.zone)
            self._tree.add(node.name, node.zone)
        node.pods, node.ports = old.pods, old.ports
        self.infos[row] = node
        # Plugins of users may read annotations, but no domain follows from them: the version stays as it is.
        self.version -= old.differs_only_in_annotations(node)
        self._write_node(row, node)

    def remove_node(self, name: str) -> None:
        """A node has gone; its pods wait for a node of that name."""
        row = self.row_of[name]
        node = self.info(row)
        pods = list(node.pods)
        for pod in pods:
            self._take(pod, row)
        if pods:
            self._homeless[name] = pods
        self._tree.remove(name, node.zone)
        self._relist = True
        self.images.forget(row)
        for column in self._allocatable.values():
            column[row] = 0
        for labels in self.labels.values():
            labels.write(row, {})
        self.alive[row] = False
        self.infos[row] = None
        del self.row_of[name]
        self._free.append(row)
        self._changed(row, True)

    # -- pods --------------------------------------------------------------------------------------------------

    def add_pod(self, pod: PodInfo) -> None:
        """A pod is bound or assumed to `pod.node`."""
        row = self.row_of.get(pod.node)
        if row is None:
            self._homeless.setdefault(pod.node, []).append(pod)
        else:
            self._put(pod, row)

    def remove_pod(self, pod: PodInfo) -> None:
        """A pod has gone from `pod.node`."""
        row = self.row_of.get(pod.node)
        if row is None:
            left = [other for other in self._homeless.pop(pod.node, ()) if other.uid != pod.uid]
            if left:
                self._homeless[pod.node] = left
        else:
            self._take(pod, row)

    def update_pod(self, old: PodInfo, new: PodInfo) -> None:
        """A bound pod has changed."""
        row = self.row_of.get(old.node)
        if row is None or not self._swap(old, new, row):
            self.remove_pod(old)
            self.add_pod(new)

    # -- reading -----------------------------------------------------------------------------------------------

    def info(self, row: int) -> NodeInfo:
        """The node of a row."""
        node = self.infos[row]
        assert node is not None
        return node

    def find(self, name: str) -> NodeInfo | None:
        """A node by name."""
        row = self.row_of.get(name)
        return None if row is None else self.infos[row]

    def refresh(self) -> None:
        """Takes the snapshot of a cycle: the order follows nodes that came or went, image counts their rows."""
        if self._relist:
            self._list_again()
        if self.images.is_stale:
            self.images.refresh()

    def _list_again(self) -> None:
        if len(self._listed) > len(self.row_of) or any(name not in self._listed for name in self.row_of):
            self._listed = dict.fromkeys(self._tree.names(), 0)
        self.order = np.fromiter((self.row_of[name] for name in self._listed), np.intp, len(self._listed))
        self._names = [self.info(row).name for row in self.order.tolist()]
        by_row = np.full(self.size, "", object)
        by_row[self.order] = self._names
        self._row_names = RowNames(by_row)
        self._relist = False

    def names(self) -> Sequence[str]:
        """The nodes in the order of the search."""
        return self._names

    def names_of(self, rows: Rows) -> NodeNames:
        """The names of some rows."""
        return NodeNames(self._row_names, rows)

    def all(self) -> "Nodes":
        """The whole table, one position per row, holes included."""
        return Nodes(self, None)

    def take(self, rows: Rows) -> "Nodes":
        """Some rows, in the order given."""
        return Nodes(self, rows)

    def what_if(
        self, rows: Rows, removed: Mapping[int, Sequence[PodInfo]], added: Mapping[int, Sequence[PodInfo]]
    ) -> "Nodes":
        """Some rows as they would be without some pods and with others, both by position in `rows`."""
        return Nodes(self, rows, removed, added)

    def changes(self, since: int) -> tuple[int, set[int] | None, set[int]]:
        """What happened after a mark: the new mark, rows of changed nodes (None: unknown), rows with other pods."""
        entries = self._log.since(since)
        if entries is None:
            return self.mark, None, set()
        return self.mark, {e >> 1 for e in entries if e & 1}, {e >> 1 for e in entries if not e & 1}

    def only_change(self, since: int) -> tuple[int, bool] | None:
        """The row that alone changed after a mark, and whether the node did or its pods; None where there is more."""
        number = self._log.number_since(since)
        if number is None or number > FEW_ENTRIES or len(entries := set(self._log.since(since) or ())) != 1:
            return None
        entry = entries.pop()
        return entry >> 1, bool(entry & 1)

    def entries(self, since: int) -> list[int] | None:
        """The log after a mark: twice the row, and 1 more if the node changed; None if it is not kept that far."""
        return self._log.since(since)

    @property
    def resources_asked(self) -> int:
        """The number of resources that pods have asked for so far: a column comes with each."""
        return len(self._requested)

    @property
    def mark(self) -> int:
        """The present end of the log of changes."""
        return self._log.mark

    def label(self, key: str) -> LabelColumn:
        """The values of a label, as small numbers per row."""
        column = self.labels.get(key)
        if column is None:
            column = self.labels[key] = LabelColumn(key, self.infos)
        return column

    def allocatable_column(self, resource: str) -> Ints:
        column = self._allocatable.get(resource)
        return np.zeros(self.size, np.int64) if column is None else column[: self.size]

    def requested_column(self, resource: str) -> Ints:
        column = self._requested.get(resource)
        return np.zeros(self.size, np.int64) if column is None else column[: self.size]

    def amounts_of_row(self, row: int, offered: str, asked: str) -> tuple[int, int]:
        """What one node offers of a resource, and what its pods ask for under a name."""
        first, second = self._allocatable.get(offered), self._requested.get(asked)
        return 0 if first is None else first.item(row), 0 if second is None else second.item(row)

    def cells(self, offered: str, asked: str) -> tuple["memoryview[int]", "memoryview[int]"] | None:
        """What nodes offer of a resource and what their pods ask for under a name, for reading single rows quickly.

        Good until the size of the table changes; None where one of them has no column yet.
        """
        first, second = self._allocatable.get(offered), self._requested.get(asked)
        return None if first is None or second is None else (first.data, second.data)

    # -- rows --------------------------------------------------------------------------------------------------

    def _new_row(self) -> int:
        row = self.size
        self.size += 1
        self.infos.append(None)
        self.row_versions.append(0)
        if row >= len(self.unschedulable):
            self._grow(max(64, 2 * row))
        return row

    def _grow(self, rows: int) -> None:
        for group in (self._allocatable, self._requested):
            for name, column in group.items():
                group[name] = np.concatenate((column, np.zeros(rows - len(column), np.int64)))
        self.unschedulable = np.concatenate((self.unschedulable, np.zeros(rows - len(self.unschedulable), np.bool_)))
        self.alive = np.concatenate((self.alive, np.zeros(rows - len(self.alive), np.bool_)))
        self.taint_set = np.concatenate((self.taint_set, np.zeros(rows - len(self.taint_set), np.int32)))
        self.counts.grow(rows)

    def _write_node(self, row: int, node: NodeInfo) -> None:
        for name in node.allocatable:
            if name not in self._allocatable:
                self._allocatable[name] = np.zeros(len(self.unschedulable), np.int64)
        for name, column in self._allocatable.items():
            column[row] = node.allocatable.get(name, 0)
        self.alive[row] = True
        self.unschedulable[row] = node.unschedulable
        self.taint_set[row] = self.taints.number(node.taints)
        for labels in self.labels.values():
            labels.write(row, node.labels)
        self.images.write(row, node)
        self._changed(row, True)

    def _put(self, pod: PodInfo, row: int) -> None:
        self.info(row).add(pod)
        self._charge(pod, row, 1)
        self.counts.add(pod, row)
        for protocol, _, port in pod.shape.host_ports:
            places = self.port_rows.setdefault((protocol, port), {})
            places[row] = places.get(row, 0) + 1
        self._changed(row, False)

    def _swap(self, old: PodInfo, new: PodInfo, row: int) -> bool:
        """Puts a pod in the place of another that differs in its labels at most; False where it is no such case.

        A pod takes over labels of its node when it is bound, right after it was assumed: then it is the last one.
        """
        pods = self.info(row).pods
        if not pods or pods[-1].uid != old.uid or new.node != old.node or new.requests is not old.requests:
            return False
        present = pods[-1]
        if present.requests is not new.requests or present.shape.host_ports != new.shape.host_ports:
            return False
        pods[-1] = new
        if present.shape is not new.shape or present.deleting != new.deleting:
            self.counts.replace(present, new, row)
        self._changed(row, False)
        return True

    def _take(self, pod: PodInfo, row: int) -> None:
        node = self.info(row)
        present = next((other for other in node.pods if other.uid == pod.uid), None)
        if present is None:
            return
        node.remove(present)
        self._charge(present, row, -1)
        self.counts.remove(present, row)
        for protocol, _, port in present.shape.host_ports:
            places = self.port_rows[protocol, port]
            places[row] -= 1
            if not places[row]:
                del places[row]
        self._changed(row, False)

    def _charge(self, pod: PodInfo, row: int, sign: int) -> None:
        requested, wanted = self._requested, pod.requests
        requested[PODS][row] += sign
        requested[CPU][row] += sign * wanted.cpu
        requested[MEMORY][row] += sign * wanted.memory
        requested[NONZERO_CPU][row] += sign * wanted.nonzero_cpu
        requested[NONZERO_MEMORY][row] += sign * wanted.nonzero_memory
        if wanted.ephemeral:
            requested[EPHEMERAL][row] += sign * wanted.ephemeral
        for name, amount in wanted.scalars.items():
            if name not in requested:
                requested[name] = np.zeros(len(self.unschedulable), np.int64)
            requested[name][row] += sign * amount

    def _changed(self, row: int, node: bool) -> None:
        self._log.append(row << 1 | node)
        self.row_versions[row] += 1
        self.version += node
        self.images.touch(row)


class Nodes(Sequence[NodeInfo]):
    """What a plugin sees: columns parallel to some nodes. They must not be changed.

    `rows` maps positions to rows of the table; for the whole table positions are rows. Holes of the whole table are
    there with nothing allocatable: what plugins say about them is never read.
    """

    has_images = True

    def __init__(
        self,
        table: NodeTable,
        rows: Rows | None,
        removed: Mapping[int, Sequence[PodInfo]] | None = None,
        added: Mapping[int, Sequence[PodInfo]] | None = None,
    ) -> None:
        self.table = table
        self._rows = rows
        self.removed = removed or {}
        self.added = {place: list(pods) for place, pods in added.items()} if added else {}
        self.is_whole = rows is None
        self.is_imagined = removed is not None or added is not None
        """Whether pods may differ from the table's."""
        self._made: dict[object, tuple[NDArray[Any], Callable[[PodInfo], int]]] = {}

    @property
    def rows(self) -> Rows:
        return np.arange(self.table.size) if self._rows is None else self._rows

    def __len__(self) -> int:
        return self.table.size if self._rows is None else len(self._rows)

    @overload
    def __getitem__(self, position: int) -> NodeInfo: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[NodeInfo]: ...
    def __getitem__(self, position: int | slice) -> NodeInfo | Sequence[NodeInfo]:
        if isinstance(position, slice):
            return [self[place] for place in range(len(self))[position]]
        node = self.table.info(int(self._rows[position]) if self._rows is not None else position)
        removed, added = self.removed.get(position, ()), self.added.get(position, ())
        return node.changed(removed, added) if removed or added else node

    def put(self, position: int, pod: PodInfo) -> None:
        """Imagines one more pod on a node."""
        self.added.setdefault(position, []).append(pod)
        for column, amount in self._made.values():
            column[position] += amount(pod)

    def take_back(self, position: int) -> PodInfo:
        """Undoes the last `put` on a node."""
        pod = self.added[position].pop()
        for column, amount in self._made.values():
            column[position] -= amount(pod)
        return pod

    def is_there(self, position: int) -> bool:
        """False for a hole of the whole table."""
        return self._rows is not None or self.table.infos[position] is not None

    def allocatable(self, resource: str) -> Ints:
        """What the nodes offer of a resource (cpu in thousandths; `pods` is the number allowed)."""
        return self._pick(self.table.allocatable_column(resource))

    def requested(self, resource: str) -> Ints:
        """What the pods on the nodes ask for; `pods` is their number."""
        column = self.table.requested_column(resource)
        if not self.is_imagined:
            return self._pick(column)
        return self._adjusted(resource, column, lambda pod: 1 if resource == PODS else pod.requests.of(resource))

    def nonzero_requested(self, resource: str) -> Ints:
        """The same for cpu and memory, with a default for containers that ask for nothing."""
        name = NONZERO_CPU if resource == CPU else NONZERO_MEMORY
        column = self.table.requested_column(name)
        if not self.is_imagined:
            return self._pick(column)
        if resource == CPU:
            return self._adjusted(name, column, lambda pod: pod.requests.nonzero_cpu)
        return self._adjusted(name, column, lambda pod: pod.requests.nonzero_memory)

    @property
    def unschedulable(self) -> Mask:
        return self._pick(self.table.unschedulable[: self.table.size])

    @property
    def taint_set(self) -> Ids:
        """The number of each node's set of taints; `taint_sets` says what it is."""
        return self._pick(self.table.taint_set[: self.table.size])

    @property
    def taint_sets(self) -> Sequence[tuple[Taint, ...]]:
        return self.table.taints.sets

    def label(self, key: str) -> Ids:
        """The number of each node's value of a label, -1 without the label; numbers are `table.label(key)`'s."""
        return self._pick(self.table.label(key).ids[: self.table.size])

    def matching(self, matcher: PodMatcher, staying_only: bool = False) -> NDArray[np.int32]:
        """How many pods of each node the matcher picks; `staying_only` leaves out those being deleted."""
        column = self.table.counts.matching(matcher, staying_only).rows[: self.table.size]
        if not self.is_imagined:
            return self._pick(column)
        return self._adjusted(
            (matcher, staying_only),
            column,
            lambda pod: int(matcher.matches(pod.namespace, pod.labels) and not (staying_only and pod.deleting)),
        )

    def _pick(self, column: NDArray[S]) -> NDArray[S]:
        return column if self._rows is None else column[self._rows]

    def _adjusted(self, key: object, column: NDArray[N], amount: Callable[[PodInfo], int]) -> NDArray[N]:
        """A column with the imagined pods, kept for the next question and changed by `put` and `take_back`."""
        known = self._made.get(key)
        if known is None:
            base = self._pick(column).copy()
            if self.removed:
                base[list(self.removed)] -= [sum([amount(pod) for pod in pods]) for pods in self.removed.values()]
            if self.added:
                base[list(self.added)] += [sum([amount(pod) for pod in pods]) for pods in self.added.values()]
            known = self._made[key] = (base, amount)
        return known[0]
