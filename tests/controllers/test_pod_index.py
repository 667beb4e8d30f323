"""The rows that controllers keep of pods: small, and with what they share kept once."""

import msgspec

from seatrial.controllers.framework.pod_index import OwnedPods, PodIndex
from seatrial.controllers.framework.pod_row import DELETION_COST, NO_ANNOTATIONS, PodRow, read_pod
from seatrial.model.documents import Document
from tests.controllers.objects import pod
from tests.controllers.replaying import Cluster


def rows(cluster: Cluster) -> list[PodRow]:
    return [read_pod(stored) for stored in cluster.store.list(cluster.kind("Pod"))]


def test_pods_of_one_template_share_their_labels(cluster: Cluster) -> None:
    """The first two are whole documents; the template is made of the second."""
    for name in ("a", "b", "c", "d"):
        cluster.create(pod(name))
    _, _, third, fourth = rows(cluster)
    assert third.labels is fourth.labels


def test_annotations_that_no_controller_reads_are_not_kept(cluster: Cluster) -> None:
    document = pod("a")
    document["metadata"]["annotations"] = {"example.com/note": "long"}
    cluster.create(document)
    assert rows(cluster)[0].annotations is NO_ANNOTATIONS


def test_a_pod_says_what_its_deletion_costs(cluster: Cluster) -> None:
    document = pod("a")
    document["metadata"]["annotations"] = {DELETION_COST: "-7", "example.com/note": "long"}
    cluster.create(document)
    assert rows(cluster)[0].deletion_cost == -7


def test_the_names_of_an_object_are_kept_once_over_its_revisions(cluster: Cluster) -> None:
    cluster.create(pod("a"))
    first = cluster.store.get(cluster.kind("Pod"), "a", "default")
    cluster.patch({"kind": "Pod", "name": "a", "body": {"metadata": {"labels": {"more": "yes"}}}})
    second = cluster.store.get(cluster.kind("Pod"), "a", "default")
    assert second.name is first.name
    assert second.namespace is first.namespace


def test_labels_changed_together_with_the_status_are_seen(cluster: Cluster) -> None:
    index = PodIndex(cluster.store)
    index.start()
    cluster.create(pod("a"))

    def change(document: Document) -> None:
        document["metadata"]["labels"] = {"app": "other"}
        document["status"]["phase"] = "Running"

    kind = cluster.kind("Pod")
    cluster.store.modify(kind, "a", change, namespace="default", subresource="status", writer="user:somebody")
    row = index.get("default", "a")
    assert row is not None
    assert (row.labels, row.phase) == ({"app": "other"}, "Running")


def test_a_write_that_leaves_the_labels_alone_leaves_them_shared(cluster: Cluster) -> None:
    """A scheduler's results become annotations of each pod, which is then known by its bytes alone."""
    index = PodIndex(cluster.store)
    index.start()
    for name in ("a", "b", "c", "d"):
        cluster.create(pod(name))
    before = {row.name: row for row in index}
    for name in ("c", "d"):
        body = {"metadata": {"annotations": {"example.com/note": name}}}
        cluster.patch({"kind": "Pod", "name": name, "body": body})
    third, fourth = index.get("default", "c"), index.get("default", "d")
    assert third is not None and fourth is not None
    assert third.labels is fourth.labels is before["c"].labels
    assert third.uid is before["c"].uid


def test_a_row_that_is_followed_is_the_row_that_is_read(cluster: Cluster) -> None:
    """Binding and status are read from the part that they change."""
    index = PodIndex(cluster.store)
    index.start()
    cluster.create(pod("a", nodeName=""))
    cluster.store.bind("default", "a", "n", writer="scheduler")
    assert [*index] == rows(cluster)
    cluster.settle()
    assert [*index] == rows(cluster)
    (row,) = index
    assert (row.node, row.phase) == ("n", "Running")


def test_where_a_pod_is_is_told_to_those_who_ask(cluster: Cluster) -> None:
    index = PodIndex(cluster.store)
    index.start()
    nodes: list[str] = []
    owners: list[PodRow | None] = []
    index.listen(lambda old, new: nodes.append(new.node if new is not None else ""))
    stop = index.listen(lambda old, new: owners.append(new), placement=False)
    cluster.create(pod("a", nodeName=""))
    cluster.store.bind("default", "a", "n", writer="scheduler")
    assert (nodes, len(owners)) == (["", "n"], 1)
    stop()
    cluster.delete({"kind": "Pod", "name": "a"})
    assert len(owners) == 1


