"""Leases of nodes are kept fresh."""

from seatrial.clock.virtual import Clock
from seatrial.control_plane.kubelet.node_leases import NodeLeases
from seatrial.controllers.framework.controller import Context
from seatrial.controllers.framework.pod_index import PodIndex
from seatrial.model.times import SECOND
from seatrial.scenario.cluster import fresh_store
from tests.controllers.manifests import node
from tests.known_kinds import known_kind


def test_a_node_gets_a_lease_that_is_renewed_every_ten_seconds() -> None:
    clock = Clock()
    store = fresh_store(clock)
    store.create(known_kind(store.kinds, "v1", "Node"), node("n"), writer="user:test")
    leases = NodeLeases(Context(store, clock, PodIndex(store)))
    leases.start()
    while leases.work():
        pass
    kind = known_kind(store.kinds, "coordination.k8s.io/v1", "Lease")
    first = store.get(kind, "n", "kube-node-lease").document()["spec"]
    assert (first["holderIdentity"], first["leaseDurationSeconds"]) == ("n", 40)
    assert clock.next_outer() == clock.now() + 10 * SECOND
    clock.fire_next(outer=True)
    while leases.work():
        pass
    assert store.get(kind, "n", "kube-node-lease").document()["spec"]["renewTime"] > first["renewTime"]
    leases.stop()
