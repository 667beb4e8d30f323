"""Reads the lifecycles of all nodes and pods in one pass over the entries of a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from seatrial.results.entries import Entry
from seatrial.results.lifecycles import NodeLife, PodLife, amounts_of, requests_of_pod
from seatrial.scheduler import WAITING

FINISHED = ("Succeeded", "Failed")
SNAPSHOT = "snapshot"
"""The writer of objects that existed before the first step."""
BROUGHT = ("created", "bound", "ended")
MIRROR = "kubernetes.io/config.mirror"
"""The annotation of the object that shows a static pod of a kubelet."""


class _Owner(msgspec.Struct, gc=False):
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class _Meta(msgspec.Struct, rename="camel", gc=False):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[_Owner] | None = None
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


class _Node(msgspec.Struct):
    metadata: _Meta
    status: _Status | None = None


_pod = msgspec.json.Decoder(_Pod)
_changed = msgspec.json.Decoder(_Changed)
_node = msgspec.json.Decoder(_Node)


@dataclass(slots=True)
class Histories:
    """What one pass has found; `steps` maps major to (last minor, time of the first entry)."""

    nodes: list[NodeLife] = field(default_factory=list)
    pods: list[PodLife] = field(default_factory=list)
    steps: dict[int, tuple[int, int]] = field(default_factory=dict)
    attempts: Sequence[Entry] = field(default_factory=list)
    """Every scheduling attempt; one that Permit or PreBind held is where it ended."""


def tell(entries: Iterator[Entry]) -> Histories:
    """Follow every node and pod through the entries of a run."""
    teller = _Teller()
    for entry in entries:
        teller.take(entry)
    return teller.found


def moments(entries: Iterator[Entry]) -> Iterator[tuple[Entry, "Moment"]]:
    """Every entry with the cluster as it is just after it."""
    teller = _Teller()
    moment = Moment(teller.nodes, teller.pods)
    for entry in entries:
        teller.take(entry)
        yield entry, moment


@dataclass(frozen=True, slots=True)
class Moment:
    """The nodes and pods that are there; it moves on with the iteration, so keep what you need of it."""

    nodes: Mapping[str, NodeLife]
    pods: Mapping[tuple[str, str], PodLife]

    def on_node(self, node: str) -> list[PodLife]:
        """The pods that hold a node, those that have ended left out."""
        return [pod for pod in self.pods.values() if pod.node == node and pod.ended is None]


class _Teller:
    """Takes entries in order and updates the lifecycles."""

    def __init__(self) -> None:
        self._attempts: list[Entry] = []
        self.found = Histories(attempts=self._attempts)
        self.nodes: dict[str, NodeLife] = {}
        self.pods: dict[tuple[str, str], PodLife] = {}
        self._gone: dict[tuple[str, str], PodLife] = {}
        self._step = 0
        self._held: dict[tuple[str, str], int] = {}
        """By pod: the place of an attempt that Permit or PreBind holds, in the list of attempts."""

    def take(self, entry: Entry) -> None:
        self._enter_step(entry)
        if entry.entry == "attempt":
            self._attempt(entry)
        elif entry.kind == "Node":
            self._node(entry)
        elif entry.kind == "Pod":
            self._pod(entry)

    def _enter_step(self, entry: Entry) -> None:
        steps, major, minor = self.found.steps, entry.major, entry.minor
        known = steps.get(major)
        if known is None:
            steps[major] = minor, entry.time
            self._step = major
        elif minor > known[0]:
            steps[major] = minor, known[1]

    def _attempt(self, entry: Entry) -> None:
        key = entry.namespace, entry.name
        attempts, life = self._attempts, self.pods.get(key)
        goes_on = self._held.pop(key, None)
        if goes_on is None:
            attempts.append(entry)
        else:
            attempts[goes_on] = entry
        if entry.outcome == WAITING:
            self._held[key] = len(attempts) - 1 if goes_on is None else goes_on
        if life is not None:
            life.attempts += goes_on is None
            life.tried = True
        for victim in entry.victims:
            namespace, _, name = victim.partition("/")
            self._preempt((namespace, name), f"{entry.namespace}/{entry.name}")

    def _node(self, entry: Entry) -> None:
        life = self.nodes.get(entry.name)
        if entry.entry == "delete" or (entry.data is None and entry.entry != "create"):
            if life is not None:
                life.went = self._step
                del self.nodes[entry.name]
            return
        if entry.data is None:
            return
        node = _node.decode(entry.data)
        labels, status = node.metadata.labels or {}, node.status or _Status()
        allocatable = amounts_of(bytes(status.allocatable)) or amounts_of(bytes(status.capacity))
        if life is None:
            life = NodeLife(entry.name, labels, allocatable, self._step)
            self.nodes[entry.name] = life
            self.found.nodes.append(life)
        else:
            life.labels, life.allocatable = labels, allocatable or life.allocatable

    def _pod(self, entry: Entry) -> None:
        key = entry.namespace, entry.name
        life = self.pods.get(key)
        if entry.entry == "preempted":
            self._preempt(key, entry.victims[0] if entry.victims else "")
            self._end(entry)
            return
        if entry.entry == "finished":
            if life is not None and life.ended is None:
                life.ended = self._step
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
            life.bound, life.bound_at, life.node = self._step, entry.time, node
        if life.ended is None and seen is not None and seen.status.phase in FINISHED:
            life.ended = self._step
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
        self.found.pods.append(life)
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
            life.ended = self._step
        self._gone[key] = life


def _may_have_changed(life: PodLife, data: str) -> bool:
    """Whether a pod may have got its node or run to its end; most entries show neither, which needs no decoding."""
    if life.bound is None and '"nodeName"' in data:
        return True
    return life.ended is None and ("Succeeded" in data or "Failed" in data)
