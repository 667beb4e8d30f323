"""Whom a Stage concerns: labels, annotations, and expressions in jq or CEL.

A look at the encoded object can often tell that it cannot match, which spares decoding it: a key that must be there
shows as its name in quotes, a text it must have as that text behind it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from seatrial.controllers.stages.jq import Query, compile_query
from seatrial.model.cel import CelError, CelSyntaxError, compile_expression
from seatrial.model.documents import Document, encode

Test = Callable[[Document], bool]
Marks = tuple[bytes, ...]
"""At least one of these is in the bytes of every object that matches."""
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_PLAIN_PATH = re.compile(r"""\.(?:[A-Za-z_]\w*|\[?"[^"\\]*"\]?)(?:\.?(?:[A-Za-z_]\w*|\[?"[^"\\]*"\]?|\[\]))*""")
_LAST_NAME = re.compile(r"""([A-Za-z_]\w*|"[^"\\]*")\]?(?:\.?\[\])*$""")


class SelectorError(ValueError):
    """Why a selector cannot be read."""


@dataclass(frozen=True, slots=True)
class Selector:
    """All conditions together."""

    tests: tuple[Test, ...]
    marks: tuple[Marks, ...]

    def may_match(self, data: bytes) -> bool:
        """False only where the encoded object cannot match."""
        return all(any(mark in data for mark in marks) for marks in self.marks)

    def matches(self, document: Document) -> bool:
        return all(test(document) for test in self.tests)


def read_selector(selector: Document) -> Selector:
    """The selector of a Stage; SelectorError or ConfigError where it cannot be read."""
    tests: list[Test] = []
    marks: list[Marks] = []
    for field, source in (("labels", "matchLabels"), ("annotations", "matchAnnotations")):
        for key, value in (selector.get(source) or {}).items():
            tests.append(_labelled(field, key, value))
            marks.append((encode(key) + b":" + encode(value),))
    for expression in selector.get("matchExpressions") or ():
        cel = expression.get("cel")
        if cel is not None:
            tests.append(_cel_test(cel.get("expression", "")))
            continue
        requirement = expression.get("jq") or expression
        tests.append(_jq_test(requirement))
        found = _marks(requirement)
        if found is not None:
            marks.append(found)
    return Selector(tuple(tests), tuple(marks))


def _labelled(field: str, key: str, value: str) -> Test:
    return lambda document: (document["metadata"].get(field) or {}).get(key) == value


def _jq_test(requirement: Document) -> Test:
    operator, values = requirement.get("operator"), frozenset(requirement.get("values") or ())
    if not requirement.get("key"):
        raise SelectorError("needs a key or a CEL expression")
    if operator not in OPERATORS:
        raise SelectorError(f"operator {operator!r} is not one of {', '.join(OPERATORS)}")
    if (operator in ("In", "NotIn")) != bool(values):
        raise SelectorError(f"operator {operator} {'needs' if operator in ('In', 'NotIn') else 'takes no'} values")
    query = compile_query(requirement["key"])
    if operator in ("Exists", "DoesNotExist"):
        return _presence(query, wanted=operator == "Exists")
    return _membership(query, values, wanted=operator == "In")


def _presence(query: Query, *, wanted: bool) -> Test:
    return lambda document: bool(query(document)) == wanted


def _membership(query: Query, values: frozenset[str], *, wanted: bool) -> Test:
    return lambda document: any(_plain(found) in values for found in query(document)) == wanted


def _cel_test(source: str) -> Test:
    try:
        program = compile_expression(source, frozenset({"self"}))
    except CelSyntaxError as error:
        raise SelectorError(f"CEL {source!r}: {error}") from error

    def test(document: Document) -> bool:
        try:
            return program.evaluate({"self": document}) is True
        except CelError:
            return False

    return test


def _marks(requirement: Document) -> Marks | None:
    """What the bytes of an object that meets a requirement hold; None where nothing can be said."""
    key = requirement["key"].strip()
    if requirement["operator"] not in ("In", "Exists") or not _PLAIN_PATH.fullmatch(key):
        return None
    last = _LAST_NAME.search(key)
    if last is None:
        return None
    name = encode(last.group(1).strip('"')) + b":"
    if requirement["operator"] == "Exists" or key.endswith("[]"):
        return (name,)
    return tuple(name + encode(value) for value in requirement["values"]) + tuple(
        name + value.encode() for value in requirement["values"] if not value.isalpha() or value in ("true", "false")
    )


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
