"""NodeDeclaredFeatures: a pod that needs a feature of the kubelet goes to nodes that declare it.

Upstream: pkg/scheduler/framework/plugins/nodedeclaredfeatures, component-helpers/nodedeclaredfeatures (v1.36.3). Of the
features known there two can be read off a pod's spec; the others concern updates only.
"""

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Nodes
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.framework.interface import Plugin, Reads
from seatrial.scheduler.framework.status import MISSING, SKIP, SUCCESS, Status, error, unresolvable
from seatrial.scheduler.plugins.node_declared_features.hints import HINTS

REASON = "node(s) didn't match Pod's required features"
RESTART_ALL = "RestartAllContainersOnContainerExits"
HOST_NETWORK_USERS = "UserNamespacesHostNetworkSupport"


def required_features(spec: Document) -> frozenset[str]:
    """The declared features a pod needs its node to have."""
    found: set[str] = set()
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    rules = (rule for container in containers for rule in container.get("restartPolicyRules") or ())
    if any(rule.get("action") == "RestartAllContainers" for rule in rules):
        found.add(RESTART_ALL)
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        found.add(HOST_NETWORK_USERS)
    return frozenset(found)


class NodeDeclaredFeatures(Plugin):
    """Filters by `status.declaredFeatures`."""

    reads = Reads.NODE
    requeues = HINTS

    @property
    def is_enabled(self) -> bool:
        return self.handle is None or self.handle.gates.get(self.name, True)

    def skips_shape(self, shape: PodShape) -> bool:
        return not self.is_enabled or not required_features(shape.spec)

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> frozenset[str] | Status:
        if not self.is_enabled:
            return SKIP
        needed: frozenset[str] | None = pod.shape.notes.get(self.name)
        if needed is None:
            needed = pod.shape.notes[self.name] = required_features(pod.spec)
        return needed or SKIP

    def filter_one(self, pod: PodInfo, node: NodeInfo, state: frozenset[str]) -> Status:
        if not self.is_enabled:
            return SUCCESS
        if state is MISSING:
            return error('error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found')
        return SUCCESS if state <= node.declared_features else unresolvable(REASON)
