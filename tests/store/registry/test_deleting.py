"""Deleting objects: grace, finalizers, propagation, preconditions, namespaces."""

from typing import Any

import pytest

from seatrial.model.errors import Conflict, NotFound
from seatrial.model.kinds import Kind
from seatrial.store.objects import Stored
from seatrial.store.options import DeleteOptions, Propagation
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import Document, config_map, deployment, pod


def delete(store: Store, kind: Kind, name: str, **options: Any) -> Stored | None:
    return store.delete(kind, name, namespace="default", writer="test", options=DeleteOptions(**options))


def marked_by(deleted: Stored | None) -> Document:
    """The document that a delete marked and left in the store."""
    assert deleted is not None, "the object is gone"
    return deleted.document()


def drop_finalizers(document: Document) -> None:
    document["metadata"].pop("finalizers")


def test_an_object_without_finalizers_goes_at_once(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a"), writer="test")
    assert delete(store, maps, "a") is None
    assert store.find(maps, "a", "default") is None


def test_deleting_what_is_not_there_is_not_found(store: Store, maps: Kind) -> None:
    with pytest.raises(NotFound, match='configmaps "a" not found'):
        delete(store, maps, "a")


def test_the_last_state_of_an_object_has_the_revision_of_its_end(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a"), writer="test")
    delete(store, maps, "a")
    (change,) = store.changes(1, maps)
    assert (change.type, change.stored.document()["metadata"]["resourceVersion"]) == ("DELETED", "2")


def test_an_unscheduled_pod_goes_at_once(store: Store, pods: Kind) -> None:
    store.create(pods, pod("a", terminationGracePeriodSeconds=30), writer="test")
    assert delete(store, pods, "a") is None


def test_a_bound_pod_is_marked_and_waits_for_its_grace_period(store: Store, pods: Kind) -> None:
    store.create(pods, pod("a", nodeName="n", terminationGracePeriodSeconds=30), writer="test")
    metadata = marked_by(delete(store, pods, "a"))["metadata"]
    assert metadata["deletionTimestamp"] == "2030-01-01T00:00:30Z"
    assert metadata["deletionGracePeriodSeconds"] == 30
    assert metadata["generation"] == 2


def test_a_pod_that_has_finished_goes_at_once(store: Store, pods: Kind) -> None:
    store.create(pods, pod("a", nodeName="n", terminationGracePeriodSeconds=30), writer="test")
    store.modify(
        pods,
        "a",
        lambda d: d["status"].update(phase="Succeeded"),
        namespace="default",
        subresource="status",
        writer="t",
    )
    assert delete(store, pods, "a") is None


def test_grace_zero_ends_a_marked_pod(store: Store, pods: Kind) -> None:
    store.create(pods, pod("a", nodeName="n", terminationGracePeriodSeconds=30), writer="test")
    delete(store, pods, "a")
    assert delete(store, pods, "a", grace_period_seconds=0) is None


def test_a_deletion_can_be_hurried_but_not_delayed(store: Store, pods: Kind) -> None:
    store.create(pods, pod("a", nodeName="n", terminationGracePeriodSeconds=30), writer="test")
    marked = delete(store, pods, "a")
    assert delete(store, pods, "a", grace_period_seconds=60) is marked
    assert delete(store, pods, "a") is marked
    hurried = marked_by(delete(store, pods, "a", grace_period_seconds=10))["metadata"]
    assert hurried["deletionTimestamp"] == "2030-01-01T00:00:10Z"
    assert hurried["deletionGracePeriodSeconds"] == 10


def test_finalizers_hold_an_object_until_the_last_is_gone(store: Store, maps: Kind) -> None:
    document = config_map("a")
    document["metadata"]["finalizers"] = ["example.com/one"]
    store.create(maps, document, writer="test")
    assert marked_by(delete(store, maps, "a"))["metadata"]["deletionGracePeriodSeconds"] == 0
    store.modify(maps, "a", drop_finalizers, namespace="default", writer="test")
    assert store.find(maps, "a", "default") is None


def test_deleting_a_held_object_again_changes_nothing(store: Store, maps: Kind) -> None:
    document = config_map("a")
    document["metadata"]["finalizers"] = ["example.com/one"]
    store.create(maps, document, writer="test")
    first = delete(store, maps, "a")
    assert delete(store, maps, "a") is first


def test_a_pod_with_grace_and_finalizers_outlives_both(store: Store, pods: Kind) -> None:
    document = pod("a", nodeName="n", terminationGracePeriodSeconds=30)
    document["metadata"]["finalizers"] = ["example.com/one"]
    store.create(pods, document, writer="test")
    delete(store, pods, "a")
    assert delete(store, pods, "a", grace_period_seconds=0) is not None
    store.modify(pods, "a", drop_finalizers, namespace="default", writer="test")
    assert store.find(pods, "a", "default") is None


@pytest.mark.parametrize(("policy", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")])
def test_the_garbage_collector_is_left_its_finalizer(
    store: Store, kind: FindKind, policy: Propagation, finalizer: str
) -> None:
    deployments = kind("apps/v1", "Deployment")
    store.create(deployments, deployment("d"), writer="test")
    held = marked_by(delete(store, deployments, "d", propagation_policy=policy))
    assert held["metadata"]["finalizers"] == [finalizer]


def test_background_deletion_leaves_the_owner_no_finalizer(store: Store, kind: FindKind) -> None:
    deployments = kind("apps/v1", "Deployment")
    store.create(deployments, deployment("d"), writer="test")
    assert delete(store, deployments, "d", propagation_policy="Background") is None


def test_preconditions_must_hold(store: Store, maps: Kind) -> None:
    uid = store.create(maps, config_map("a"), writer="test").document()["metadata"]["uid"]
    with pytest.raises(Conflict) as raised:
        delete(store, maps, "a", preconditions_uid="other")
    assert raised.value.message == (
        'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID '
        f"in record ({uid}). The object might have been deleted and then recreated"
    )
    with pytest.raises(Conflict, match=r"the ResourceVersion in the precondition \(7\) does not match"):
        delete(store, maps, "a", preconditions_resource_version="7")
    assert delete(store, maps, "a", preconditions_uid=uid, preconditions_resource_version="1") is None


def test_a_dry_run_deletes_nothing(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a"), writer="test")
    assert delete(store, maps, "a", dry_run=True) is None
    assert store.find(maps, "a", "default") is not None


def test_a_namespace_terminates_until_it_is_finalized(store: Store, kind: FindKind) -> None:
    namespaces = kind("v1", "Namespace")
    store.create(namespaces, {"metadata": {"name": "team"}}, writer="test")
    marked = marked_by(store.delete(namespaces, "team", writer="test"))
    assert marked["status"]["phase"] == "Terminating" and "deletionTimestamp" in marked["metadata"]
    store.modify(namespaces, "team", lambda document: document["spec"].pop("finalizers"), writer="test")
    assert store.find(namespaces, "team") is not None
    store.modify(
        namespaces, "team", lambda document: document["spec"].pop("finalizers"), subresource="finalize", writer="test"
    )
    assert store.find(namespaces, "team") is None
