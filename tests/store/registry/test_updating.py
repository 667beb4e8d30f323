"""Updating objects: optimistic concurrency, what stays, and writes that change nothing."""

from collections.abc import Callable

import pytest

from seatrial.model.errors import Conflict, Invalid, NotFound
from seatrial.model.kinds import Kind
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import Document, config_map, deployment, node, pod


def test_a_write_from_an_older_revision_is_a_conflict_with_upstreams_text(store: Store, pods: Kind) -> None:
    first = store.create(pods, pod("x"), writer="test").document()
    first["metadata"]["labels"] = {"a": "b"}
    store.update(pods, first, writer="test")
    with pytest.raises(Conflict) as raised:
        store.update(pods, first, writer="test")
    assert raised.value.message == (
        'Operation cannot be fulfilled on pods "x": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


def test_a_write_without_a_revision_overwrites_where_the_kind_allows_it(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a"), writer="test")
    assert store.update(maps, config_map("a", x="1"), writer="test").document()["data"] == {"x": "1"}


def test_a_kind_that_wants_a_revision_refuses_a_write_without(store: Store, kind: FindKind) -> None:
    leases = kind("coordination.k8s.io/v1", "Lease")
    document = {"metadata": {"name": "l", "namespace": "default"}, "spec": {"holderIdentity": "a"}}
    store.create(leases, document, writer="test")
    with pytest.raises(Invalid, match=r"metadata\.resourceVersion: Invalid value: 0: must be specified for an update"):
        store.update(leases, {**document, "spec": {"holderIdentity": "b"}}, writer="test")


def test_an_update_of_a_lease_that_is_not_there_creates_it(store: Store, kind: FindKind) -> None:
    leases = kind("coordination.k8s.io/v1", "Lease")
    document = {"metadata": {"name": "l", "namespace": "default"}, "spec": {"holderIdentity": "a"}}
    assert store.update(leases, document, writer="test").revision == 1


def test_an_update_of_a_pod_that_is_not_there_is_not_found(store: Store, pods: Kind) -> None:
    with pytest.raises(NotFound, match='pods "a" not found'):
        store.update(pods, pod("a"), writer="test")


def test_a_write_for_another_incarnation_is_a_conflict(store: Store, maps: Kind) -> None:
    document = store.create(maps, config_map("a"), writer="test").document()
    document["metadata"]["uid"] = "other"
    with pytest.raises(Conflict, match="Precondition failed: UID in precondition: other, UID in object meta: "):
        store.update(maps, document, writer="test")


def test_a_write_that_changes_nothing_takes_no_revision(store: Store, pods: Kind) -> None:
    stored = store.create(pods, pod("a"), writer="test")
    assert store.update(pods, stored.document(), writer="test") is stored
    assert store.modify(pods, "a", lambda document: None, namespace="default", writer="test") is stored
    assert store.revision == 1


def test_identity_and_birth_cannot_be_changed(store: Store, maps: Kind) -> None:
    document = store.create(maps, config_map("a"), writer="test").document()
    before = dict(document["metadata"])
    document["metadata"]["creationTimestamp"] = "2000-01-01T00:00:00Z"
    document["metadata"]["deletionTimestamp"] = "2000-01-01T00:00:00Z"
    document["metadata"]["generation"] = 99
    document["data"] = {"x": "1"}
    after = store.update(maps, document, writer="test").document()["metadata"]
    assert after == {**before, "resourceVersion": "2"}


def test_the_main_door_ignores_status(store: Store, kind: FindKind) -> None:
    nodes = kind("v1", "Node")
    store.create(nodes, node("n", phase="x"), writer="test")
    document = {**node("n", phase="y"), "spec": {"unschedulable": True}}
    after = store.update(nodes, document, writer="test").document()
    assert after["status"]["phase"] == "x" and after["spec"] == {"unschedulable": True}


def test_the_status_door_ignores_spec(store: Store, kind: FindKind) -> None:
    nodes = kind("v1", "Node")
    store.create(nodes, node("n", phase="x"), writer="test")
    document = {**node("n", phase="y"), "spec": {"unschedulable": True}}
    after = store.update(nodes, document, subresource="status", writer="test").document()
    assert after["status"]["phase"] == "y" and not after["spec"]


def test_the_status_door_of_a_deployment_keeps_labels_but_takes_annotations(store: Store, kind: FindKind) -> None:
    deployments = kind("apps/v1", "Deployment")
    document = store.create(deployments, deployment("d"), writer="test").document()
    document["metadata"] |= {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    document["status"] = {"replicas": 1}
    after = store.update(deployments, document, subresource="status", writer="test").document()["metadata"]
    assert "labels" not in after and after["annotations"] == {"c": "d"}


def test_a_door_the_kind_does_not_have_is_not_found(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a"), writer="test")
    with pytest.raises(NotFound):
        store.update(maps, config_map("a", x="1"), subresource="status", writer="test")


def test_generation_counts_changes_of_the_desired_state_only(store: Store, kind: FindKind) -> None:
    deployments = kind("apps/v1", "Deployment")
    store.create(deployments, deployment("d", 1), writer="test")

    def generation_after(change: Callable[[Document], None], subresource: str = "") -> int:
        changed = store.modify(deployments, "d", change, namespace="default", subresource=subresource, writer="test")
        generation: int = changed.document()["metadata"]["generation"]
        return generation

    assert generation_after(lambda document: document["metadata"].update(labels={"a": "b"})) == 1
    assert generation_after(lambda document: document["spec"].update(replicas=2)) == 2
    assert generation_after(lambda document: document.update(status={"replicas": 2}), "status") == 2


def test_ephemeral_containers_are_all_their_door_changes(store: Store, pods: Kind) -> None:
    document = store.create(pods, pod("a"), writer="test").document()
    document["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "busybox"}]
    document["spec"]["containers"][0]["image"] = "other"
    after = store.update(pods, document, subresource="ephemeralcontainers", writer="test").document()["spec"]
    assert after["ephemeralContainers"][0]["name"] == "debug"
    assert after["containers"][0]["image"] == "registry.example/main:1"


def test_resize_changes_resources_and_nothing_else(store: Store, pods: Kind) -> None:
    wanted = pod("a")
    wanted["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "500m"}}
    document = store.create(pods, wanted, writer="test").document()
    document["spec"]["containers"][0] |= {"image": "other", "resources": {"requests": {"cpu": "1"}}}
    after = store.update(pods, document, subresource="resize", writer="test").document()
    container = after["spec"]["containers"][0]
    assert container["resources"] == {"requests": {"cpu": "1"}}
    assert container["image"] == "registry.example/main:1"
    assert after["metadata"]["generation"] == 2


def test_a_daemon_set_counts_its_templates(store: Store, kind: FindKind) -> None:
    sets = kind("apps/v1", "DaemonSet")
    document = {**deployment("d"), "kind": "DaemonSet"}
    del document["spec"]["replicas"]
    store.create(sets, document, writer="test")

    def change(document: Document) -> None:
        document["spec"]["template"]["spec"]["containers"][0]["image"] = "other"

    after = store.modify(sets, "d", change, namespace="default", writer="test").document()
    assert after["metadata"]["annotations"]["deprecated.daemonset.template.generation"] == "2"


def test_the_phase_of_a_volume_carries_the_time_it_changed(store: Store, kind: FindKind) -> None:
    volumes = kind("v1", "PersistentVolume")
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"}}
    store.create(volumes, {"metadata": {"name": "v"}, "spec": spec}, writer="test")
    store.clock.advance(store.clock.now() + 5_000_000)
    after = store.modify(
        volumes, "v", lambda document: document["status"].update(phase="Bound"), subresource="status", writer="test"
    ).document()
    assert after["status"]["lastPhaseTransitionTime"] == "2030-01-01T00:00:05Z"