def test_rows_that_are_first_read_late_are_those_kept_from_the_start(cluster: Cluster) -> None:
    early, late = PodIndex(cluster.store), PodIndex(cluster.store)
    early.start()
    late.start()
    early.get("default", "none")
    for name in ("a", "b", "c", "d"):
        cluster.create(pod(name, nodeName=""))
    for name in ("c", "a"):
        cluster.store.bind("default", name, "n", writer="scheduler")
    assert [row.name for row in early] == ["b", "d", "c", "a"]
    cluster.settle()
    cluster.patch({"kind": "Pod", "name": "b", "body": {"metadata": {"labels": {"more": "yes"}}}})
    assert [*early] == [*late]
    assert early.on_node("n") == late.on_node("n")
    assert early.orphans("default") == late.orphans("default")


def test_a_listener_that_needs_nothing_yet_is_called_for_pods_with_an_owner_only(cluster: Cluster) -> None:
    index = PodIndex(cluster.store)
    index.start()
    seen: list[str] = []
    needed: list[str] = []
    index.listen(lambda old, new: seen.append(new.name if new is not None else ""), needed=needed)
    cluster.create(pod("a"))
    owned = pod("b")
    owned["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}]
    owned["metadata"]["ownerReferences"][0]["controller"] = True
    cluster.create(owned)
    cluster.create(pod("c"))
    assert seen == ["b"]
    needed.append("something")
    cluster.create(pod("d"))
    assert seen == ["b", "d"]
    assert [row.name for row in index] == ["a", "b", "c", "d"]


def of_owner(index: PodIndex) -> OwnedPods:
    return index.owned_by("u")


def test_counts_that_are_first_read_late_are_those_kept_from_the_start(cluster: Cluster) -> None:
    early, late = PodIndex(cluster.store), PodIndex(cluster.store)
    for index in (early, late):
        index.start()
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u", "controller": True}
    for name in ("a", "b", "c"):
        document = pod(name, nodeName="")
        document["metadata"]["ownerReferences"] = [owner]
        cluster.create(document)
        of_owner(early)
    cluster.store.bind("default", "a", "n", writer="scheduler")
    cluster.delete({"kind": "Pod", "name": "b"})
    counts = [(*pods.rows.items(), pods.active, pods.ready, pods.labels) for pods in map(of_owner, (early, late))]
    assert counts[0] == counts[1]
    assert [*of_owner(late).rows] == [("default", "c"), ("default", "a")]


def test_a_job_looks_at_pods_that_ended_and_at_no_others(cluster: Cluster) -> None:
    for name in ("a", "b", "c", "d"):
        cluster.create(pod(name))
    a, b, c, d = [msgspec.structs.replace(row, phase="Running", finalizers=("job",)) for row in rows(cluster)]
    owned = OwnedPods()
    for row in (a, b, c, d):
        owned.add(row)
    assert owned.inactive() == []
    failed, succeeded = msgspec.structs.replace(c, phase="Failed"), msgspec.structs.replace(a, phase="Succeeded")
    owned.replace(c, failed)
    owned.replace(a, succeeded)
    assert owned.inactive() == [succeeded, failed], "in order of arrival"
    counted = msgspec.structs.replace(succeeded, finalizers=())
    owned.replace(succeeded, counted)
    owned.remove(failed)
    assert owned.inactive() == []
    assert owned.active == 2


def test_restarts_of_running_pods_are_summed(cluster: Cluster) -> None:
    cluster.create(pod("a"))
    (row,) = rows(cluster)
    owned = OwnedPods()
    running = msgspec.structs.replace(row, phase="Running", restarts=2)
    owned.add(running)
    more = msgspec.structs.replace(running, restarts=3)
    owned.replace(running, more)
    assert owned.restarts == 3
    owned.replace(more, msgspec.structs.replace(more, phase="Failed"))
    assert owned.restarts == 0
