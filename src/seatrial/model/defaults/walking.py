"""Defaulting of whole objects: a walk that is made once per type from the data file and the rules.

As in upstream's generated code, a type's rule runs before the rules of what it contains, structs that Go keeps by
value are defaulted even where they are absent, and every core/v1 ResourceList is rounded up to thousandths.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import seatrial.model.defaults.cluster
import seatrial.model.defaults.core
import seatrial.model.defaults.pods
import seatrial.model.defaults.workloads  # noqa: F401  (these four register the rules)
from seatrial.model.defaults.rules import CONSTANTS, RULES, Rule
from seatrial.model.documents import Document
from seatrial.model.facts import FieldFacts, facts, type_facts
from seatrial.model.kinds import Kind
from seatrial.model.quantity import MILLI, Quantity
from seatrial.model.times import to_time

_DEFAULTED_GROUPS = frozenset(
    {
        "", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps",
        "authentication.k8s.io", "autoscaling", "batch", "discovery.k8s.io", "flowcontrol.apiserver.k8s.io",
        "networking.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
    }
)  # fmt: skip
_walks: dict[str, Rule | None] = {}


def apply_defaults(kind: Kind, document: Document, now: int | None = None) -> None:
    """Fill in what the API server would, in place; `now` is the time a device taint without one is given."""
    if kind.group not in _DEFAULTED_GROUPS or kind.custom:
        return
    name = facts().kinds.get(f"{kind.api_version}/{kind.kind}")
    walk = _walk(name) if name is not None else None
    if walk is not None:
        walk(document)
    if now is not None and kind.group == "resource.k8s.io":
        _date_taints(document, now)


def _date_taints(document: Document, now: int) -> None:
    for device in (document.get("spec") or {}).get("devices") or ():
        for taint in device.get("taints") or ():
            taint.setdefault("timeAdded", to_time(now))


def _walk(name: str) -> Rule | None:
    """The walk of a type; None where nothing below it has a default."""
    if name not in _walks:
        _walks[name] = None  # a type that contains itself has no defaults in the inner one
        _walks[name] = _make_walk(name)
    return _walks[name]


def _make_walk(name: str) -> Rule | None:
    steps: list[Rule] = []
    if (own := RULES.get(name)) is not None:
        steps.append(own)
    declared = CONSTANTS.get(name, {})
    for field in type_facts(name).fields or ():
        default = declared.get(field.name, field.default)
        if default or (default is not None and field.pointer):
            steps.append(_constant(field, default))
        if (step := _descend(field)) is not None:
            steps.append(step)
    if not steps:
        return None

    def walk(document: Document) -> None:
        for step in steps:
            step(document)

    return walk


def _constant(field: FieldFacts, default: Any) -> Rule:
    name, mutable = field.name, isinstance(default, dict | list)
    if field.pointer:

        def fill_absent(document: Document) -> None:
            if document.get(name) is None:
                document[name] = deepcopy(default) if mutable else default

        return fill_absent

    def fill_empty(document: Document) -> None:
        if not document.get(name):
            document[name] = deepcopy(default) if mutable else default

    return fill_empty


def _descend(field: FieldFacts) -> Rule | None:
    name = field.name
    if field.go == "v1.ResourceList":
        return lambda document: _round(document.get(name))
    if "." not in field.type:
        return None
    walk = _walk(field.type.lstrip("~[]{}"))
    if walk is None:
        return None
    if field.inline:
        return walk
    if field.type.startswith("[]"):
        return _each(name, walk, list)
    if field.type.startswith("{}"):
        return _each(name, walk, dict.values)
    if field.pointer:
        return lambda document: walk(value) if (value := document.get(name)) is not None else None
    return lambda document: walk(document.setdefault(name, {}))


def _each(name: str, walk: Rule, elements: Callable[[Any], Any]) -> Rule:
    def step(document: Document) -> None:
        if value := document.get(name):
            for element in elements(value):
                walk(element)

    return step


def _round(resources: dict[str, Any] | None) -> None:
    for name, value in (resources or {}).items():
        resources[name] = str(Quantity.parse(value).round_up(MILLI))  # type: ignore[index]
