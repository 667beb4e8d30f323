"""A run in simulated time, in this process: store, controllers and the Volcano scheduler, and no waiting.

A session of the scheduler takes no simulated time and begins a period after the one before, as upstream's
`--schedule-period`; the clock jumps to the next arrival or timer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from seatrial.clock import START, Clock
from seatrial.controllers import build_controllers
from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError, StatusError
from seatrial.model.times import HOUR, SECOND
from seatrial.scenario import fresh_store
from seatrial.store import Change, StatusView, Store, Stored, View
from seatrial.store.options import Patch
from seatrial.vcsim.load import DAEMON_SET, DaemonSet
from seatrial.vcsim.places import Owner, Places, renaming_owner
from seatrial.vcsim.workload import Arrival, Workload
from seatrial.volcano import VolcanoScheduler
from seatrial.volcano.apis import POD_GROUP, QUEUE, SCHEDULER_NAME, definitions, kind_of
from seatrial.volcano.apis.installation import install
from seatrial.volcano.apis.labels import GROUP_NAME
from seatrial.volcano.config import SchedulerConf
from seatrial.volcano.controllers import build_controllers as build_volcano_controllers

if TYPE_CHECKING:
    from seatrial.scheduler import Scheduler

MOST_BINDS: Final = 20
"""Binds for each pod submitted, after which pods are taken to be evicted for ever."""
LONGEST_WAIT: Final = 720 * HOUR
"""Simulated time without an arrival, a bind or the end of a pod, after which nothing more is expected."""
WRITER: Final = "vcsimctl"


@dataclass(slots=True)
class PodTimes:
    """When things happened to a pod, in microseconds from the start."""

    namespace: str
    name: str
    created: int
    scheduled: int | None = None
    finished: int | None = None
    node: str = ""
    group: str = ""
    owner: str = ""
    """The controller, where it gives the pod's successor another name."""
    is_replaced: bool = False
    """Whether another pod took its place."""
    is_counted: bool = False
    """Whether the job counts this pod, or one that had its place before."""
    had_node: bool = False
    """Whether this pod got a node, or one that had its place before."""


@dataclass(slots=True)
class JobTimes:
    """When things happened to a PodGroup."""

    namespace: str
    name: str
    queue: str
    least: int
    created: int
    declared: int = 0
    """The pods that the spec asks for; 0 where it is not known."""
    bound: list[int] = field(default_factory=list)
    """When each place for a pod first got a node."""
    places: int = 0
    """The pods created so far, without the successors of others."""

    @property
    def size(self) -> int:
        return self.declared or max(self.places, self.least)

    @property
    def waited(self) -> int | None:
        """Microseconds until the least number of pods had a node; None where they never had."""
        least = max(self.least, 1)
        return sorted(self.bound)[least - 1] - self.created if len(self.bound) >= least else None


class _Annotations(msgspec.Struct):
    group: str = msgspec.field(default="", name=GROUP_NAME)


class _Meta(msgspec.Struct, rename="camel"):
    annotations: _Annotations = msgspec.field(default_factory=_Annotations)
    deletion_timestamp: str | None = None
    owner_references: list[Owner] = []


class _Spec(msgspec.Struct, rename="camel"):
    scheduler_name: str = ""


class _Status(msgspec.Struct):
    phase: str = ""


