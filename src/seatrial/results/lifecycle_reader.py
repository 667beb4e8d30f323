"""Reads the lifecycles of all nodes and pods from the timeline of a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import msgspec
import polars as pl

from seatrial.results.entries import READ_OF_WRITES, Entry, entries_of_table
from seatrial.results.lifecycles import NodeLife, PodLife, amounts_of, requests_of_pod
from seatrial.scheduler import WAITING
from seatrial.store.views import OwnerReference
from seatrial.timeline import TimelineReader

FINISHED = ("Succeeded", "Failed")
SNAPSHOT = "snapshot"
"""The writer of objects that existed before the first step."""
BROUGHT = ("created", "bound", "ended")
MIRROR = "kubernetes.io/config.mirror"
"""The annotation of the object that shows a static pod of a kubelet."""
ATTEMPT = pl.col("entry") == "attempt"
PREEMPTS = ATTEMPT & (pl.col("victims").list.len().fill_null(0) > 0)
OF_ATTEMPTS = ("major", "outcome", "visited", "feasible")
KEY = ("namespace", "name")
LIFE = "life"


class _Meta(msgspec.Struct, rename="camel", gc=False):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    deletion_timestamp: str | None = None


class _Spec(msgspec.Struct, rename="camel", gc=False):
    node_name: str | None = None
    priority: int | None = None
    overhead: msgspec.Raw = msgspec.Raw()
    resources: msgspec.Raw = msgspec.Raw()
    containers: msgspec.Raw = msgspec.Raw()
    init_containers: msgspec.Raw = msgspec.Raw()


class _Status(msgspec.Struct, gc=False):
    phase: str | None = None
    allocatable: msgspec.Raw = msgspec.Raw()
    capacity: msgspec.Raw = msgspec.Raw()


class _Pod(msgspec.Struct, gc=False):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


class _Place(msgspec.Struct, rename="camel", gc=False):
    node_name: str | None = None


class _Phase(msgspec.Struct, gc=False):
    phase: str | None = None


class _Changed(msgspec.Struct, gc=False):
    """What may change in a pod; the rest is not decoded again."""

    spec: _Place = msgspec.field(default_factory=_Place)
    status: _Phase = msgspec.field(default_factory=_Phase)


class _Taint(msgspec.Struct, gc=False):
    key: str
    effect: str = ""
    value: str | None = None

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class _NodeSpec(msgspec.Struct, gc=False):
    taints: list[_Taint] | None = None


class _Node(msgspec.Struct):
    metadata: _Meta
    spec: _NodeSpec | None = None
    status: _Status | None = None


_pod = msgspec.json.Decoder(_Pod)
_changed = msgspec.json.Decoder(_Changed)
_node = msgspec.json.Decoder(_Node)


@dataclass(slots=True)
class Histories:
    """The lifecycles of a run; `steps` maps major to (last minor, time of the first entry)."""

    nodes: list[NodeLife]
    pods: list[PodLife]
    steps: dict[int, tuple[int, int]]
    attempts: pl.DataFrame
    """One row for each attempt as it ended: `major`, `outcome`, `visited`, `feasible`."""


def histories_of(timeline: TimelineReader) -> Histories:
    """Follow every node and pod through the rows of a run.

    Only the rows that can begin, change or end a lifecycle are followed one by one. Steps and attempts are counted by
    columns, and the last written form of a pod is read when it is asked for.
    """
    table = timeline.table
    reader = _Reader(names_victims=not timeline.is_of_scenario)
    wanted = ~ATTEMPT if timeline.is_of_scenario else _changes_a_lifecycle()
    for entry in entries_of_table(table, wanted, READ_OF_WRITES):
        reader.take(entry)
    attempts = _count_attempts(table, reader.all_pods)
    written = _LastWritten(table, reader.all_pods)
    for place, pod in enumerate(reader.all_pods):
        pod.written = partial(written.of, place)
    return Histories(reader.all_nodes, reader.all_pods, _steps(table), attempts)


def pods_around(timeline: TimelineReader, key: str) -> list[PodLife]:
    """The pods of one name, and those that they preempted, without a walk over all others."""
    table, name = timeline.table, pl.concat_str("namespace", pl.lit("/"), "name")
    victims = table.filter(ATTEMPT & (name == key)).select(pl.col("victims").explode()).collect()["victims"]
    concerned = (pl.col("kind") == "Pod") & name.is_in(sorted({key, *victims.drop_nulls()}))
    rows = table.select({*READ_OF_WRITES, *OF_ATTEMPTS, "subresource"}).filter(concerned | PREEMPTS)
    return histories_of(TimelineReader(rows.collect().lazy(), {})).pods


def moments(timeline: TimelineReader) -> Iterator[tuple[Entry, "Moment"]]:
    """Every entry with the cluster as it is just after it."""
    reader = _Reader(names_victims=not timeline.is_of_scenario)
    moment = Moment(reader.nodes, reader.pods)
    for entry in entries_of_table(timeline.table):
        reader.take(entry)
        yield entry, moment


@dataclass(frozen=True, slots=True)
class Moment:
    """The nodes and pods that are there; it moves on with the iteration, so keep what you need of it."""

    nodes: Mapping[str, NodeLife]
    pods: Mapping[tuple[str, str], PodLife]

    def on_node(self, node: str) -> list[PodLife]:
        """The pods that hold a node, those that have ended left out."""
        return [pod for pod in self.pods.values() if pod.node == node and pod.ended is None]


class _Reader:
    """Takes entries in order and updates the lifecycles."""

    def __init__(self, *, names_victims: bool) -> None:
        """`names_victims`: preemptions are read from the victims of attempts, not from entries of their own."""
        self._names_victims = names_victims
        self.all_nodes: list[NodeLife] = []
        self.all_pods: list[PodLife] = []
        self.nodes: dict[str, NodeLife] = {}
        self.pods: dict[tuple[str, str], PodLife] = {}
        self._gone: dict[tuple[str, str], PodLife] = {}
        self._step = 0
        self._held: set[tuple[str, str]] = set()
        """Pods whose attempt Permit or PreBind holds: their next entry ends it."""

    def take(self, entry: Entry) -> None:
        self._step = entry.major
        if entry.entry == "attempt":
            self._attempt(entry)
        elif entry.kind == "Node":
            self._node(entry)
        elif entry.kind == "Pod":
            self._pod(entry)

    def _attempt(self, entry: Entry) -> None:
        key = entry.namespace, entry.name
        if (life := self.pods.get(key)) is not None:
            life.attempts += key not in self._held
            life.tried = True
        if entry.outcome == WAITING:
            self._held.add(key)
        else:
            self._held.discard(key)
        for victim in entry.victims if self._names_victims else ():
            namespace, _, name = victim.partition("/")
            self._preempt((namespace, name), f"{entry.namespace}/{entry.name}")

    def _node(self, entry: Entry) -> None:
        life = self.nodes.get(entry.name)
        if entry.entry == "delete" or (entry.data is None and entry.entry != "create"):
            if life is not None:
                life.went, life.went_at, life.to_row = self._step, entry.time, entry.sequence
                del self.nodes[entry.name]
            return
        if entry.data is None:
            return
        node = _node.decode(entry.data)
        labels, status = node.metadata.labels or {}, node.status or _Status()
        allocatable = amounts_of(bytes(status.allocatable)) or amounts_of(bytes(status.capacity))
        if life is None:
            life = NodeLife(entry.name, labels, allocatable, self._step, came_at=entry.time, from_row=entry.sequence)
            self.nodes[entry.name] = life
            self.all_nodes.append(life)
        else:
            life.labels, life.allocatable = labels, allocatable or life.allocatable
        life.taints = tuple(map(str, (node.spec and node.spec.taints) or ()))

    def _pod(self, entry: Entry) -> None:
        key = entry.namespace, entry.name
        life = self.pods.get(key)
        if entry.entry == "preempted":
            self._preempt(key, entry.victims[0] if entry.victims else "")
            self._end(entry)
            return
        if entry.entry == "finished":
            if life is not None and life.ended is None:
                life.ended, life.ended_row = self._step, entry.sequence
            return
        if entry.entry == "delete" or entry.data is None:
            if entry.writer == "scheduler":
                self._preempt(key)
            self._end(entry, entry.writer)
            return
        seen: _Pod | _Changed | None = None
        if life is None or (entry.entry == "create" and life.ended is not None):
            pod = _pod.decode(entry.data)
            if life is None and pod.metadata.deletion_timestamp is not None:
                return
            life, seen = self._begin(entry, pod), pod
        elif _may_have_changed(life, entry.data):
            seen = _changed.decode(entry.data)
        life.written = entry.data.__str__
        if life.bound is None and (node := (seen.spec.node_name if seen is not None else None) or entry.node):
            life.bound, life.bound_at, life.bound_row, life.node = self._step, entry.time, entry.sequence, node
        if life.ended is None and seen is not None and seen.status.phase in FINISHED:
            life.ended, life.ended_row = self._step, entry.sequence
        if entry.writer == SNAPSHOT:
            life.brought = frozenset(name for name in BROUGHT if getattr(life, name) is not None)

    def _begin(self, entry: Entry, pod: _Pod) -> PodLife:
        meta, spec = pod.metadata, pod.spec
        owner = next((ref for ref in meta.owner_references or () if ref.controller), None)
        asked = spec.overhead, spec.resources, spec.containers, spec.init_containers
        life = PodLife(
            entry.namespace,
            entry.name,
            f"{owner.kind}/{owner.name}" if owner else "",
            meta.labels or {},
            requests_of_pod(*map(bytes, asked)),
            spec.priority or 0,
            self._step,
            entry.time,
            is_per_node=(owner is not None and owner.kind == "DaemonSet") or MIRROR in (meta.annotations or ()),
            from_row=entry.sequence,
        )
        self.pods[entry.namespace, entry.name] = life
        self.all_pods.append(life)
        return life

    def _preempt(self, key: tuple[str, str], preemptor: str = "") -> None:
        """A scheduler deletes its victims before its attempt, which names them, is over: they may be gone already."""
        life = self.pods.get(key) or self._gone.get(key)
        if life is None:
            return
        if life.preempted is None:
            life.preempted = self._step
        life.preempted_by = life.preempted_by or preemptor

    def _end(self, entry: Entry, writer: str = "") -> None:
        key = entry.namespace, entry.name
        life = self.pods.pop(key, None)
        if life is None:
            return
        life.deleted, life.deleted_by, life.to_row = self._step, writer, entry.sequence
        if life.ended is None:
            life.ended, life.ended_row = self._step, entry.sequence
        self._gone[key] = life


def _may_have_changed(life: PodLife, data: str) -> bool:
    """Whether a pod may have got its node or run to its end; most entries show neither, which needs no decoding."""
    if life.bound is None and '"nodeName"' in data:
        return True
    return life.ended is None and ("Succeeded" in data or "Failed" in data)


def _changes_a_lifecycle() -> pl.Expr:
    """Of recorded rows: a write of a pod's status leaves its spec alone, so it counts only where it ends the pod."""
    data, is_pod = pl.col("object"), pl.col("kind") == "Pod"
    is_status = pl.col("subresource").eq_missing("status")
    # Nothing else is searched: the objects are most of the table.
    may_have_finished = pl.when(is_pod & is_status).then(data).str.contains_any([*FINISHED]).fill_null(value=False)
    keeps_spec = is_status | (pl.col("entry") == "unscheduled")
    of_pod = ~keeps_spec | data.is_null() | may_have_finished
    return (pl.col("kind") == "Node") | (is_pod & (PREEMPTS | (~ATTEMPT & of_pod)))


