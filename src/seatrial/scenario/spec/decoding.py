"""From a file or a document to a Scenario, with errors that name file, line and field.

Errors here are those of documents that cannot be decoded (exit code 2, no output). What the KEP calls invalid is
decoded and checked by `validation`, because the Scenario then ends Failed.
"""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import orjson
import yaml

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.model.yaml_reader import load_all
from seatrial.scenario.spec.kind import API_VERSION, STEP_DURATION, Scenario
from seatrial.store.input_files import read_input

SPELLINGS = {
    "controllers": {"preSimulationControllers": "presimulationControllers"},
    "operation": {"ID": "id"},
    "patchOperation": {"PatchType": "patchType"},
}
"""Other spellings of a field that the texts of the KEP allow, and the one that we write."""

_NAME = re.compile(r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
_UNKNOWN = re.compile(r"unknown field `(?P<field>[^`]*)`")


def read_scenario(path: Path) -> Document:
    """The one Scenario of a YAML or JSON file, as it is written there; ConfigError where it cannot be decoded."""
    try:
        text = read_input(path)
    except OSError as error:
        raise ConfigError(str(path), "", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), "", f"not UTF-8 text: {error}") from error
    except ValueError as error:
        raise ConfigError("", "", str(error)) from error
    try:
        documents = [_load_json(text)] if text.lstrip().startswith("{") else load_all(text)
    except (SeatrialError, yaml.YAMLError, ValueError) as error:
        raise ConfigError(str(path), "", _flat(str(error))) from error
    except RecursionError as error:
        raise ConfigError(str(path), "", "nested too deeply") from error
    if _is_dump(documents):
        why = (
            f"is a dump of a cluster and no Scenario: `seatrial run --snapshot {path}` plays it, "
            f"and `seatrial what-if drain NODE --snapshot {path}` asks what would happen to it"
        )
        raise ConfigError(str(path), "", why)
    if len(documents) != 1:
        raise ConfigError(str(path), "", f"expected one Scenario, found {len(documents)} documents")
    try:
        decode_scenario(documents[0])
    except ConfigError as error:
        line = line_of(text, error.field)
        raise ConfigError(f"{path}:{line}" if line else str(path), error.field, error.why) from error
    return respell(documents[0])


def _is_dump(documents: list[Any]) -> bool:
    """Whether a file is what `kubectl get -o yaml` writes, a list, or several objects and a Node among them."""
    kinds = [str(each.get("kind")) for each in documents if isinstance(each, dict)]
    return kinds[0].endswith("List") if len(kinds) == 1 else "Node" in kinds


def _load_json(text: str) -> Any:
    """One JSON document; a field given twice is an error. Large scenarios are read many times faster than as YAML."""
    plain = _load_compact(text)
    if plain is not None:
        return plain
    try:
        return json.loads(text, object_pairs_hook=_without_doubles)
    except json.JSONDecodeError as error:
        # What begins like JSON may still be YAML's flow style.
        documents = load_all(text)
        if len(documents) != 1:
            raise ValueError(f"expected one document: {error}") from error
        return documents[0]


def _load_compact(text: str) -> Any:
    """A document without spaces that is the same text when encoded again: nothing was given twice in it; else None."""
    text = text.strip()
    if "\n" in text:
        return None
    try:
        document = orjson.loads(text)
        return document if orjson.dumps(document) == text.encode() else None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, UnicodeEncodeError):
        return None


def _without_doubles(pairs: list[tuple[str, Any]]) -> Document:
    document = dict(pairs)
    if len(document) != len(pairs):
        seen: set[str] = set()
        double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the field {double!r} is given twice")
    return document


def decode_scenario(document: Any) -> Scenario:
    """The typed form of a Scenario document; ConfigError names the field that cannot be decoded."""
    if not isinstance(document, dict):
        raise ConfigError("", "", f"expected a Scenario, got {type(document).__name__}")
    for field, expected in (("apiVersion", API_VERSION), ("kind", "Scenario")):
        if document.get(field) != expected:
            raise ConfigError("", field, f"expected {expected}, got {document.get(field)!r}")
    try:
        scenario = msgspec.convert(respell(document), Scenario)
    except msgspec.ValidationError as error:
        raise undecodable(str(error)) from error
    name = scenario.metadata.get("name")
    if not isinstance(name, str) or not _NAME.match(name):
        raise ConfigError("", "metadata.name", f"expected a lower-case DNS name, got {name!r}")
    _check_annotations(scenario.metadata.get("annotations"))
    return scenario


def _check_annotations(annotations: Any) -> None:
    """Annotations are strings: `step-duration: 60` is a number in YAML, and says no unit either."""
    if annotations is None:
        return
    if not isinstance(annotations, dict):
        raise ConfigError("", "metadata.annotations", f"expected a map of strings, got {annotations!r}")
    for key, value in annotations.items():
        if not isinstance(value, str):
            example = ' such as "60s"' if key == STEP_DURATION else ""
            raise ConfigError("", f"metadata.annotations[{key}]", f"expected a string{example}, got {value!r}")


def respell(document: Document) -> Document:
    """The document with every field in the spelling that we write; shares what needs no change."""
    spec = document.get("spec")
    if not isinstance(spec, dict):
        return document
    spec = dict(spec)
    if isinstance(spec.get("controllers"), dict):
        spec["controllers"] = _renamed(spec["controllers"], SPELLINGS["controllers"])
    for listing in ("events", "operations"):
        if isinstance(spec.get(listing), list):
            spec[listing] = [_respelled_operation(item) for item in spec[listing]]
    return {**document, "spec": spec}


def _respelled_operation(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    item = _renamed(item, SPELLINGS["operation"])
    patch = item.get("patchOperation")
    if isinstance(patch, dict) and "PatchType" in patch:
        item = {**item, "patchOperation": _renamed(patch, SPELLINGS["patchOperation"])}
    return item


def _renamed(document: Document, names: dict[str, str]) -> Document:
    if names.keys().isdisjoint(document):
        return document
    return {names.get(key, key): value for key, value in document.items()}


def undecodable(text: str) -> ConfigError:
    """msgspec says "why - at `$.path`"; we say path, then why."""
    why, _, path = text.partition(" - at `")
    field = path.rstrip("`").removeprefix("$").removeprefix(".")
    unknown = _UNKNOWN.search(why)
    if unknown:
        field = f"{field}.{unknown['field']}" if field else unknown["field"]
        why = "unknown field"
    return ConfigError("", field, why)


def line_of(text: str, field: str) -> int:
    """The line (from 1) where a field like `spec.operations[3].step` is written; 0 where it is not found."""
    node: Any = _composed(text)
    line = 0
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", field):
        child = None
        if key and isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                if name.value == key:
                    line, child = name.start_mark.line + 1, value
        elif index and isinstance(node, yaml.SequenceNode) and int(index) < len(node.value):
            child = node.value[int(index)]
            line = child.start_mark.line + 1
        if child is None:
            break
        node = child
    return line


@lru_cache(maxsize=1)
def _composed(text: str) -> Any:
    return next(iter(yaml.compose_all(text, Loader=yaml.CSafeLoader)), None)


def _flat(text: str) -> str:
    return " ".join(text.split())
