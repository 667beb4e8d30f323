"""Scale-down: which nodes are not needed, since their pods would fit on the others.

Upstream: core/scaledown/eligibility (utilisation), simulator/cluster.go (FindNodesToRemove).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from seatrial.model.documents import Document
from seatrial.scenario.autoscaler.cluster_snapshot import ClusterSnapshot
from seatrial.scenario.autoscaler.drainability import moves
from seatrial.scenario.autoscaler.flags import Flags
from seatrial.scheduler.cache import NodeInfo

SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
GPU = "nvidia.com/gpu"
IsBlocked = Callable[[Document], bool]
"""Whether a pod keeps its node from being removed."""


def unneeded(
    snapshot: ClusterSnapshot,
    candidates: Iterable[str],
    pods_of: Mapping[str, Sequence[Document]],
    flags: Flags,
    is_blocked: IsBlocked,
) -> dict[str, list[Document]]:
    """The nodes that are not needed, with the pods that have to move; each on top of those before it."""
    found: dict[str, list[Document]] = {}
    for name in candidates:
        node = snapshot.node(name)
        if node is None or node.annotations.get(SCALE_DOWN_DISABLED) == "true":
            continue
        if utilisation(node) >= flags.scale_down_utilization_threshold:
            continue
        pods = pods_of.get(name, ())
        moving = [pod for pod in pods if moves(pod)]
        if any(is_blocked(pod) for pod in moving):
            continue
        if _fit_elsewhere(snapshot, pods, moving):
            found[name] = moving
            snapshot.remove_node(name)
    return found


def utilisation(node: NodeInfo) -> float:
    """The larger share of cpu and memory that is requested; of a node with GPUs, the share of these."""
    if node.allocatable.get(GPU):
        return sum(pod.requests.of(GPU) for pod in node.pods) / node.allocatable[GPU]
    offered = {resource: has for resource in ("cpu", "memory") if (has := node.allocatable.get(resource))}
    asked = {resource: sum(pod.requests.of(resource) for pod in node.pods) for resource in offered}
    return max((asked[resource] / has for resource, has in offered.items()), default=0.0)


def _fit_elsewhere(snapshot: ClusterSnapshot, pods: Sequence[Document], moving: Sequence[Document]) -> bool:
    """Move the pods of a node; where one does not fit, everything is as before."""
    node = pods[0]["spec"]["nodeName"] if pods else ""
    info = snapshot.node(node) if node else None
    if info is None:
        return True
    cordoned = snapshot.cordon(node)
    placed: dict[str, str] = {}
    for pod in moving:
        snapshot.unbind(pod)
        key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        placed[key] = snapshot.place(key)
        if not placed[key]:
            break
    if all(placed.values()):
        return True
    for pod in moving[: len(placed)]:
        key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        if placed[key]:
            snapshot.take_back(key, placed[key])
        snapshot.bind_again(pod)
    snapshot.uncordon(cordoned)
    return False
