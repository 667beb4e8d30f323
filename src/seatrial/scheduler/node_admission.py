"""What a kubelet checks before it runs a pod that is bound to its node: the filters that hold for every pod.

Upstream: pkg/scheduler/eventhandlers.go (AdmissionCheck), pkg/kubelet/lifecycle/predicate.go (generalFilter; v1.36).
Extended resources that the node does not have are not checked, as they may be resources of the whole cluster.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from seatrial.scheduler.cache.node_info import NodeInfo, ports_conflict
from seatrial.scheduler.cache.node_selectors import required_nodes
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_requests import CPU, EPHEMERAL, MEMORY, PODS, Requests, is_extended
from seatrial.scheduler.cache.pod_terms import HostPort
from seatrial.scheduler.plugins.node_affinity.plugin import REASON as AFFINITY_REASON
from seatrial.scheduler.plugins.node_ports import REASON as PORTS_REASON

OUT_OF = "OutOf"
TAINTS_REASON = "node(s) had taints that the pod didn't tolerate"


@dataclass(frozen=True, slots=True)
class Rejection:
    """The reason and the message with which a kubelet refuses a pod."""

    reason: str
    message: str


class Occupant(NamedTuple):
    """What a pod that runs takes of its node."""

    requests: Requests
    host_ports: tuple[HostPort, ...]

    @classmethod
    def of(cls, pod: PodInfo) -> "Occupant":
        return cls(pod.requests, pod.shape.host_ports)


def admission_check(pod: PodInfo, node: NodeInfo, others: Sequence[Occupant]) -> Rejection | None:
    """The first reason for which the node cannot run the pod with the pods that it runs already."""
    return next(_rejections(pod, node, others), None)


def _rejections(pod: PodInfo, node: NodeInfo, others: Sequence[Occupant]) -> Iterator[Rejection]:
    yield from _lacking_resources(pod, node, others)
    if not required_nodes(pod.shape).matches(node):
        yield _failed("NodeAffinity", AFFINITY_REASON)
    taken = {port for other in others for port in other.host_ports}
    if ports_conflict(pod.shape.host_ports, taken):
        yield _failed("NodePorts", PORTS_REASON)
    for taint in node.taints:
        tolerated = any(toleration.tolerates(taint) for toleration in pod.shape.tolerations)
        if taint.effect == "NoExecute" and not tolerated:
            yield _failed("TaintToleration", TAINTS_REASON)


def _lacking_resources(pod: PodInfo, node: NodeInfo, others: Sequence[Occupant]) -> Iterator[Rejection]:
    if len(others) + 1 > node.allowed_pods:
        yield _out_of(PODS, 1, len(others), node.allowed_pods)
    for name in (CPU, MEMORY, EPHEMERAL, *pod.requests.scalars):
        wanted, capacity = pod.requests.of(name), node.allocatable.get(name, 0)
        if not wanted or (is_extended(name) and name not in node.allocatable):
            continue
        used = sum(other.requests.of(name) for other in others)
        if wanted > capacity - used:
            yield _out_of(name, wanted, used, capacity)


def _out_of(resource: str, wanted: int, used: int, capacity: int) -> Rejection:
    amounts = f"requested: {wanted}, used: {used}, capacity: {capacity}"
    return Rejection(f"{OUT_OF}{resource}", f"Node didn't have enough resource: {resource}, {amounts}")


def _failed(predicate: str, why: str) -> Rejection:
    return Rejection(predicate, f"Predicate {predicate} failed: {why}")
