"""Admits pods to nodes as kubelets do, and gives them the addresses of their node and of its pod range.

A pod that arrives with a nodeName and does not fit (two schedulers raced, or a client named the node) is Failed with
the reason that a kubelet gives. A controller may create the pod again at once, for ever: as upstream, the limit of
the kubelet's client to the rate of its requests bounds what that costs. Preemption in favour of critical pods is left
out.

Upstream: pkg/kubelet/kubelet.go (HandlePodAdditions, rejectPod), pkg/kubelet/lifecycle/predicate.go (v1.36).
"""

from collections.abc import Callable
from dataclasses import dataclass

from seatrial.clock import Clock
from seatrial.control_plane.kubelet.addresses import PodAddresses
from seatrial.control_plane.kubelet.node_status import host_address
from seatrial.controllers.framework import EventRecorder
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, parse_time
from seatrial.scheduler import Occupant, Rejection, admission_check
from seatrial.scheduler.cache import NodeInfo, PodInfo, PodReader
from seatrial.store import Change, Store, Stored
from seatrial.store.registry import write_status

ENDED = ("Succeeded", "Failed")
WRITER = "kubelet"
RATE, BURST = 50, 100
"""Rejections of one kubelet per second, and how many of them may be at once: kubeAPIQPS and kubeAPIBurst."""
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class KnownNode:
    """A node at one revision, as its kubelet sees it."""

    revision: int
    info: NodeInfo
    host: str
    pod_range: str


