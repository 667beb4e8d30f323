"""Binding pods: what it writes, and when it is a conflict."""

import pytest

from seatrial.model.errors import Conflict, NotFound
from seatrial.model.kinds import Kind
from seatrial.store.store import Store
from tests.store.stock import pod


def test_a_binding_sets_node_annotations_and_condition(store: Store, pods: Kind) -> None:
    store.create(pods, pod("a"), writer="test")
    bound = store.bind("default", "a", "n1", writer="scheduler", annotations={"x": "y"}).document()
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["metadata"]["annotations"] == {"x": "y"}
    assert bound["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": "2030-01-01T00:00:00Z",
        }
    ]


def test_a_binding_counts_as_no_change_of_the_desired_state(store: Store, pods: Kind) -> None:
    store.create(pods, pod("a"), writer="test")
    assert store.bind("default", "a", "n1", writer="scheduler").document()["metadata"]["generation"] == 1


def test_a_bound_pod_cannot_be_bound_again(store: Store, pods: Kind) -> None:
    store.create(pods, pod("x"), writer="test")
    store.bind("default", "x", "y", writer="scheduler")
    with pytest.raises(Conflict) as raised:
        store.bind("default", "x", "z", writer="scheduler")
    assert raised.value.message == (
        'Operation cannot be fulfilled on pods/binding "x": pod x is already assigned to node "y"'
    )


def test_a_gated_pod_cannot_be_bound(store: Store, pods: Kind) -> None:
    store.create(pods, pod("x", schedulingGates=[{"name": "g"}]), writer="test")
    with pytest.raises(Conflict, match=r"pod x has non-empty \.spec\.schedulingGates"):
        store.bind("default", "x", "y", writer="scheduler")


def test_a_pod_that_is_being_deleted_cannot_be_bound(store: Store, pods: Kind) -> None:
    document = pod("x")
    document["metadata"]["finalizers"] = ["example.com/one"]
    store.create(pods, document, writer="test")
    store.delete(pods, "x", namespace="default", writer="test")
    with pytest.raises(Conflict, match="pod x is being deleted, cannot be assigned to a host"):
        store.bind("default", "x", "y", writer="scheduler")


def test_a_binding_for_another_incarnation_is_a_conflict(store: Store, pods: Kind) -> None:
    store.create(pods, pod("x"), writer="test")
    with pytest.raises(Conflict, match="Precondition failed: UID in precondition: other"):
        store.bind("default", "x", "y", writer="scheduler", uid="other")


def test_a_nomination_ends_with_the_binding(store: Store, pods: Kind) -> None:
    store.create(pods, pod("x"), writer="test")
    nominate = {"nominatedNodeName": "y"}
    store.modify(
        pods, "x", lambda d: d["status"].update(nominate), namespace="default", subresource="status", writer="test"
    )
    assert "nominatedNodeName" not in store.bind("default", "x", "y", writer="scheduler").document()["status"]


def test_binding_a_pod_that_is_not_there_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound, match='pods "x" not found'):
        store.bind("default", "x", "y", writer="scheduler")
