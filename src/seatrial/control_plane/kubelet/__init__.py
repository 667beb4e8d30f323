"""What kubelets do in a live cluster beyond lifecycle stages: leases, heartbeats, addresses, admission of pods.

Upstream: pkg/kubelet (v1.36). A run has none of it: its nodes and pods are what its stages say.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.control_plane.components import Parts
    from seatrial.controllers.framework import EventRecorder, Kubelet


def add_kubelet(parts: "Parts", events: "EventRecorder", *, nodes: bool) -> "Kubelet":
    """Start the kubelets; without `nodes`, the nodes report through another program."""
    from seatrial.control_plane.kubelet.node_leases import NodeLeases
    from seatrial.control_plane.kubelet.node_status import NodeStatus
    from seatrial.control_plane.kubelet.pod_status import PodStatus
    from seatrial.control_plane.kubelet.pods import SimulatedKubelet
    from seatrial.controllers.framework import Context, PodIndex

    kubelet = SimulatedKubelet(parts.store, parts.clock, events)
    context = Context(parts.store, parts.clock, PodIndex(parts.store))
    kubelet.start()
    parts.workers.append(kubelet)
    for worker in (PodStatus(context), *((NodeLeases(context), NodeStatus(context)) if nodes else ())):
        worker.start()
        parts.workers.append(worker)
    return kubelet