def _steps(table: pl.LazyFrame) -> dict[int, tuple[int, int]]:
    """The last minor step and the time of the first entry of each step.

    An Event is neither the first entry of a step nor does it begin a minor step.
    """
    rows = table.filter(pl.col("kind").ne_missing("Event")).group_by("major", maintain_order=True)
    found = rows.agg(pl.col("minor").max(), pl.col("time").dt.epoch("us").first()).collect()
    return {major: (minor, time) for major, minor, time in found.iter_rows()}


def _count_attempts(table: pl.LazyFrame, pods: Sequence[PodLife]) -> pl.DataFrame:
    """Note the attempts at each pod; all as they ended. One that Permit or PreBind held goes on in the next."""
    rows = table.filter(ATTEMPT).select("sequence", *KEY, *OF_ATTEMPTS).collect()
    is_new, is_over = pl.lit(value=True), pl.lit(value=True)
    if (rows["outcome"] == WAITING).any():
        is_held = pl.col("outcome") == WAITING
        is_new = ~is_held.shift(1).over(KEY).fill_null(value=False)
        is_over = ~is_held | (pl.int_range(pl.len()).over(KEY) == pl.len().over(KEY) - 1)
    counts = _with_lives(rows.with_columns(is_new=is_new), pods).group_by(LIFE).agg(pl.col("is_new").sum())
    for place, number in counts.iter_rows():
        pods[place].attempts, pods[place].tried = number, True
    return rows.filter(is_over).select(OF_ATTEMPTS)


