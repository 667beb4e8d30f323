"""Field ownership: managedFields of ordinary writes, and server-side apply."""

import pytest

from seatrial.model.errors import BadRequest, Conflict, NotFound
from seatrial.model.kinds import Kind
from seatrial.store.objects import Stored
from seatrial.store.options import CreateOptions, Patch, PatchOptions
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import Document, config_map, deployment


def apply(store: Store, kind: Kind, document: Document, manager: str = "tool", *, force: bool = False) -> Stored:
    name, namespace = document["metadata"]["name"], document["metadata"].get("namespace", "")
    chosen = PatchOptions(field_manager=manager, force=force)
    return store.patch(kind, name, Patch("apply", document), namespace=namespace, writer="test", options=chosen)


def owners(store: Store, stored: Stored) -> dict[str, tuple[str, Document]]:
    entries = stored.document()["metadata"].get("managedFields") or []
    return {entry["manager"]: (entry["operation"], entry["fieldsV1"]) for entry in entries}


def test_a_writer_without_a_manager_leaves_no_trace(store: Store, maps: Kind) -> None:
    stored = store.create(maps, config_map("a", x="1"), writer="replicaset")
    assert "managedFields" not in stored.document()["metadata"]


def test_a_creator_owns_what_it_made(store: Store, maps: Kind) -> None:
    options = CreateOptions(field_manager="kubectl-create")
    stored = store.create(maps, config_map("a", x="1"), writer="test", options=options)
    assert owners(store, stored) == {"kubectl-create": ("Update", {"f:data": {".": {}, "f:x": {}}})}


def test_a_later_writer_owns_what_it_changed(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a", x="1"), writer="test", options=CreateOptions(field_manager="creator"))
    options = PatchOptions(field_manager="editor")
    stored = store.patch(
        maps, "a", Patch("merge", {"data": {"y": "2"}}), namespace="default", writer="test", options=options
    )
    found = owners(store, stored)
    assert found["editor"] == ("Update", {"f:data": {"f:y": {}}})
    assert found["creator"] == ("Update", {"f:data": {".": {}, "f:x": {}}})


def test_our_own_writes_keep_the_owners_there_are(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a", x="1"), writer="test", options=CreateOptions(field_manager="creator"))
    before = store.get(maps, "a", "default").document()["metadata"]["managedFields"]
    stored = store.modify(maps, "a", lambda d: d["data"].update(y="2"), namespace="default", writer="test")
    assert stored.document()["metadata"]["managedFields"] == before


def test_an_apply_creates_what_is_not_there(store: Store, maps: Kind) -> None:
    stored = apply(store, maps, config_map("a", x="1"))
    assert owners(store, stored) == {"tool": ("Apply", {"f:data": {"f:x": {}}})}


def test_an_apply_removes_what_it_no_longer_says(store: Store, maps: Kind) -> None:
    apply(store, maps, config_map("a", x="1", y="2"))
    assert apply(store, maps, config_map("a", y="3")).document()["data"] == {"y": "3"}


def test_two_managers_conflict_unless_one_forces(store: Store, maps: Kind) -> None:
    apply(store, maps, config_map("a", x="1"), "first")
    with pytest.raises(Conflict) as raised:
        apply(store, maps, config_map("a", x="2"), "second")
    assert raised.value.message == 'Apply failed with 1 conflict: conflict with "first": .data.x'
    assert raised.value.causes[0].reason == "FieldManagerConflict"
    assert apply(store, maps, config_map("a", x="2"), "second", force=True).document()["data"] == {"x": "2"}


def test_applying_the_same_again_takes_no_revision(store: Store, kind: FindKind) -> None:
    deployments = kind("apps/v1", "Deployment")
    apply(store, deployments, deployment("d"))
    store.clock.advance(store.clock.now() + 5_000_000)
    apply(store, deployments, deployment("d"))
    assert store.revision == 1


def test_an_applied_object_is_defaulted_like_any_other(store: Store, kind: FindKind) -> None:
    document = apply(store, kind("apps/v1", "Deployment"), deployment("d")).document()
    assert document["spec"]["revisionHistoryLimit"] == 10
    assert document["metadata"]["generation"] == 1


def test_an_apply_of_another_kind_is_refused(store: Store, maps: Kind) -> None:
    with pytest.raises(BadRequest):
        apply(store, maps, {**config_map("a"), "kind": "Secret"})


def test_a_subresource_cannot_be_applied_to_what_is_not_there(store: Store, kind: FindKind) -> None:
    chosen = PatchOptions(field_manager="tool")
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "status": {}}
    with pytest.raises(NotFound):
        store.patch(
            kind("apps/v1", "Deployment"),
            "d",
            Patch("apply", body),
            namespace="default",
            writer="test",
            subresource="status",
            options=chosen,
        )


def test_a_creator_does_not_own_what_admission_fills_in(store: Store, kind: FindKind) -> None:
    options = CreateOptions(field_manager="kubectl-create")
    document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    stored = store.create(kind("v1", "Pod"), document, writer="test", options=options)
    fields = stored.document()["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    assert "f:serviceAccountName" not in fields
    assert "f:tolerations" not in fields
    assert "f:restartPolicy" in fields
