"""Follows workloads through a run: how many replicas are wanted, ready, moved, pending and lost, and why.

A workload is what a person deploys: the Deployment and not its ReplicaSet, a StatefulSet, a DaemonSet, a Job, or a pod
without a controller. Every write of a pod is read, since readiness is in its status; so a result needs its table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
import polars as pl

from seatrial.model.times import SECOND
from seatrial.results.run import Run
from seatrial.results.volumes_left_behind import Volumes
from seatrial.results.waiting_reasons import reason
from seatrial.store.views import OwnerReference
from seatrial.words import counted

SNAPSHOT = "snapshot"
OVER = ("Succeeded", "Failed")
KINDS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job")
READ = ("time", "writer", "entry", "kind", "namespace", "name", "object")
VOLUMES = ("PersistentVolume", "PersistentVolumeClaim")

Name = tuple[str, str, str]
"""Namespace, kind and name of a workload."""


class _Meta(msgspec.Struct, rename="camel", gc=False):
    labels: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    deletion_timestamp: str | None = None


class _Condition(msgspec.Struct, gc=False):
    type: str = ""
    status: str = ""
    message: str | None = None


class _Spec(msgspec.Struct, rename="camel", gc=False):
    node_name: str | None = None
    scheduler_name: str | None = None
    replicas: int | None = None
    completions: int | None = None
    parallelism: int | None = None
    suspend: bool | None = None
    unschedulable: bool | None = None
    pod_management_policy: str | None = None


class _Status(msgspec.Struct, rename="camel", gc=False):
    phase: str | None = None
    conditions: list[_Condition] | None = None
    desired_number_scheduled: int | None = None
    succeeded: int | None = None


class _Object(msgspec.Struct, gc=False):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_decode = msgspec.json.Decoder(_Object).decode


@dataclass(slots=True)
class _Pod:
    """A pod as it was last written."""

    workload: Name
    node: str
    is_ready: bool
    is_deleting: bool
    is_over: bool
    is_brought: bool
    """Whether it came with the snapshot, on its node."""
    message: str = ""
    scheduler: str = ""
    data: str = ""
    """The pod as JSON, while it has no node."""


@dataclass(slots=True)
class Workload:
    """One workload from the start of a run to its end."""

    namespace: str
    kind: str
    name: str
    wanted: int = 0
    wanted_start: int = 0
    ready_start: int = 0
    ready_min: int | None = None
    """None: the workload was not there at the start."""
    ready_min_at: float | None = None
    """Seconds of virtual time since the first write of the run; None: it never fell."""
    ready_end: int = 0
    moved: int = 0
    pending: int = 0
    lost: int = 0
    why: str = ""
    is_ordered: bool = field(default=False, repr=False)

    @property
    def is_ready(self) -> bool:
        return self.ready_end >= self.wanted

    @property
    def is_as_ready_as_before(self) -> bool:
        """Whether none is lost, and no more replicas are missing at the end than at the start.

        Pods of a snapshot without a status count as not ready, so that the numbers alone would not show a loss.
        """
        return not self.lost and self.wanted - self.ready_end <= max(0, self.wanted_start - self.ready_start)


def began_with_cluster(run: Run) -> bool:
    """Whether the run began with the objects of a snapshot."""
    return run.table is not None and not run.table.filter(pl.col("writer") == SNAPSHOT).head(1).collect().is_empty()


def workloads_of(run: Run) -> list[Workload]:
    """Every workload of a run, by namespace, kind and name."""
    assert run.table is not None, "the measure needs status writes"
    told = _Teller()
    for row in _rows(run.table):
        told.take(*row)
    return told.end()


def _rows(table: pl.LazyFrame) -> Iterator[tuple[int, str, str, str, str, str, str | None]]:
    is_concerned = pl.col("kind").is_in(["Pod", "Node", *KINDS, *VOLUMES])
    is_write = ~pl.col("entry").is_in(["attempt", "unscheduled"])
    columns = [pl.col("time").dt.epoch("us"), *(pl.col(name) for name in READ[1:])]
    yield from table.filter(is_concerned & is_write).select(columns).collect().iter_rows()


class _Teller:
    """Takes the writes of a run in order."""

    def __init__(self) -> None:
        self._found: dict[Name, Workload] = {}
        self._pods: dict[tuple[str, str], _Pod] = {}
        self._ready: dict[Name, int] = {}
        self._owners: dict[tuple[str, str], str] = {}
        """The Deployment of each ReplicaSet."""
        self._desired: dict[Name, int] = {}
        self._unready_nodes: set[str] = set()
        self._volumes = Volumes()
        self._has_begun = False
        self.began_at = 0
        self._gone: dict[Name, int] = {}
        """How many pods of the start are no longer there."""

    def take(self, time: int, writer: str, entry: str, kind: str, namespace: str, name: str, data: str | None) -> None:
        if not self._has_begun and writer != SNAPSHOT:
            self.began_at = time
            self._begin()
        if kind == "Pod":
            self._take_pod(time, writer, namespace, name, data)
            return
        if kind in VOLUMES:
            self._volumes.take(namespace, name, data)
            return
        found = _decode(data) if data is not None else None
        if kind == "Node":
            self._take_node(name, found)
        elif kind == "ReplicaSet" and found is not None and (owner := _controller(found)) is not None:
            self._owners[namespace, name] = owner.name
        elif found is None or found.metadata.deletion_timestamp:
            self._desired.pop((namespace, kind, name), None)
        else:
            self._take_workload((namespace, kind, name), found)

    def _take_node(self, name: str, found: _Object | None) -> None:
        self._volumes.nodes.pop(name, None)
        self._unready_nodes.discard(name)
        if found is None:
            return
        if any(each.type == "Ready" and each.status != "True" for each in found.status.conditions or ()):
            self._unready_nodes.add(name)
        elif not found.spec.unschedulable:
            self._volumes.nodes[name] = found.metadata.labels or {}

    def _take_workload(self, name: Name, found: _Object) -> None:
        workload = self._find(name)
        spec, status = found.spec, found.status
        workload.is_ordered = name[1] == "StatefulSet" and spec.pod_management_policy != "Parallel"
        if name[1] == "DaemonSet":
            wanted = status.desired_number_scheduled or 0
        elif name[1] == "Job":
            most = spec.parallelism if spec.parallelism is not None else 1
            left = most if spec.completions is None else spec.completions - (status.succeeded or 0)
            is_over = spec.suspend or any(
                each.type in ("Complete", "Failed") and each.status == "True" for each in status.conditions or ()
            )
            wanted = 0 if is_over else max(0, min(most, left))
        else:
            wanted = spec.replicas if spec.replicas is not None else 1
        self._desired[name] = wanted

    def _take_pod(self, time: int, writer: str, namespace: str, name: str, data: str | None) -> None:
        before = self._pods.get((namespace, name))
        if data is None:
            if before is not None:
                del self._pods[namespace, name]
                self._count(time, before, None)
            return
        found = _decode(data)
        owner = _controller(found)
        if owner is not None and owner.kind == "Node":
            return
        workload = self._workload_of(namespace, name, owner)
        status = found.status
        conditions = {each.type: each for each in status.conditions or ()}
        ready, scheduled = conditions.get("Ready"), conditions.get("PodScheduled")
        is_brought = writer == SNAPSHOT and bool(found.spec.node_name)
        pod = _Pod(
            workload, found.spec.node_name or "", ready is not None and ready.status == "True",
            found.metadata.deletion_timestamp is not None, status.phase in OVER,
            is_brought or (before is not None and before.is_brought),
            (scheduled.message or "") if scheduled is not None and scheduled.status == "False" else "",
            found.spec.scheduler_name or "", "" if found.spec.node_name else data,
        )  # fmt: skip
        self._pods[namespace, name] = pod
        self._find(workload)
        self._count(time, before, pod)

    def _count(self, time: int, before: _Pod | None, after: _Pod | None) -> None:
        name = (after or before).workload  # type: ignore[union-attr]
        change = int(after is not None and _counts(after)) - int(before is not None and _counts(before))
        if after is None and before is not None and before.is_brought:
            self._gone[name] = self._gone.get(name, 0) + 1
        if not change:
            return
        ready = self._ready[name] = self._ready.get(name, 0) + change
        workload = self._found[name]
        if self._has_begun and workload.ready_min is not None and ready < workload.ready_min:
            workload.ready_min, workload.ready_min_at = ready, (time - self.began_at) / SECOND

    def _workload_of(self, namespace: str, name: str, owner: OwnerReference | None) -> Name:
        if owner is None:
            return namespace, "Pod", name
        if owner.kind == "ReplicaSet" and (above := self._owners.get((namespace, owner.name))):
            return namespace, "Deployment", above
        return namespace, owner.kind, owner.name

    def _find(self, name: Name) -> Workload:
        found = self._found.get(name)
        if found is None:
            namespace, kind, own = name
            found = self._found[name] = Workload(namespace, kind, own)
        return found

    def _begin(self) -> None:
        self._has_begun = True
        # A ReplicaSet may come after its pods in a snapshot.
        self._settle_owners()
        missing = self._missing_daemons()
        for name, workload in self._found.items():
            workload.wanted_start = self._wanted(name, missing)
            workload.ready_start = workload.ready_min = self._ready.get(name, 0)

    def _settle_owners(self) -> None:
        for (namespace, _), pod in self._pods.items():
            if pod.workload[1] == "ReplicaSet" and (above := self._owners.get((namespace, pod.workload[2]))):
                old, pod.workload = pod.workload, (namespace, "Deployment", above)
                self._found.pop(old, None)
                self._find(pod.workload)
                if _counts(pod):
                    self._ready[old] -= 1
                    self._ready[pod.workload] = self._ready.get(pod.workload, 0) + 1

    def _missing_daemons(self) -> dict[Name, int]:
        """Pods of DaemonSets on nodes that are not ready: none of them can be ready."""
        found: dict[Name, int] = {}
        for pod in self._pods.values() if self._unready_nodes else ():
            if pod.workload[1] == "DaemonSet" and pod.node in self._unready_nodes:
                found[pod.workload] = found.get(pod.workload, 0) + 1
        return found

    def _wanted(self, name: Name, missing: dict[Name, int]) -> int:
        if name[1] == "Pod":
            pod = self._pods.get((name[0], name[2]))
            return 0 if pod is None or pod.is_over else 1
        return max(0, self._desired.get(name, 0) - missing.get(name, 0))

    def end(self) -> list[Workload]:
        """The workloads at the end of the run."""
        if not self._has_begun:
            self._begin()
        pods: dict[Name, list[tuple[str, _Pod]]] = {}
        for (_, own), pod in self._pods.items():
            pods.setdefault(pod.workload, []).append((own, pod))
        missing = self._missing_daemons()
        for name, workload in self._found.items():
            wanted = self._wanted(name, missing)
            # A bare pod that has gone is still wanted: nothing makes it again.
            workload.wanted = max(wanted, workload.wanted_start) if name[1] == "Pod" else wanted
            if name[1] == "Pod" and (bare := self._pods.get((name[0], name[2]))) is not None and bare.is_over:
                workload.wanted = 0
            workload.ready_end = self._ready.get(name, 0)
            self._finish(workload, pods.get(name, []), self._gone.get(name, 0))
        shown = [each for each in self._found.values() if each.wanted or each.wanted_start or each.ready_start]
        return sorted(shown, key=lambda each: (each.namespace, each.kind, each.name))

    def _finish(self, workload: Workload, pods: list[tuple[str, _Pod]], gone: int) -> None:
        active = [(name, pod) for name, pod in pods if not (pod.is_deleting or pod.is_over)]
        waiting = [(name, pod) for name, pod in active if not pod.node]
        behind = [(name, pod) for name, pod in waiting if self._volumes.is_left_behind(pod.data)]
        stuck = [name for name, pod in pods if pod.is_deleting]
        unmade = max(0, workload.wanted - len(active)) if workload.kind != "DaemonSet" else 0
        gone += sum(pod.is_brought and pod.is_deleting for _, pod in pods)
        workload.moved = min(gone, sum(bool(pod.node) and not pod.is_brought for _, pod in active))
        workload.pending = len(waiting) - len(behind)
        workload.lost = unmade + len(behind)
        workload.why = _why(workload, waiting, behind, stuck, unmade, active)


def _why(
    workload: Workload,
    waiting: list[tuple[str, _Pod]],
    behind: list[tuple[str, _Pod]],
    stuck: list[str],
    unmade: int,
    active: list[tuple[str, _Pod]],
) -> str:
    """Why replicas are missing at the end, in one sentence."""
    if workload.is_ready and not workload.lost:
        return ""
    parts = []
    if behind:
        parts.append(f"the volume of {behind[0][0]}{_more(behind)} stayed behind: no node that is left can use it")
    rest = [each for each in waiting if each not in behind]
    if rest:
        name, pod = rest[0]
        parts.append(f"{name}{_more(rest)} has no node: {reason(pod.message, (), pod.scheduler)}")
    if unmade:
        parts.append(_why_unmade(workload, stuck, unmade, active))
    unready = sum(bool(pod.node) and not pod.is_ready for _, pod in active)
    if unready and not parts:
        parts.append(f"{counted(unready, 'pod')} on a node that {'is' if unready == 1 else 'are'} not ready")
    return "; ".join(parts)


def _why_unmade(workload: Workload, stuck: list[str], unmade: int, active: list[tuple[str, _Pod]]) -> str:
    if workload.kind == "Pod":
        return "a pod without a controller: nothing makes it again"
    if workload.kind == "StatefulSet" and stuck:
        return (
            f"{stuck[0]}{_more(stuck)} stays Terminating, since its node does not answer, and a StatefulSet makes no "
            f"second pod of that name: delete it with --force once the node is surely off"
        )
    unready = sorted(name for name, pod in active if not pod.is_ready)
    if workload.is_ordered and unready:
        which = "replica is" if unmade == 1 else "replicas are"
        return f"{unmade} more {which} not made (OrderedReady) while {unready[0]} is not ready"
    return f"{counted(unmade, 'replica')} not made"


def _more(listed: list[object] | list[str] | list[tuple[str, _Pod]]) -> str:
    return f" (and {len(listed) - 1} more)" if len(listed) > 1 else ""


def _counts(pod: _Pod) -> bool:
    return pod.is_ready and not pod.is_deleting and not pod.is_over


def _controller(found: _Object) -> OwnerReference | None:
    return next((owner for owner in found.metadata.owner_references or () if owner.controller), None)