class SimulatedKubelet:
    """The pods that the kubelets of all nodes have admitted."""

    def __init__(self, store: Store, clock: Clock, events: EventRecorder) -> None:
        self._store, self._clock, self._events = store, clock, events
        self._pods, self._nodes = _kind(store, "Pod"), _kind(store, "Node")
        self._reader = PodReader()
        self._known: dict[str, KnownNode] = {}
        self._admitted: dict[str, dict[Key, Occupant]] = {}
        self._node_of: dict[Key, str] = {}
        self._addresses = PodAddresses()
        self._taken: dict[Key, tuple[str, str]] = {}
        """The range and the address of each pod."""
        self._busy_until: dict[str, int] = {}
        """By node: until when the rejections of its kubelet take at its rate of requests."""
        self._unsubscribe: list[Callable[[], None]] = []

    def start(self) -> None:
        """Take over the pods that run already."""
        self._unsubscribe.append(self._store.subscribe(self._changed, [self._pods]))
        self._unsubscribe.append(self._store.subscribe(self._node_gone, [self._nodes], types=("DELETED",)))
        for stored in self._store.list(self._pods):
            self._take_over(stored)

    def stop(self) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        self._known.clear()
        self._admitted.clear()
        self._node_of.clear()
        self._addresses = PodAddresses()
        self._taken.clear()
        self._busy_until.clear()

    def has_work(self) -> bool:
        """It works when it is called only."""
        return False

    def work(self) -> bool:
        return False

    def rejects(self, pod: Stored) -> bool:
        key = pod.namespace, pod.name
        if key in self._node_of:
            return False
        info = self._reader.of(pod)
        if not info.node or info.phase != "Pending" or info.deleting:
            return False
        node = self._store.find(self._nodes, info.node)
        if node is None:
            return False
        others = self._admitted.get(info.node, {})
        rejection = admission_check(info, self._node(node).info, list(others.values()))
        if rejection is None:
            self._admit(key, info)
            return False
        self._reject(pod, rejection)
        self._busy_until[info.node] = max(self._busy_until.get(info.node, 0), self._clock.now()) + SECOND // RATE
        return True

    def time_to_wait(self, pod: Stored) -> int:
        return max(self._time_to_stop(pod), self._time_to_request(pod))

    def _time_to_request(self, pod: Stored) -> int:
        """How long the rate of requests of a pod's kubelet forbids the next one."""
        if not self._busy_until:
            return 0
        now, node = self._clock.now(), pod.node_name
        if self._busy_until.get(node, now) <= now:
            self._busy_until.pop(node, None)
            return 0
        return self._busy_until[node] - now - (BURST - 1) * SECOND // RATE

    def _time_to_stop(self, pod: Stored) -> int:
        """The rest of the longest preStop sleep, at most of the grace period; no other hook takes time."""
        if b'"preStop"' not in pod.data or b'"deletionTimestamp"' not in pod.data:
            return 0
        document = pod.document()
        meta, status = document["metadata"], document.get("status", {})
        if not meta.get("deletionTimestamp") or status.get("phase") != "Running":
            return 0
        hooks = (container.get("lifecycle", {}).get("preStop", {}) for container in document["spec"]["containers"])
        longest = max(hook.get("sleep", {}).get("seconds", 0) for hook in hooks)
        end, grace = parse_time(meta["deletionTimestamp"]), meta.get("deletionGracePeriodSeconds") or 0
        return int(min(end, end + (longest - grace) * SECOND) - self._clock.now())

    def reported(self, pod: Stored) -> Document:
        document = pod.document()
        name, status = document["spec"].get("nodeName"), document.get("status", {})
        if not name or status.get("podIP") or status.get("phase") in ENDED:
            return {}
        stored = self._store.find(self._nodes, name)
        node = self._node(stored) if stored is not None else None
        host, own = node.host if node is not None else "", ""
        if document["spec"].get("hostNetwork"):
            own = host
        elif node is not None and node.pod_range:
            own = self._address(pod, node.pod_range)
        fields: Document = {"observedGeneration": document["metadata"].get("generation", 0)}
        fields |= {"hostIP": host, "hostIPs": [{"ip": host}]} if host else {}
        return fields | ({"podIP": own, "podIPs": [{"ip": own}]} if own else {})

    def _address(self, pod: Stored, pod_range: str) -> str:
        """The address of a pod; it has one already if the write of its status was refused."""
        key = pod.namespace, pod.name
        taken = self._taken.get(key, ("", ""))
        if taken[0] != pod_range or not taken[1]:
            taken = self._taken[key] = pod_range, self._addresses.take(pod_range)
        return taken[1]

    def _node(self, stored: Stored) -> KnownNode:
        """What a node is, read once for each of its revisions."""
        known = self._known.get(stored.name)
        if known is None or known.revision != stored.revision:
            document = stored.document()
            known = KnownNode(stored.revision, NodeInfo.read(document), host_address(document), _ipv4_range(document))
            self._known[stored.name] = known
        return known

    def _reject(self, pod: Stored, rejection: Rejection) -> None:
        document = pod.document()
        status: Document = {
            "phase": "Failed",
            "reason": rejection.reason,
            "message": f"Pod was rejected: {rejection.message}",
        }
        kept = {name: value for name, value in document.get("status", {}).items() if name in ("qosClass", "conditions")}
        self._events.record("kubelet", self._pods, document, "Warning", rejection.reason, rejection.message)
        write_status(self._store, pod, kept | status, WRITER)

    def _admit(self, key: Key, info: PodInfo) -> None:
        self._node_of[key] = info.node
        self._admitted.setdefault(info.node, {})[key] = Occupant.of(info)

    def _take_over(self, stored: Stored) -> None:
        info = self._reader.of(stored)
        if not info.node or info.phase in ENDED:
            return
        key = stored.namespace, stored.name
        if info.phase != "Pending":
            self._admit(key, info)
        address = stored.document().get("status", {}).get("podIP", "")
        node = self._store.find(self._nodes, info.node) if address else None
        pod_range = _ipv4_range(node.document()) if node is not None else ""
        if pod_range and not info.spec.get("hostNetwork") and ":" not in address:
            self._addresses.occupy(pod_range, address)
            self._taken[key] = pod_range, address

    def _changed(self, change: Change) -> None:
        key = change.stored.namespace, change.stored.name
        if key not in self._node_of:
            return
        is_gone = change.type == "DELETED"
        if not is_gone:
            info = self._reader.of(change.stored)
            is_gone = info.phase in ENDED
            self._admitted[self._node_of[key]][key] = Occupant.of(info)
        if is_gone:
            del self._admitted[self._node_of.pop(key)][key]
            taken = self._taken.pop(key, None)
            if taken is not None and taken[1]:
                self._addresses.release(*taken)

    def _node_gone(self, change: Change) -> None:
        name = change.stored.name
        self._known.pop(name, None)
        self._busy_until.pop(name, None)


def _kind(store: Store, name: str) -> Kind:
    return store.kinds.served("v1", name)


def _ipv4_range(node: Document) -> str:
    """The IPv4 range of a node's pods; empty if the node has no IPv4 range."""
    ranges: list[str] = node["spec"].get("podCIDRs") or []
    return next((text for text in ranges if ":" not in text), "")
