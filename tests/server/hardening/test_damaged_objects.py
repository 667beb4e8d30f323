"""A stored object never stops a start: what cannot be used is reported and ignored, whatever kind it is of."""

import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from seatrial.clock import RealClock
from seatrial.control_plane.components import Parts, Settings, compose
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import StatusError
from seatrial.store import Store, Stored
from seatrial.store.durable import Durability
from seatrial.store.options import CreateOptions
from tests.server.samples import POD_SPEC, samples

WRONG: tuple[Any, ...] = ([], "text", 5, True, {"a": 1}, [1], None)
NAMES = ("sample", "192.168.0.1", "v1.g.example.com", "boats.example.com")
VOLCANO = "scheduling.volcano.sh/v1beta1"
MORE: tuple[dict[str, Any], ...] = (
    {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "spec": {"resourceRef": {"kind": "Pod"}, "next": {}}},
    {"apiVersion": VOLCANO, "kind": "Queue", "spec": {"weight": 1}},
    {"apiVersion": VOLCANO, "kind": "PodGroup", "spec": {"minMember": 1}},
    {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "spec": {"minAvailable": 1, "tasks": [{"replicas": 1, "name": "t", "template": {"spec": POD_SPEC}}]},
    },
    {
        "apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
        "kind": "Scenario",
        "spec": {"operations": [{"id": "a", "step": 1, "doneOperation": {}}]},
    },
    {"apiVersion": "example.com/v1", "kind": "Boat", "spec": {"sails": 2}},
)
"""Kinds that the server defines itself, and one that a user has defined."""


def damages(document: dict[str, Any]) -> Iterator[Any]:
    """Valid JSON that is no object of its kind."""
    yield from ([], "text", 5, {}, {"metadata": {}})
    fields = [key for key in document if key not in ("apiVersion", "kind", "metadata")]
    for wrong in WRONG:
        for field in (*fields, "status", "spec"):
            yield {**document, field: wrong}
        for field in ("annotations", "labels", "ownerReferences", "finalizers", "managedFields", "creationTimestamp"):
            yield {**document, "metadata": {**document["metadata"], field: wrong}}
    for field in fields:
        if isinstance(document[field], dict):
            for inner in document[field]:
                for wrong in WRONG:
                    yield {**document, field: {**document[field], inner: wrong}}


def stock(home: Path) -> dict[tuple[str, str], Stored]:
    """A data directory with one object of every kind; the object of each kind."""
    parts = compose(Settings(data_dir=home, volcano=True, scheduler=False))
    made = {}
    for document in deepcopy([*samples(), *MORE]):
        kind = parts.store.kinds.served(document["apiVersion"], document["kind"])
        document.setdefault("metadata", {"name": "sample"})
        namespace = "default" if kind.namespaced else ""
        try:
            stored = parts.store.create(kind, document, writer="test", namespace=namespace, options=CreateOptions())
        except StatusError:
            stored = parts.store.get(kind, document["metadata"]["name"], namespace)
        made[kind.api_version, kind.kind] = stored
    close(parts)
    return made


def close(parts: Parts) -> None:
    for stop in parts.on_stop:
        stop()
    assert parts.durability is not None
    parts.durability.close()


def put(home: Path, contents: dict[tuple[str, str], bytes]) -> None:
    """Store contents as they are, past all checks, under the names of the objects of these kinds."""
    store = Store(builtin_kinds(), RealClock())
    durability = Durability(store, home / "store")
    for index in list(store._revisions.indexes.values()):
        for stored in list(index):
            content = contents.get((stored.kind.api_version, stored.kind.kind))
            if content is not None and stored.name in NAMES:
                store.write_pieces(stored, lambda revision: (content,), writer="test")  # noqa: B023
    durability.close()


def check_start(home: Path) -> None:
    """Start a whole server on the directory, let its workers work, and read every kind."""
    parts = compose(Settings(data_dir=home, volcano=True))
    try:
        for kind in parts.store.kinds:
            if "list" in kind.verbs:
                [stored.document()["metadata"]["name"] for stored in parts.store.list(kind)]
    finally:
        close(parts)


def start_on(base: Path, home: Path, found: dict[tuple[str, str], list[Any]], number: int) -> None:
    """Damage one object of every kind, each in another way, and start."""
    shutil.copytree(base, home)
    put(home, {key: json.dumps(each[number % len(each)]).encode() for key, each in found.items()})
    check_start(home)
    shutil.rmtree(home)


def test_an_object_of_no_kind_stops_a_start(tmp_path: Path) -> None:
    """All damages are tried by `make test-long`; here some of each sort."""
    made = stock(tmp_path / "base")
    found = {key: list(damages(stored.document())) for key, stored in made.items()}
    for number in (0, 1, 2, 4, 5, 7, 12, 23, 40, 67):
        start_on(tmp_path / "base", tmp_path / "data", found, number)


@pytest.mark.long
def test_no_damage_of_any_kind_stops_a_start(tmp_path: Path) -> None:
    made = stock(tmp_path / "base")
    found = {key: list(damages(stored.document())) for key, stored in made.items()}
    for number in range(max(map(len, found.values()))):
        start_on(tmp_path / "base", tmp_path / "data", found, number)


def test_a_stage_whose_annotations_are_a_list_is_reported_and_ignored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = ("kwok.x-k8s.io/v1alpha1", "Stage")
    document = stock(tmp_path)[key].document()
    document["metadata"]["annotations"] = []
    put(tmp_path, {key: json.dumps(document).encode()})
    check_start(tmp_path)
    assert "Stage sample is ignored" in caplog.text
