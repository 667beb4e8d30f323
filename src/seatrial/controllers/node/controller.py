"""Nodes: stages say how they are, conditions become taints, and pods do not outlive them."""

from typing import ClassVar

from seatrial.controllers.framework.controller import Ensemble
from seatrial.controllers.node.pod_gc import OrphanedPods
from seatrial.controllers.node.taints import NodeTaints
from seatrial.controllers.stages.lifecycle import Lifecycle


class NodeLifecycle(Lifecycle):
    """What a kubelet would say of its node."""

    name: ClassVar[str] = "node"
    served: ClassVar[tuple[str, str]] = ("v1", "Node")
    defaults: ClassVar[str] = "node"


class Node(Ensemble):
    """All that is done about nodes."""

    name: ClassVar[str] = "node"
    parts = (NodeLifecycle, NodeTaints, OrphanedPods)
