"""A test in real time: objects are created over HTTP at the rate asked for, and pods are watched as they get a node."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.vcsim.client import ApiError, Client
from seatrial.vcsim.kinds import TimingConfig
from seatrial.vcsim.load import LABEL, DaemonSet, Load, LoadObject
from seatrial.vcsim.places import Owner, Places, renaming_owner
from seatrial.vcsim.reports import Outcome
from seatrial.vcsim.throughput import NoSchedulingEvents, measure

SETTLE: Final = 30.0
"""Seconds without an event, after the creation phase, until the test ends."""
PREPARED_WITHIN: Final = 120.0
LOOK_EVERY: Final = 0.02
REQUESTS_A_CONNECTION: Final = 150
"""Requests per second that one connection is good for."""
MOST_CONNECTIONS: Final = 8
UNSCHEDULED: Final = ("Unschedulable", "FailedScheduling", "FailedCreate")
"""Reasons of events that say why pods wait."""
REASONS: Final = 5


class _Meta(msgspec.Struct, rename="camel"):
    namespace: str = ""
    name: str = ""
    uid: str = ""
    deletion_timestamp: str | None = None
    owner_references: list[Owner] = []


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Status(msgspec.Struct):
    phase: str = ""


class _Pod(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


class _Event(msgspec.Struct):
    type: str = ""
    object: _Pod = msgspec.field(default_factory=_Pod)


_events = msgspec.json.Decoder(_Event)


@dataclass(slots=True)
class Scheduled:
    """The moments at which pods of a test got their node, by uid, and how many have one."""

    namespaces: frozenset[str]
    moments: dict[str, float] = field(default_factory=dict)
    count: int = 0
    """Pods that got a node; one that was replaced counts by its successor."""
    error: str = ""
    _owners: dict[str, str] = field(default_factory=dict)
    """Of each pod seen: `renaming_owner`."""
    _replaced: set[str] = field(default_factory=set)
    _places: Places = field(default_factory=Places)

    def hear(self, line: bytes, moment: float) -> None:
        """Note an event of a pod."""
        event = _events.decode(line)
        pod, uid = event.object, event.object.metadata.uid
        if pod.metadata.namespace not in self.namespaces:
            return
        if uid not in self._owners:
            self._enter(pod.metadata)
        if pod.spec.node_name and uid not in self.moments:
            self.moments[uid] = moment
            self.count += uid not in self._replaced
        has_ended = event.type == "DELETED" or pod.status.phase in ("Succeeded", "Failed")
        if has_ended or pod.metadata.deletion_timestamp is not None:
            self._places.leave(uid, self._owners[uid])

    def _enter(self, pod: _Meta) -> None:
        owner = self._owners[pod.uid] = renaming_owner(pod.owner_references)
        before = self._places.enter(pod.uid, pod.namespace, pod.name, owner)
        if before is not None:
            self._replaced.add(before)
            self.count -= before in self.moments


def run(kubeconfig: Path, load: Load, timing: TimingConfig, settle: float = SETTLE) -> Outcome:
    """Carry a test out; NoSchedulingEvents where no pod got a node."""
    with Client(kubeconfig) as client:
        prepare(client, load)
        if not load.submitted and not load.has_daemon_sets:
            raise NoSchedulingEvents("the objects of the test lead to no pod, so nothing can be scheduled")
        with _watched(kubeconfig, client, frozenset(load.namespaces)) as scheduled:
            created, pods = _create(kubeconfig, client, load, timing)
            of_daemon_sets = _pods_of_daemon_sets(client, load) if load.has_daemon_sets else 0
            pods += of_daemon_sets
            _settle(scheduled, pods, settle)
            moments, bound = list(scheduled.moments.values()), scheduled.count
    throughput = measure(moments)
    submitted = load.submitted + of_daemon_sets
    return Outcome(throughput, submitted, _reason(load, created, pods, bound, timing, scheduled.error))


def why_nothing_was_scheduled(kubeconfig: Path, load: Load) -> list[str]:
    """What the schedulers said most often about the pods and PodGroups of a test, and what was not created."""
    said: Counter[str] = Counter()
    pods = 0
    with Client(kubeconfig) as client:
        for name in load.namespaces:
            pods += len(client.get(f"/api/v1/namespaces/{name}/pods").get("items") or ())
            for event in client.get(f"/api/v1/namespaces/{name}/events").get("items") or ():
                if event.get("reason") in UNSCHEDULED:
                    said[f"{event['involvedObject']['kind']}: {event.get('message', '')}"] += event.get("count") or 1
    reasons = [f"{count} × {text}" for text, count in said.most_common(REASONS)]
    created = f"{pods} of {load.submitted} pods were created"
    return [created, *(reasons or ["no scheduler said anything about them: does one take spec.schedulerName?"])]


def _reason(load: Load, created: int, pods: int, bound: int, timing: TimingConfig, error: str) -> str:
    total = sum(1 for _ in load.copies())
    if created < total:
        return f"{created} of {total} objects were created within the duration of {timing.duration:g} s"
    if bound < pods:
        return f"{bound} of {pods} pods were scheduled" + (f" ({error})" if error else "")
    return ""


def prepare(client: Client, load: Load) -> None:
    """Remove what an earlier test left, and make the namespaces of this one."""
    left = client.get(f"/api/v1/namespaces?labelSelector={LABEL}").get("items") or []
    for namespace in left:
        client.request("DELETE", f"/api/v1/namespaces/{namespace['metadata']['name']}")
    _until(lambda: not client.get(f"/api/v1/namespaces?labelSelector={LABEL}").get("items"), "old namespaces are gone")
    for document in load.namespace_documents():
        client.create("/api/v1/namespaces", document)
    for name in load.namespaces:
        _until(partial(_has_account, client, name), f"namespace {name} has its service account")
    for document in load.prepared:
        plural, _ = client.resource(document["apiVersion"], document["kind"])
        try:
            client.create(f"{_root(document)}/{plural}", document)
        except ApiError as error:
            if error.code != 409:
                raise


def _has_account(client: Client, namespace: str) -> bool:
    try:
        client.get(f"/api/v1/namespaces/{namespace}/serviceaccounts/default")
    except ApiError:
        return False
    return True


def _until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PREPARED_WITHIN
    while not holds():
        if time.monotonic() > end:
            raise ConfigError("", "preparation", f"not within {PREPARED_WITHIN:.0f} s: {what}")
        time.sleep(LOOK_EVERY)


def _root(document: Document) -> str:
    version = document["apiVersion"]
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


@contextmanager
def _watched(kubeconfig: Path, client: Client, namespaces: frozenset[str]) -> Iterator[Scheduled]:
    """Watch all pods from now on, in a thread of its own."""
    revision = client.get("/api/v1/pods?limit=1")["metadata"]["resourceVersion"]
    scheduled = Scheduled(namespaces)
    watch = Client(kubeconfig).watch(
        f"/api/v1/pods?watch=true&resourceVersion={revision}&allowWatchBookmarks=true&timeoutSeconds=86400"
    )
    stopped = threading.Event()

    def follow() -> None:
        try:
            for line in watch:
                scheduled.hear(line, time.time())
            if not stopped.is_set():
                scheduled.error = "the watch of pods ended"
        except (OSError, SeatrialError, ValueError) as error:
            if not stopped.is_set():
                scheduled.error = f"the watch of pods failed: {error}"

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield scheduled
    finally:
        stopped.set()
        watch.close()
        thread.join(timeout=5)


def _create(kubeconfig: Path, client: Client, load: Load, timing: TimingConfig) -> tuple[int, int]:
    """Create the objects at the rate asked for, until the duration is over; how many, and the pods they lead to."""
    paths = {
        (item.document["apiVersion"], item.document["kind"]): client.resource(
            item.document["apiVersion"], item.document["kind"]
        )[0]
        for item in load.objects
        if item.namespaced
    }
    connections = max(1, min(MOST_CONNECTIONS, round(timing.qps / REQUESTS_A_CONNECTION)))
    local = threading.local()

    def send(item: LoadObject, document: Document) -> None:
        if not hasattr(local, "client"):
            local.client = Client(kubeconfig)
            clients.append(local.client)
        plural = paths[document["apiVersion"], document["kind"]]
        path = f"{_root(document)}/namespaces/{document['metadata']['namespace']}/{plural}"
        try:
            local.client.create(path, orjson.dumps(document))
        except ApiError as error:
            raise ConfigError(str(item.path), document["metadata"].get("name", ""), error.why) from error

    created = pods = 0
    clients: list[Client] = []
    waiting: list[Future[None]] = []
    start = time.monotonic()
    with ThreadPoolExecutor(connections) as pool:
        for item, document in load.copies():
            due = start + created / timing.qps
            if due - start > timing.duration or time.monotonic() - start > timing.duration:
                break
            time.sleep(max(0.0, due - time.monotonic()))
            waiting.append(pool.submit(send, item, document))
            created, pods = created + 1, pods + item.pods
            if len(waiting) > 2 * connections:
                waiting.pop(0).result()
        for future in waiting:
            future.result()
    for each in clients:
        each.close()
    return created, pods


def _pods_of_daemon_sets(client: Client, load: Load) -> int:
    """How many pods the DaemonSets of a test lead to, when their controller has counted the nodes for all of them."""
    found: list[DaemonSet] = []

    def are_counted() -> bool:
        answers = [client.get(f"/apis/apps/v1/namespaces/{name}/daemonsets") for name in load.namespaces]
        found[:] = msgspec.convert([each for answer in answers for each in answer.get("items") or ()], list[DaemonSet])
        return all(each.status.observed_generation for each in found)

    _until(are_counted, "the DaemonSets of the test have a status")
    return sum(each.status.desired_number_scheduled for each in found)


def _settle(scheduled: Scheduled, pods: int, limit: float) -> None:
    """Wait until all pods have a node, or for too long no more have one than before."""
    seen, since = scheduled.count, time.monotonic()
    while scheduled.count < pods and not scheduled.error:
        if scheduled.count > seen:
            seen, since = scheduled.count, time.monotonic()
        if time.monotonic() - since > limit:
            return
        time.sleep(LOOK_EVERY)
