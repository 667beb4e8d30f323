"""Patching objects: the three patch types, and what a patch cannot do."""

import pytest

from seatrial.model.errors import BadRequest, Conflict, Invalid, NotFound
from seatrial.model.kinds import Kind
from seatrial.store.options import Patch, PatchType
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import Document, config_map, deployment, pod


def patch(store: Store, kind: Kind, name: str, type: PatchType, body: object, subresource: str = "") -> Document:
    wanted = Patch(type, body)
    return store.patch(kind, name, wanted, namespace="default", writer="test", subresource=subresource).document()


def test_a_merge_patch_sets_and_deletes(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a", x="1", y="2"), writer="test")
    assert patch(store, maps, "a", "merge", {"data": {"x": None, "z": "3"}})["data"] == {"y": "2", "z": "3"}


def test_a_strategic_patch_merges_containers_by_name(store: Store, pods: Kind) -> None:
    store.create(pods, pod("a"), writer="test")
    after = patch(store, pods, "a", "strategic", {"spec": {"containers": [{"name": "main", "image": "other"}]}})
    assert [(container["name"], container["image"]) for container in after["spec"]["containers"]] == [("main", "other")]


def test_a_json_patch_whose_test_fails_changes_nothing(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a", x="1"), writer="test")
    operations = [
        {"op": "replace", "path": "/data/x", "value": "2"},
        {"op": "test", "path": "/data/x", "value": "1"},
    ]
    with pytest.raises(Invalid):
        patch(store, maps, "a", "json", operations)
    assert store.get(maps, "a", "default").document()["data"] == {"x": "1"}


def test_a_patch_that_changes_nothing_takes_no_revision(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a", x="1"), writer="test")
    patch(store, maps, "a", "merge", {"data": {"x": "1"}})
    assert store.revision == 1


def test_a_patch_that_names_an_old_revision_is_a_conflict(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a", x="1"), writer="test")
    patch(store, maps, "a", "merge", {"data": {"x": "2"}})
    with pytest.raises(Conflict):
        patch(store, maps, "a", "merge", {"metadata": {"resourceVersion": "1"}, "data": {"x": "3"}})


def test_a_patch_of_what_is_not_there_is_not_found(store: Store, maps: Kind) -> None:
    with pytest.raises(NotFound):
        patch(store, maps, "a", "merge", {})


def test_a_patch_cannot_change_the_kind(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a"), writer="test")
    with pytest.raises(BadRequest):
        patch(store, maps, "a", "merge", {"kind": "Secret"})


def test_a_patch_cannot_change_the_name(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a"), writer="test")
    with pytest.raises(BadRequest, match=r"the name of the object \(b\) does not match the name on the URL \(a\)"):
        patch(store, maps, "a", "merge", {"metadata": {"name": "b"}})


def test_the_main_door_ignores_status_in_a_patch(store: Store, pods: Kind) -> None:
    store.create(pods, pod("a"), writer="test")
    after = patch(store, pods, "a", "merge", {"status": {"phase": "Running"}})
    assert after["status"]["phase"] == "Pending"


def test_a_patch_of_the_scale_sets_replicas(store: Store, kind: FindKind) -> None:
    deployments = kind("apps/v1", "Deployment")
    store.create(deployments, deployment("d", 1), writer="test")
    after = patch(store, deployments, "d", "merge", {"spec": {"replicas": 5}}, subresource="scale")
    assert after["spec"]["replicas"] == 5
