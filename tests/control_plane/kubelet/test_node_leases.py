"""Leases of nodes are kept fresh."""

from collections.abc import Callable

import pytest

from seatrial.clock.virtual import Clock
from seatrial.control_plane.kubelet.node_leases import NAMESPACE, NodeLeases
from seatrial.controllers.framework.controller import Context
from seatrial.controllers.framework.pod_index import PodIndex
from seatrial.model.documents import Document
from seatrial.model.errors import Forbidden
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, to_micro_time
from seatrial.scenario.cluster import fresh_store
from seatrial.store import Store
from seatrial.store.requests import NoAdmission, Request
from tests.controllers.manifests import node
from tests.known_kinds import known_kind

LEASE = "coordination.k8s.io/v1", "Lease"


class Renewing:
    """A node whose lease was made, and the time of which is renewed."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.store = fresh_store(self.clock)
        self.kind = known_kind(self.store.kinds, *LEASE)
        self.store.create(known_kind(self.store.kinds, "v1", "Node"), node("n"), writer="user:test")
        self.leases = NodeLeases(Context(self.store, self.clock, PodIndex(self.store)))
        self.leases.start()
        self.renew(fire=False)

    def renew(self, *, fire: bool = True) -> Document:
        if fire:
            self.clock.fire_next(outer=True)
        while self.leases.work():
            pass
        return self.store.get(self.kind, "n", NAMESPACE).document()

    def change(self, change: Callable[[Document], None]) -> None:
        self.store.modify(self.kind, "n", change, namespace=NAMESPACE, writer="user:test")


def test_a_renewal_changes_the_time_and_the_revision_alone() -> None:
    renewing = Renewing()
    before, after = renewing.renew(), renewing.renew()
    assert after["spec"].pop("renewTime") > before["spec"].pop("renewTime")
    assert after["metadata"].pop("resourceVersion") == str(renewing.store.revision)
    before["metadata"].pop("resourceVersion")
    assert after == before


@pytest.mark.parametrize("key", ["renewTime", "resourceVersion"])
@pytest.mark.parametrize("field", ["spec", "metadata"])
def test_annotations_with_the_names_of_what_is_renewed_are_kept(key: str, field: str) -> None:
    renewing = Renewing()

    def annotate(lease: Document) -> None:
        now = lease["spec"]["renewTime"] if key == "renewTime" else str(renewing.store.revision + 1)
        lease["metadata"]["annotations"] = {key: now}
        if field == "spec":
            lease["spec"].pop("renewTime")

    renewing.change(annotate)
    kept = renewing.store.get(renewing.kind, "n", NAMESPACE).document()["metadata"]["annotations"]
    after = renewing.renew()
    assert after["metadata"]["annotations"] == kept
    assert after["metadata"]["resourceVersion"] == str(renewing.store.revision)
    assert after["spec"]["renewTime"] == to_micro_time(renewing.clock.now())


def test_a_lease_without_a_spec_is_renewed() -> None:
    renewing = Renewing()
    renewing.change(lambda lease: lease.pop("spec"))
    assert renewing.renew()["spec"] == {"renewTime": to_micro_time(renewing.clock.now())}


def test_admission_judges_renewals_where_it_judges_each_object() -> None:
    renewing = Renewing()
    before = renewing.renew()

    class Judging(NoAdmission):
        def validate(self, request: Request) -> None:
            raise Forbidden("no renewals")

        def inputs(self, store: Store, kind: Kind, namespace: str) -> None:
            return None

    renewing.store.admission = Judging()
    assert renewing.renew() == before


def test_a_node_gets_a_lease_that_is_renewed_every_ten_seconds() -> None:
    renewing = Renewing()
    first = renewing.store.get(renewing.kind, "n", NAMESPACE).document()["spec"]
    assert (first["holderIdentity"], first["leaseDurationSeconds"]) == ("n", 40)
    assert renewing.clock.next_outer() == renewing.clock.now() + 10 * SECOND
    assert renewing.renew()["spec"]["renewTime"] > first["renewTime"]
    renewing.leases.stop()
