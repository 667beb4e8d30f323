"""A server starts whatever objects its data directory holds, and reports those that it ignores."""

import shutil
from collections.abc import Callable, Iterable, Iterator
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
from tests.server.samples import samples

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
def start(directory: Path, tmp_path: Path) -> Iterator[Callable[..., Parts]]:
    """Start a server on a data directory into which documents were written, one of each kind, without any check."""
    running: list[Parts] = []

    def start(documents: dict[Kind, Any] | Iterable[tuple[Kind, Any]]) -> Parts:
        shutil.copytree(directory, tmp_path, dirs_exist_ok=True)
        store = Store(builtin_kinds(), Clock())
        durability = Durability(store, tmp_path / "store")
        pairs = documents.items() if isinstance(documents, dict) else documents
        for number, (kind, document) in enumerate(pairs, store.revision + 1):
            name = document["metadata"]["name"] if isinstance(document, dict) else "x"
            stored = Stored(kind, "default" if kind.namespaced else "", name, number, orjson.dumps(document))
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


def parts_of(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all fields and items below a document."""
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(document, dict):
        pairs = document.items()
    elif isinstance(document, list):
        pairs = enumerate(document)
    for key, value in pairs:
        yield (*path, key)
        yield from parts_of(value, (*path, key))


def without(document: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    """A copy that lacks one field or item."""
    copy: dict[str, Any] = orjson.loads(orjson.dumps(document))
    place: Any = copy
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return copy


def lacking(kinds: list[Kind]) -> Iterator[tuple[Kind, dict[str, Any]]]:
    """Objects with the right types that lack one field, one after the other, of every kind."""
    for kind in kinds:
        for sample in samples():
            if (sample["apiVersion"], sample["kind"]) != (kind.api_version, kind.kind):
                continue
            body = {key: value for key, value in sample.items() if key not in ("apiVersion", "kind", "metadata")}
            for number, path in enumerate(parts_of(body)):
                document = {**base(kind), **without(body, path)}
                document["metadata"] |= {"name": f"x{number}", "uid": f"{kind.kind}-{number}"}
                yield kind, document


WORKED_ON = (
    "CronJob", "HorizontalPodAutoscaler", "PersistentVolume", "PersistentVolumeClaim", "ReplicationController",
    "ResourceQuota", "Job",
)  # fmt: skip


@pytest.mark.parametrize("name", [*WORKED_ON, "every kind"])
def test_controllers_survive_stored_objects_that_lack_any_field(
    start: Callable[..., Parts], caplog: pytest.LogCaptureFixture, name: str
) -> None:
    parts = start(lacking([kind for kind in served() if kind.kind == name or name == "every kind"]))
    # A quota without limits is valid; all others lack something that their kind requires.
    assert "is ignored: " in caplog.text or name == "ResourceQuota"
    for _ in range(300):
        busy = [worker for worker in parts.workers if worker.has_work()]
        for worker in busy:
            worker.work()
        if not busy:
            return


def test_a_stored_object_that_is_wrong_but_complete_stays(
    start: Callable[..., Parts], caplog: pytest.LogCaptureFixture
) -> None:
    kinds = {kind.kind: kind for kind in served()}
    odd = {**base(kinds["ConfigMap"]), "data": {"not/a/key": "v"}}
    parts = start({kinds["ConfigMap"]: odd})
    assert parts.store.find(kinds["ConfigMap"], "x", "default") is not None
    assert "is ignored" not in caplog.text
