"""`serve --snapshot`: the cluster of the server, and the one that its scenarios begin with."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from seatrial.control_plane.components import Parts
from seatrial.store.snapshots import Snapshot
from tests.store.snapshots.objects import Document, lived, node, pod, reference
from tests.store.snapshots.rest import ONLY_DONE, serving


@contextmanager
def server(folder: Path, *documents: Document, **settings: Any) -> Iterator[Parts]:
    path = folder / "cluster.json"
    path.write_bytes(orjson.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
    chosen = [settings.pop(name) for name in ("unbind", "unbind_order") if name in settings]
    with serving(snapshot=Snapshot.read(path, *chosen), **settings) as parts:
        yield parts


def work(parts: Parts) -> None:
    for _ in range(2_000):
        if not sum(worker.has_work() and worker.work() for worker in parts.workers):
            return
    raise AssertionError("the workers do not rest")


def pods(parts: Parts) -> dict[str, Document]:
    kind = parts.store.kinds.named("v1", "Pod")
    assert kind is not None
    return {stored.name: stored.document() for stored in parts.store.list(kind)}


def orphan(name: str, minute: int = 0) -> Document:
    made = pod(name)
    made["metadata"]["ownerReferences"] = [reference("ReplicaSet", "gone")]
    made["metadata"]["creationTimestamp"] = f"2026-05-01T10:{minute:02}:00Z"
    return made


def test_a_scenario_begins_with_the_snapshot(tmp_path: Path) -> None:
    with server(tmp_path, node(), orphan("a")) as parts:
        work(parts)
        scenarios = parts.store.kinds.named(ONLY_DONE["apiVersion"], "Scenario")
        assert scenarios is not None
        parts.store.create(scenarios, ONLY_DONE, writer="user:test")
        work(parts)
        (played,) = [stored.document() for stored in parts.store.list(scenarios)]
        assert played["status"]["phase"] == "Succeeded", played["status"]
        assert pods(parts)["a"]["metadata"]["uid"] == "uid-Pod-a"


def test_pods_without_nodes_are_scheduled_again(tmp_path: Path) -> None:
    with server(tmp_path, node("n1"), node("n2"), orphan("a"), pod("bare"), unbind="workloads") as parts:
        assert "nodeName" not in pods(parts)["a"]["spec"]
        assert pods(parts)["bare"]["spec"]["nodeName"] == "n1"
        work(parts)
        assert pods(parts)["a"]["spec"]["nodeName"] == "n2"


def test_the_server_schedules_them_in_the_order(tmp_path: Path) -> None:
    small = node("n1")
    small["status"]["allocatable"]["pods"] = small["status"]["capacity"]["pods"] = "1"
    documents = [small, orphan("young", 9), orphan("old", 1)]
    with server(tmp_path, *documents, unbind="all") as first:
        work(first)
        assert [name for name, made in pods(first).items() if made["spec"].get("nodeName")] == ["old"]


def test_a_snapshot_with_a_definition_and_its_objects_is_loaded(tmp_path: Path) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    spec = {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
    }  # fmt: skip
    definition = lived("CustomResourceDefinition", "widgets.example.com", "apiextensions.k8s.io/v1", "", spec=spec)
    with server(tmp_path, lived("Widget", "w", "example.com/v1"), definition) as parts:
        widgets = parts.store.kinds.named("example.com/v1", "Widget")
        assert widgets is not None
        assert [stored.name for stored in parts.store.list(widgets)] == ["w"]
