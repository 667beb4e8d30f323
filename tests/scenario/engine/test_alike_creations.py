"""Operations that differ in the name alone create the same objects as if each was decoded."""

from collections.abc import Callable
from typing import Any

import pytest

from seatrial.store.registry.templates import VARIABLE
from tests.scenario.playing import create, done, operations
from tests.scenario.running import Run, node, pod, priority_class

NAMES = ("a", "a-1", "a-11", "web", "zone", "c", "i", "default", "Pod")
"""Some of them occur elsewhere in an object, too, with another meaning."""


def labelled(name: str, label: str) -> dict[str, Any]:
    document = pod(name)
    document["metadata"]["labels"] = {"app": label, name: "1"}
    return document


def contained(name: str) -> dict[str, Any]:
    document = pod(name)
    document["spec"]["containers"][0]["name"] = name.lower()
    return document


SHAPES: dict[str, Callable[[str], dict[str, Any]]] = {
    "plain": pod,
    "label_of_the_name": lambda name: labelled(name, name),
    "label": lambda name: labelled(name, "web"),
    "container_of_the_name": contained,
    "node": node,
    "annotated": lambda name: {**pod(name), "metadata": {"name": name, "annotations": {"of": name}}},
}


def played(shape: str, **options: Any) -> tuple[Any, int]:
    made = [SHAPES[shape](name) for name in NAMES]
    urgent = {**priority_class("urgent", 5), "globalDefault": True}
    later = [SHAPES[shape](f"later-{number}") for number in range(4)]
    first = [create(1, document) for document in (node("n", cpu="64"), *made) if document["metadata"]["name"] != "Pod"]
    run = Run(operations(*first, create(2, urgent), *(create(3, each) for each in later), done(4)), **options)
    return run.timeline, run.store.templates.used


@pytest.mark.parametrize("shape", SHAPES)
def test_they_are_equal_to_those_of_decoded_operations(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, used = played(shape)
    monkeypatch.setenv(VARIABLE, "off")
    whole, unused = played(shape)
    assert fast == whole
    assert (used > 0, unused) == (True, 0)


def test_a_name_that_is_taken_ends_the_scenario_with_the_id_of_the_operation() -> None:
    twice = [create(1, pod(name)) for name in ("a", "b", "c", "d", "b")]
    run = Run(operations(create(1, node("n")), *twice, done(2)))
    assert run.status["message"] == 'operation op-6: pods "b" already exists'


def test_a_name_that_is_not_valid_is_refused_as_ever() -> None:
    run = Run(operations(*(create(1, pod(name)) for name in ("a", "b", "c", "No")), done(2)))
    assert run.status["message"].startswith('operation op-4: Pod "No" is invalid: metadata.name: Invalid value: "No"')
