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
