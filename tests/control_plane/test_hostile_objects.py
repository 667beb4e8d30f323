"""A server starts whatever objects its data directory holds, and reports those that it ignores."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from seatrial.clock.virtual import Clock
from seatrial.control_plane.components import Parts, Settings, compose
from seatrial.model.builtin import builtin_kinds
from seatrial.model.kinds import Kind
from seatrial.store.durable import Durability
from seatrial.store.objects import Change, Stored
from seatrial.store.store import Store
from tests.known_kinds import known_kind

ODD = dict.fromkeys(
    ("template", "selector", "schedule", "containers", "taints", "names", "versions", "matchConstraints", "request"), 3
)
LISTED = ("spec", "status", "value", "roleRef", "handler")
SHAPES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "nothing but metadata": lambda base: base,
    "a text as spec": lambda base: {**base, **dict.fromkeys(("spec", "status", "rules", "roleRef", "webhooks"), "x")},
    "a list as spec": lambda base: {**base, **{key: [1] for key in LISTED}},
    "numbers in spec": lambda base: {**base, "spec": ODD, "status": {"conditions": 3, "allocatable": 3, "phase": 3}},
    "numbers in metadata": lambda base: {
        **base,
        "metadata": {
            **base["metadata"],
            **dict.fromkeys(("labels", "annotations", "ownerReferences", "finalizers"), 3),
        },
    },
    "no object": lambda base: [base],
}


def served(volcano: bool = False) -> list[Kind]:
    """The kinds whose objects are stored, each once."""
    parts = compose(Settings(volcano=volcano))
    for close in parts.on_stop:
        close()
    kinds = {kind.group_kind: kind for kind in reversed(list(parts.store.kinds))}
    return [kind for kind in kinds.values() if "list" in kind.verbs]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a server that has run."""
    path: Path = tmp_path_factory.mktemp("base")
    parts = compose(Settings(data_dir=path, volcano=True))
    assert parts.durability is not None
    parts.durability.close()
    return path


@pytest.fixture
def start(directory: Path, tmp_path: Path) -> Iterator[Callable[[dict[Kind, Any]], Parts]]:
    """Start a server on a data directory into which documents were written, one of each kind, without any check."""
    running: list[Parts] = []

    def start(documents: dict[Kind, Any]) -> Parts:
        shutil.copytree(directory, tmp_path, dirs_exist_ok=True)
        store = Store(builtin_kinds(), Clock())
        durability = Durability(store, tmp_path / "store")
        for number, (kind, document) in enumerate(documents.items(), store.revision + 1):
            stored = Stored(kind, "default" if kind.namespaced else "", "x", number, orjson.dumps(document))
            durability.append(Change("ADDED", stored, None, "test", 0))
        durability.close()
        running.append(compose(Settings(data_dir=tmp_path, volcano=True)))
        return running[-1]

    yield start
    for parts in running:
        assert parts.durability is not None
        parts.durability.close()


def base(kind: Kind) -> dict[str, Any]:
    metadata = {"name": "x", "uid": "u", "creationTimestamp": "2024-01-01T00:00:00Z"}
    space = {"namespace": "default"} if kind.namespaced else {}
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {**metadata, **space}}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_server_starts_with_a_hostile_object_of_every_kind(
    start: Callable[[dict[Kind, Any]], Parts], shape: str, caplog: pytest.LogCaptureFixture
) -> None:
    kinds = served(volcano=True)
    parts = start({kind: SHAPES[shape](base(kind)) for kind in kinds})
    pods = known_kind(parts.store.kinds, "v1", "Pod")
    assert parts.store.find(pods, "x", "default") is None
    assert "Pod default/x is ignored: " in caplog.text


@pytest.mark.parametrize("name", ["Pod", "Node", "PriorityClass", "CustomResourceDefinition", "ClusterRoleBinding"])
def test_one_hostile_object_hides_no_other(start: Callable[[dict[Kind, Any]], Parts], name: str) -> None:
    kinds = {kind.kind: kind for kind in served()}
    parts = start(
        {kinds[name]: SHAPES["a list as spec"](base(kinds[name])), kinds["ConfigMap"]: base(kinds["ConfigMap"])}
    )
    assert parts.store.find(kinds["ConfigMap"], "x", "default") is not None


def test_a_stored_webhook_configuration_that_makes_no_sense_stops_no_write(
    start: Callable[[dict[Kind, Any]], Parts], caplog: pytest.LogCaptureFixture
) -> None:
    kinds = {kind.kind: kind for kind in served()}
    hooks = kinds["ValidatingWebhookConfiguration"]
    parts = start({hooks: {**base(hooks), "webhooks": "x"}})
    assert "ValidatingWebhookConfiguration x is ignored: " in caplog.text
    parts.store.create(kinds["ConfigMap"], {"metadata": {"name": "m", "namespace": "default"}}, writer="test")


def test_an_object_that_lacks_what_every_object_of_its_kind_has_is_completed(
    start: Callable[[dict[Kind, Any]], Parts],
) -> None:
    kinds = {kind.kind: kind for kind in served()}
    parts = start({kinds["Node"]: base(kinds["Node"])})
    assert parts.store.get(kinds["Node"], "x").document()["spec"] == {}


def test_an_ignored_object_is_replaced_by_the_next_write_of_its_name(
    start: Callable[[dict[Kind, Any]], Parts], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kinds = {kind.kind: kind for kind in served()}
    parts = start({kinds["Node"]: {**base(kinds["Node"]), "spec": "x"}})
    parts.store.create(kinds["Node"], {"metadata": {"name": "x"}}, writer="test")
    assert parts.durability is not None
    parts.durability.sync()
    shutil.copytree(tmp_path / "store", tmp_path / "copy" / "store")
    caplog.clear()
    again = compose(Settings(data_dir=tmp_path / "copy", volcano=True))
    assert again.store.find(kinds["Node"], "x") is not None
    assert "Node" not in caplog.text
    assert again.durability is not None
    again.durability.close()
