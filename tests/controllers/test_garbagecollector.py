"""Owners that own each other in a circle."""

from tests.controllers.objects import pod
from tests.controllers.replaying import Cluster


def test_a_circle_of_owners_is_deleted_with_one_of_them() -> None:
    cluster = Cluster()
    names = ("a", "b", "c")
    cluster.create(*(pod(name) for name in names))
    uids = {name: cluster.get("Pod", name)["metadata"]["uid"] for name in names}
    for name, owner in zip(names, (names[-1], *names), strict=False):
        reference = {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": uids[owner]}
        references = [reference | {"controller": True, "blockOwnerDeletion": True}]
        cluster.patch({"kind": "Pod", "name": name, "body": {"metadata": {"ownerReferences": references}}})
    cluster.settle()
    assert len(cluster.all("Pod")) == 3
    cluster.delete({"kind": "Pod", "name": "a", "propagation": "Foreground"})
    cluster.settle()
    assert cluster.all("Pod") == []


def event(name: str, owners: list[dict[str, str]]) -> dict[str, object]:
    """An Event about a pod that is not there."""
    about = {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "gone"}
    metadata = {"name": name, "namespace": "default", "ownerReferences": owners}
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": about}


def test_an_event_whose_owner_is_gone_stays() -> None:
    cluster = Cluster()
    cluster.create(event("e", [{"apiVersion": "v1", "kind": "Pod", "name": "gone", "uid": "u-gone"}]))
    cluster.settle()
    assert [one["metadata"]["name"] for one in cluster.all("Event")] == ["e"]


def test_a_pod_that_an_event_owns_stays_as_long_as_the_event_exists() -> None:
    cluster = Cluster()
    cluster.create(event("e", []))
    uid = cluster.get("Event", "e")["metadata"]["uid"]
    owned, orphaned = pod("owned"), pod("orphaned")
    for document, owner in ((owned, uid), (orphaned, "u-gone")):
        reference = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "name": "e", "uid": owner}
        document["metadata"]["ownerReferences"] = [reference]
    cluster.create(owned, orphaned)
    cluster.settle()
    assert [one["metadata"]["name"] for one in cluster.all("Pod")] == ["owned"]
