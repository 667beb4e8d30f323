"""Snapshots of a cluster, to begin a scenario with: from `kubectl get -o yaml`, or a kube-scheduler-simulator export.

What belongs to a living cluster alone is left out: events, leases, the data of Secrets, and the server's bookkeeping.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.model.yaml_reader import load_all
from seatrial.scenario.spec.kind import API_VERSION
from seatrial.store.input_files import read_input

EXPORT = {
    "pods": ("v1", "Pod"),
    "nodes": ("v1", "Node"),
    "pvs": ("v1", "PersistentVolume"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "namespaces": ("v1", "Namespace"),
}
"""The keys of an export of kube-scheduler-simulator, and what they hold."""

LEFT_OUT = frozenset({"Event", "Lease", "EndpointSlice", "Endpoints", "ControllerRevision", "Scenario"})
NO_SCENARIO = (
    "a Scenario is no snapshot: play it with `seatrial run FILE`; "
    "`seatrial snapshot` makes a snapshot of a cluster's objects"
)
BOOKKEEPING = ("managedFields", "selfLink", "resourceVersion")


def read_snapshot(paths: Iterable[Path], *, refuse_scenarios: bool = False) -> list[Document]:
    """The objects of files of any of these forms, cleaned; ConfigError names a file that is none.

    A Scenario among other objects is left out; a file that is one is probably a mistake.
    """
    found: list[Document] = []
    for path in paths:
        try:
            documents = _documents(path)
        except OSError as error:
            raise ConfigError(str(path), "", error.strerror or str(error)) from error
        except (SeatrialError, ValueError) as error:
            raise ConfigError(str(path), "", str(error)) from error
        for document in documents:
            if refuse_scenarios and _is_scenario(document):
                raise ConfigError(str(path), "kind", NO_SCENARIO)
            found += objects_of(document, str(path))
    return list(clean(found))


def _documents(path: Path) -> list[object]:
    text = read_input(path)
    if path.suffix == ".json":
        # A large list is read ten times as fast as by the YAML reader, which says what is wrong where it is no JSON.
        with suppress(orjson.JSONDecodeError):
            return [orjson.loads(text)]
    return load_all(text)


def _is_scenario(document: object) -> bool:
    return (
        isinstance(document, dict) and document.get("apiVersion") == API_VERSION and document.get("kind") == "Scenario"
    )


def objects_of(document: object, path: str) -> Iterator[Document]:
    """The objects of a list, of an export, or the object itself."""
    if not isinstance(document, dict):
        raise ConfigError(path, "", f"expected objects, got {type(document).__name__}")
    if isinstance(document.get("items"), list):
        kind = str(document.get("kind", "")).removesuffix("List")
        inherited = {"apiVersion": document["apiVersion"], "kind": kind} if kind and "apiVersion" in document else {}
        for number, item in enumerate(document["items"]):
            yield _object(inherited, item, path, f"items[{number}]")
    elif "kind" in document and "apiVersion" in document:
        yield _object({}, document, path, "")
    elif set(document) & set(EXPORT):
        for key, (api_version, kind) in EXPORT.items():
            items = document.get(key) or []
            if not isinstance(items, list):
                raise ConfigError(path, key, f"expected a list, got {type(items).__name__}")
            for number, item in enumerate(items):
                yield _object({"apiVersion": api_version, "kind": kind}, item, path, f"{key}[{number}]")
    else:
        raise ConfigError(path, "", "expected objects, a list of them, or an export of kube-scheduler-simulator")


def _object(inherited: Document, item: object, path: str, place: str) -> Document:
    """An object with what it has from its list; ConfigError where it is none."""
    if not isinstance(item, dict):
        raise ConfigError(path, place, f"expected an object, got {type(item).__name__}")
    found: Document = {**inherited, **item}
    for field in ("apiVersion", "kind"):
        if not isinstance(found.get(field), str):
            raise ConfigError(path, f"{place}.{field}".lstrip("."), f"expected a string, got {found.get(field)!r}")
    metadata = found.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise ConfigError(path, f"{place}.metadata.name".lstrip("."), f"is required for a {found['kind']}")
    return found


def clean(documents: Iterable[Document]) -> Iterator[Document]:
    """The objects without what belongs to a living cluster alone; one that is given twice is kept once."""
    seen: set[tuple[str, ...]] = set()
    for document in documents:
        metadata = {key: value for key, value in (document.get("metadata") or {}).items() if key not in BOOKKEEPING}
        identity = tuple(
            str(part)
            for part in (document["apiVersion"], document["kind"], metadata.get("namespace", ""), metadata.get("name"))
        )
        if document["kind"] in LEFT_OUT or identity in seen:
            continue
        seen.add(identity)
        kept = {**document, "metadata": metadata}
        if document["kind"] == "Secret":
            kept = {key: value for key, value in kept.items() if key not in ("data", "stringData")}
            metadata.pop("annotations", None)
        yield kept
