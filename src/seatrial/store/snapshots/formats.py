"""Reads the files that a cluster comes from: `kubectl get -o yaml`, lists, manifests, and exports of `/api/v1/export`.

kube-scheduler-simulator and Seatrial write the same export; Seatrial's has the other kinds under `objects`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.model.yaml_reader import load_all
from seatrial.store.input_files import read_input
from seatrial.store.snapshots.cleaning import clean
from seatrial.store.snapshots.shapes import misfit

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

NO_SCENARIO = (
    "a Scenario is no snapshot: play it with `seatrial run FILE`; "
    "`seatrial snapshot` makes a snapshot of a cluster's objects"
)
FORMS = "objects (`kubectl get -o yaml`), a list of them, or an export of kube-scheduler-simulator"
CUT_OFF = "a list has none: kubectl writes `kind: List` last, so the file may be cut off; take the dump again"
SIMULATION = "simulation.kube-scheduler-simulator.x-k8s.io/"
OBJECTS = "objects"
"""The key of all other objects in an export of Seatrial."""


def read_snapshot(
    paths: Iterable[Path], *, refuse_scenarios: bool = False, left_out: "Counter[str] | None" = None
) -> list[Document]:
    """The objects of files of any of these forms, cleaned; ConfigError names a file that is none.

    A Scenario among other objects is left out; a file that is one is probably a mistake.
    """
    return list(clean(read_objects(paths, refuse_scenarios=refuse_scenarios), left_out))


def read_objects(paths: Iterable[Path], *, refuse_scenarios: bool = False, named: bool = True) -> list[Document]:
    """The objects of files as they are written there, with kind and, where all must be `named`, with a name."""
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
            found += objects_of(document, str(path), named=named) if document is not None else ()
    return found


def _documents(path: Path) -> list[object]:
    text = read_input(path)
    if text.startswith("{"):
        # A large list is read ten times as fast as by the YAML reader, which says what is wrong where it is no JSON.
        with suppress(orjson.JSONDecodeError):
            return [orjson.loads(text)]
    return load_all(text)


def _is_scenario(document: object) -> bool:
    if not isinstance(document, dict) or document.get("kind") != "Scenario":
        return False
    return str(document.get("apiVersion")).startswith(SIMULATION)


def objects_of(document: object, path: str, *, named: bool = True) -> Iterator[Document]:
    """The objects of a list, of an export, or the object itself."""
    if not isinstance(document, dict):
        raise ConfigError(path, "", f"expected {FORMS}, got {type(document).__name__}")
    if isinstance(document.get("items"), list):
        if "kind" not in document:
            raise ConfigError(path, "kind", CUT_OFF)
        kind = str(document["kind"]).removesuffix("List")
        inherited = {"apiVersion": document["apiVersion"], "kind": kind} if kind and "apiVersion" in document else {}
        for number, item in enumerate(document["items"]):
            yield _object(inherited, item, path, f"items[{number}]", named)
    elif "kind" in document and "apiVersion" in document:
        yield _object({}, document, path, "", named)
    elif document.keys() & {*EXPORT, OBJECTS}:
        for key in (*EXPORT, OBJECTS):
            yield from _section(document, key, path)
    else:
        raise ConfigError(path, "", f"expected {FORMS}, got an object with neither kind nor items")


def _section(document: Document, key: str, path: str) -> Iterator[Document]:
    """The objects under one key of an export."""
    items = document.get(key) or []
    if not isinstance(items, list):
        raise ConfigError(path, key, f"expected a list, got {type(items).__name__}")
    inherited = dict(zip(("apiVersion", "kind"), EXPORT.get(key, ()), strict=False))
    for number, item in enumerate(items):
        yield _object(inherited, item, path, f"{key}[{number}]", True)


def _object(inherited: Document, item: object, path: str, place: str, named: bool) -> Document:
    """An object with what it has from its list; ConfigError if it is not an object."""
    if not isinstance(item, dict):
        raise ConfigError(path, place, f"expected an object, got {type(item).__name__}")
    found: Document = {**inherited, **item}
    for field in ("apiVersion", "kind"):
        if not isinstance(found.get(field), str):
            raise ConfigError(path, f"{place}.{field}".lstrip("."), f"expected a string, got {found.get(field)!r}")
    metadata = found.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) and (named or (metadata is not None and not isinstance(metadata, dict))):
        raise ConfigError(path, f"{place}.metadata.name".lstrip("."), f"is required for a {found['kind']}")
    if (wrong := misfit(found)) is not None:
        raise ConfigError(path, f"{place}.{wrong[0]}".lstrip("."), wrong[1])
    return found
