"""The node controllers: lifecycle stages, taints by condition, and garbage collection of pods of deleted nodes."""

from typing import ClassVar

from seatrial.controllers.framework.controller import Ensemble
from seatrial.controllers.node.pod_gc import OrphanedPods
from seatrial.controllers.node.taints import NodeTaints
from seatrial.controllers.stages.lifecycle import Lifecycle


class NodeLifecycle(Lifecycle):
    """Runs the stages of nodes: the status that a kubelet would report."""

    name: ClassVar[str] = "node"
    served: ClassVar[tuple[str, str]] = ("v1", "Node")
    defaults: ClassVar[str] = "node"


class Node(Ensemble):
    """All node controllers as one."""

    name: ClassVar[str] = "node"
    parts = (NodeLifecycle, NodeTaints, OrphanedPods)