def _with_lives(rows: pl.DataFrame, pods: Sequence[PodLife]) -> pl.DataFrame:
    """The rows about pods that exist at that moment, each with the place of its pod."""
    lives = pl.DataFrame(
        {
            "namespace": [pod.namespace for pod in pods],
            "name": [pod.name for pod in pods],
            "sequence": pl.Series([pod.from_row for pod in pods], dtype=pl.Int64),
            "to_row": pl.Series([pod.to_row for pod in pods], dtype=pl.Int64),
        },
        schema_overrides=dict.fromkeys(KEY, pl.String),
    ).with_row_index(LIFE)
    found = rows.join_asof(lives.set_sorted("sequence"), on="sequence", by=KEY, check_sortedness=False)
    return found.filter(
        pl.col(LIFE).is_not_null() & (pl.col("to_row").is_null() | (pl.col("sequence") < pl.col("to_row")))
    )


class _LastWritten:
    """Pods as they were last written, as JSON; read on first use."""

    def __init__(self, table: pl.LazyFrame, pods: Sequence[PodLife]) -> None:
        self._table = table
        self._pods = pods

    def of(self, place: int) -> str:
        return self._objects.get(place, "")

    @cached_property
    def _objects(self) -> dict[int, str]:
        is_written = (pl.col("kind") == "Pod") & ~pl.col("entry").is_in(["attempt", "delete"])
        rows = self._table.filter(is_written & pl.col("object").is_not_null()).select("sequence", *KEY).collect()
        last = _with_lives(rows, self._pods).group_by(LIFE).agg(pl.col("sequence").last())
        objects = self._table.filter(pl.col("sequence").is_in(last["sequence"].implode())).select("sequence", "object")
        return dict(last.join(objects.collect(), on="sequence").select(LIFE, "object").iter_rows())
