"""Snapshots: a whole cluster out and in again.

Tests: store/snapshots/*.py
"""

from collections.abc import Sequence

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import BadRequest, Forbidden
from seatrial.model.kinds import Kind
from seatrial.store.requests import NoAdmission, Request
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import Document, config_map, node, pod


def test_a_cluster_survives_export_and_load(store: Store, pods: Kind, maps: Kind, kind: FindKind) -> None:
    store.create(kind("v1", "Namespace"), {"metadata": {"name": "default"}}, writer="test")
    store.create(kind("v1", "Node"), node("n", allocatable={"cpu": "4"}), writer="test")
    store.create(pods, pod("a"), writer="test")
    store.bind("default", "a", "n", writer="scheduler")
    other = Store(builtin_kinds(), Clock())
    other.load(store.export(), writer="test")

    def without_revisions(documents: Sequence[Document]) -> Sequence[Document]:
        for document in documents:
            del document["metadata"]["resourceVersion"]
        return documents

    assert without_revisions(other.export()) == without_revisions(store.export())


def test_a_loaded_pod_keeps_status_uid_and_age(store: Store, pods: Kind) -> None:
    document = pod("a", nodeName="n")
    document["metadata"] |= {"uid": "u", "creationTimestamp": "2020-01-01T00:00:00Z", "resourceVersion": "77"}
    document["status"] = {"phase": "Running"}
    (loaded,) = store.load([document], writer="test")
    after = loaded.document()
    assert after["status"] == {"phase": "Running"}
    assert after["metadata"]["uid"] == "u"
    assert after["metadata"]["creationTimestamp"] == "2020-01-01T00:00:00Z"
    assert after["metadata"]["resourceVersion"] == str(loaded.revision)


def test_lists_are_taken_apart_and_namespaces_come_first(store: Store, kind: FindKind) -> None:
    pods = {"apiVersion": "v1", "kind": "List", "items": [pod("a", "team")]}
    namespaces = {"apiVersion": "v1", "kind": "NamespaceList", "items": [{"metadata": {"name": "team"}}]}
    assert [stored.kind.kind for stored in store.load([pods, namespaces], writer="test")] == ["Namespace", "Pod"]


def test_a_namespace_that_is_left_out_is_made(store: Store, kind: FindKind) -> None:
    store.load([pod("a", "team")], writer="test")
    assert store.find(kind("v1", "Namespace"), "team") is not None


def test_what_lived_before_is_not_charged_again(kind: FindKind) -> None:
    class Full(NoAdmission):
        def validate(self, request: Request) -> None:
            raise Forbidden("the quota is used up")

    store = Store(builtin_kinds(), Clock(), admission=Full())
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    assert len(store.load([namespace, pod("a")], writer="test")) == 2


def test_what_is_there_already_is_replaced(store: Store, maps: Kind) -> None:
    store.create(maps, config_map("a", x="1"), writer="test")
    store.load([config_map("a", x="2")], writer="test")
    assert store.get(maps, "a", "default").document()["data"] == {"x": "2"}
    assert len(store.list(maps)) == 1


def test_a_kind_that_is_not_served_is_refused_by_name(store: Store) -> None:
    with pytest.raises(BadRequest, match=r'no matches for kind "Widget" in version "example\.com/v1"'):
        store.load([{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}], writer="test")