class _Pod(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _GroupSpec(msgspec.Struct, rename="camel"):
    queue: str = ""
    min_member: int = 0


class _Owners(msgspec.Struct, rename="camel"):
    owner_references: list[Owner] = []


class _Owned(msgspec.Struct):
    metadata: _Owners = msgspec.field(default_factory=_Owners)


class _Group(_Owned):
    spec: _GroupSpec = msgspec.field(default_factory=_GroupSpec)


_POD, _STATUS, _GROUP, _DAEMON_SET = View(_Pod), StatusView(_Status), View(_Group), View(DaemonSet)
_NOWHERE = Path()


@cache
def is_namespaced(api_version: str, kind: str) -> bool:
    """Whether a kind is namespaced in a cluster with Volcano; ConfigError where there is no such kind."""
    group, _, version = api_version.rpartition("/")
    for spec in (definition["spec"] for definition in definitions()):
        if (spec["group"], spec["names"]["kind"]) == (group, kind) and version in [v["name"] for v in spec["versions"]]:
            return bool(spec["scope"] == "Namespaced")
    found = fresh_store().kinds.named(api_version, kind)
    if found is None:
        raise ConfigError("", "kind", f"the cluster does not serve {api_version} {kind}")
    return found.namespaced


class Worker(Protocol):
    """A controller or a scheduler."""

    def start(self) -> None: ...

    def work(self) -> bool: ...


class KubeScheduler:
    """kube-scheduler, for the pods that are not Volcano's.

    It reads the cluster when the first such pod is created; most runs have none. It would see the nodes in another
    order if some came in between, so it starts with a change of a node, too.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._scheduler: Scheduler | None = None
        self._stop_watching: Callable[[], None] | None = None

    def start(self) -> None:
        kinds = [kind_of(self._store, ("v1", name)) for name in ("Pod", "Node")]
        self._stop_watching = self._store.subscribe(self._changed, kinds)

    def work(self) -> bool:
        """One attempt."""
        return self._scheduler is not None and self._scheduler.schedule_one() is not None

    def _changed(self, change: Change) -> None:
        if change.stored.kind.kind == "Pod" and (change.type != "ADDED" or self._is_volcanos(change.stored)):
            return
        if self._scheduler is None and self._stop_watching is not None:
            from seatrial.scheduler import Scheduler

            self._stop_watching()
            self._scheduler = Scheduler(self._store, self._clock)
            self._scheduler.start()

    def _is_volcanos(self, pod: Stored) -> bool:
        return _POD.read(pod).spec.scheduler_name == SCHEDULER_NAME


class VirtualRun:
    """One cluster in simulated time."""

    def __init__(self, nodes: list[Document], conf: SchedulerConf | None) -> None:
        self.clock = Clock()
        self.store = fresh_store(self.clock, watched=False)
        install(self.store)
        self.store.load(nodes, writer=WRITER)
        self.pods: dict[str, PodTimes] = {}
        self.jobs: dict[tuple[str, str], JobTimes] = {}
        self.binds = 0
        self.scheduled = 0
        """Pods that got a node; one that was replaced counts by its successor."""
        self.cut = ""
        """Why the run was cut off; empty where it was not."""
        self.evictions = 0
        """Pods that had a node and were deleted before they ended."""
        self._places = Places()
        self._daemon_sets = kind_of(self.store, DAEMON_SET)
        self._declared: dict[tuple[str, str, str, str], int] = {}
        """How many pods an object leads to, by apiVersion, kind, namespace and name."""
        self._waiting: set[str] = set()
        self._alive: set[str] = set()
        self._arriving = 0
        self._progress = 0
        """When something last arrived, got a node or ended."""
        self.volcano = VolcanoScheduler(self.store, self.clock, conf, events=False)
        controllers = build_controllers(self.store, self.clock)
        volcanos = build_volcano_controllers(self.store, self.clock)
        self._others: list[Worker] = [volcanos, KubeScheduler(self.store, self.clock), self.volcano]
        self.workers: list[Worker] = [*controllers, *self._others]
        for worker in self.workers:
            worker.start()
        self._backlogs = [backlog for controller in controllers for backlog in controller.backlogs()]
        """Where these are empty, no controller of Kubernetes has work."""
        self.store.subscribe(self._pod_changed, [kind_of(self.store, ("v1", "Pod"))])
        self.store.subscribe(self._group_changed, [kind_of(self.store, POD_GROUP)])

    def simulate(self, workload: Workload, *, until_finished: bool = False) -> None:
        """Let everything arrive, and go on until all pods have a node (or have ended), or nothing can change."""
        for document in workload.prepared:
            self._prepare(document)
        self._work()
        start = self.clock.now()
        self._arriving = len(workload.arrivals)
        for arrival in workload.arrivals:
            self.clock.at(start + arrival.at, partial(self._arrive, arrival))
        while not self._is_done(workload, until_finished) and self._step():
            self._work()

    def moments(self) -> list[float]:
        """When each pod got its node, in seconds from the start; a successor counts again."""
        return [pod.scheduled / SECOND for pod in self.pods.values() if pod.scheduled is not None]

    def reasons(self) -> dict[str, str]:
        """Why jobs wait, as of the last session, by namespace/name."""
        return {found.uid: found.text for found in self.volcano.waiting}

    def expected(self, workload: Workload) -> int:
        """How many pods a workload leads to; those of DaemonSets as far as they have arrived."""
        statuses = (_DAEMON_SET.read(stored).status for stored in self.store.list(self._daemon_sets))
        return workload.pods + sum(status.desired_number_scheduled for status in statuses)

    def now(self) -> int:
        """Microseconds since the start."""
        return self.clock.now() - START

    def _is_done(self, workload: Workload, until_finished: bool) -> bool:
        is_waiting = self._arriving or self._waiting or (until_finished and self._alive)
        if not is_waiting and self.scheduled >= self.expected(workload):
            return True
        if self.binds > MOST_BINDS * workload.pods + 100:
            self.cut = (
                f"after {self.binds} binds at {self.now() / SECOND:g} s: pods are evicted and replaced over and over"
            )
        return bool(self.cut)

    def _step(self) -> bool:
        """Go to what happens next; False where there is nothing."""
        return self.now() - self._progress < LONGEST_WAIT and self.clock.fire_next(outer=True)

    def _work(self) -> None:
        """Controllers and schedulers work until they have nothing to do; no time passes."""
        is_busy = True
        while is_busy:
            is_busy = False
            for worker in self.workers if any(self._backlogs) else self._others:
                while worker.work():
                    is_busy = True

    def _arrive(self, arrival: Arrival) -> None:
        self._arriving -= 1
        self._progress = self.now()
        self._create(arrival)

    def _prepare(self, document: Document) -> None:
        """Create an object that is there from the start; a queue that every cluster has is changed."""
        queues, name = kind_of(self.store, QUEUE), document["metadata"].get("name", "")
        if (document["apiVersion"], document["kind"]) != QUEUE or self.store.find(queues, name) is None:
            self._create(Arrival(0, document, _NOWHERE))
            return
        try:
            self.store.patch(queues, name, Patch("merge", {"spec": document.get("spec") or {}}), writer=WRITER)
        except StatusError as error:
            raise ConfigError("", f"queue {name}", str(error)) from error

    def _create(self, arrival: Arrival) -> None:
        document = arrival.document
        kind = self.store.kinds.named(document["apiVersion"], document["kind"])
        if kind is None:
            why = f"{document['apiVersion']} {document['kind']} is not served"
            raise ConfigError(str(arrival.path), "kind", why)
        namespace = document["metadata"].get("namespace", "") if kind.namespaced else ""
        if arrival.pods:
            name = document["metadata"].get("name", "")
            self._declared[document["apiVersion"], document["kind"], namespace, name] = arrival.pods
        try:
            self.store.create(kind, document, writer=WRITER, namespace=namespace)
        except StatusError as error:
            raise ConfigError(str(arrival.path), document["metadata"].get("name", ""), str(error)) from error

    # What is noted.

    def _pod_changed(self, change: Change) -> None:
        stored = change.stored
        uid = stored.uid
        if change.type == "DELETED":
            self._pod_deleted(uid)
            return
        times = self.pods.get(uid)
        if times is None or not times.group or stored.is_deleting:
            metadata = _POD.read(stored).metadata
            if times is None:
                times = self._new_pod(stored, uid, renaming_owner(metadata.owner_references))
            if not times.group:
                self._join(times, metadata.annotations.group)
            if metadata.deletion_timestamp is not None:
                self._places.leave(uid, times.owner)
        self._pod_advanced(uid, times, stored.node_name, _STATUS.read(stored).phase)

    def _new_pod(self, stored: Stored, uid: str, owner: str) -> PodTimes:
        times = self.pods[uid] = PodTimes(stored.namespace, stored.name, self.now(), owner=owner)
        self._waiting.add(uid)
        self._alive.add(uid)
        before = self._places.enter(uid, stored.namespace, stored.name, owner)
        if before is not None:
            replaced = self.pods[before]
            replaced.is_replaced = True
            self.scheduled -= replaced.scheduled is not None
            times.is_counted, times.had_node = replaced.is_counted, replaced.had_node
        return times

    def _pod_advanced(self, uid: str, times: PodTimes, node: str, phase: str) -> None:
        if node and times.scheduled is None:
            times.scheduled, times.node = self.now(), node
            self.binds += 1
            self.scheduled += not times.is_replaced
            self._progress = self.now()
            self._waiting.discard(uid)
            job = self.jobs.get((times.namespace, times.group))
            if job is not None and not times.had_node:
                job.bound.append(times.scheduled)
            times.had_node = True
        if phase in ("Succeeded", "Failed") and times.finished is None:
            times.finished = self._progress = self.now()
            self._alive.discard(uid)
            self._places.leave(uid, times.owner)

    def _pod_deleted(self, uid: str) -> None:
        self._waiting.discard(uid)
        self._alive.discard(uid)
        gone = self.pods.get(uid)
        if gone is not None:
            self.evictions += gone.scheduled is not None and gone.finished is None
            self._places.leave(uid, gone.owner)

    def _join(self, times: PodTimes, group: str) -> None:
        times.group = group
        job = self.jobs.get((times.namespace, group))
        if job is not None and not times.is_counted:
            job.places += 1
            times.is_counted = True

    def _group_changed(self, change: Change) -> None:
        key = change.stored.namespace, change.stored.name
        if key not in self.jobs:
            group = _GROUP.read(change.stored)
            named = [(owner.api_version, owner.kind, key[0], owner.name) for owner in group.metadata.owner_references]
            declared = next(
                (self._declared[name] for name in (*named, (*POD_GROUP, *key)) if name in self._declared), 0
            )
            self.jobs[key] = JobTimes(*key, group.spec.queue, group.spec.min_member, self.now(), declared)
