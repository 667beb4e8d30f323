"""Validation of Seatrial's own annotations on objects: their values, and unknown names."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from seatrial.controllers import DRAIN, DRAINED, parse_usage, read_drain_options
from seatrial.model.documents import Document, encode
from seatrial.model.durations import parse_duration
from seatrial.model.errors import ScenarioError
from seatrial.model.times import parse_time
from seatrial.scenario.spec.kind import (
    AUTOSCALER_FLAGS,
    EXIT_CODE,
    FOREIGN_WRITES,
    GROUP,
    LAST_REMOVED,
    RUN_DURATION,
    STEP_DURATION,
)
from seatrial.store.snapshots import USAGE

PREFIX = f"{GROUP}/"
MOST_EXIT_CODE = 255
ON_SCENARIOS = (STEP_DURATION, FOREIGN_WRITES, AUTOSCALER_FLAGS)
_EXIT_CODE = re.compile(r"0|[1-9][0-9]{0,2}")


def _check_run_duration(text: str) -> None:
    if "T" in text:
        parse_time(text)
    elif parse_duration(text) < 0:
        raise ValueError(f"{text} is negative")


def _check_exit_code(text: str) -> None:
    if not _EXIT_CODE.fullmatch(text) or int(text) > MOST_EXIT_CODE:
        raise ValueError(f"expected a whole number from 0 to {MOST_EXIT_CODE}, got {text!r}")


def _check_usage(text: str) -> None:
    parse_usage(text)


def _check_drain(text: str) -> None:
    read_drain_options(text)


ON_OBJECTS: Mapping[str, Callable[[str], None]] = {
    RUN_DURATION: _check_run_duration,
    EXIT_CODE: _check_exit_code,
    USAGE: _check_usage,
    DRAIN: _check_drain,
    DRAINED: lambda _: None,
}
"""The annotations of pods, pod templates and nodes, with the function that reads each; ValueError where it cannot."""


def mentions(data: bytes) -> bool:
    """Whether an encoded operation may be about annotations of ours: most are not."""
    return _GROUP in data


_GROUP = GROUP.encode()


def check_annotations(document: Document, operation: str = "") -> None:
    """ScenarioError names the object and the annotations that cannot be read."""
    with suppress(TypeError):  # what is no JSON is refused later
        if not mentions(encode(document)):
            return
    wrong = []
    for key, value in _ours(document):
        check = ON_OBJECTS.get(key)
        try:
            if check is not None:
                check(value)
        except ValueError as error:
            wrong.append(f"annotation {key}: {error}")
    if wrong:
        raise ScenarioError(operation, f"{_named(document)}: {'; '.join(wrong)}")


def unknown_annotations(document: Document) -> Iterator[str]:
    """Warnings about annotations under our prefix that have no meaning on an object."""
    for key, _ in _ours(document):
        if key not in ON_OBJECTS:
            yield f"{_named(document)}: annotation {key} has no effect; there are {_listed(ON_OBJECTS)}"


def unknown_on_scenario(annotations: Mapping[str, Any]) -> Iterator[str]:
    """The same of the Scenario's own."""
    for key in annotations:
        if key.startswith(PREFIX) and key not in (*ON_SCENARIOS, LAST_REMOVED):
            yield f"annotation {key} has no effect on a Scenario; there are {_listed(ON_SCENARIOS)}"


def _listed(keys: Any) -> str:
    return ", ".join(key.removeprefix(PREFIX) for key in keys)


def _named(document: Document) -> str:
    meta = document.get("metadata") or {}
    name = meta.get("name") or meta.get("generateName") or ""
    return f"{document.get('kind')} {name}".rstrip()


def _ours(value: Any) -> Iterator[tuple[str, str]]:
    """The annotations of ours in an object and in the templates inside it."""
    if isinstance(value, list):
        for item in value:
            yield from _ours(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "metadata" and isinstance(item, dict) and isinstance(item.get("annotations"), dict):
                for name, text in item["annotations"].items():
                    if isinstance(name, str) and name.startswith(PREFIX) and isinstance(text, str):
                        yield name, text
            else:
                yield from _ours(item)
