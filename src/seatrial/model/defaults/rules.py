"""The registry of defaulting rules: a rule belongs to a type and fills in one document of it.

Upstream's generator calls the rule of a type wherever that type occurs below an API object; a rule here is found the
same way, by the OpenAPI model name of its type.
"""

from collections.abc import Callable
from typing import Any

from seatrial.model.documents import Document

Rule = Callable[[Document], None]
RULES: dict[str, Rule] = {}
CONSTANTS: dict[str, dict[str, Any]] = {}
"""Fields that have one default whatever else is set, by type."""


def rule(*types: str) -> Callable[[Rule], Rule]:
    """Registers a function as the rule of types, named as `core.v1.Container` or in full."""

    def register(function: Rule) -> Rule:
        for name in types:
            RULES[full_name(name)] = function
        return function

    return register


def constants(type_: str, **values: Any) -> None:
    """Declares the constant defaults of a type's fields."""
    CONSTANTS[full_name(type_)] = values


def full_name(type_: str) -> str:
    return type_ if type_.startswith("io.k8s.") else f"io.k8s.api.{type_}"


def when_absent(document: Document, **values: Any) -> None:
    """Sets fields that are not there; an explicit zero stays."""
    for name, value in values.items():
        if document.get(name) is None:
            document[name] = value


def when_empty(document: Document, **values: Any) -> None:
    """Sets fields that are not there or empty."""
    for name, value in values.items():
        if not document.get(name):
            document[name] = value
