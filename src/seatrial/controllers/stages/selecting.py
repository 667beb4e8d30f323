"""Whom a Stage concerns: labels, annotations, and expressions in jq or CEL.

A look at the encoded object can often tell that it cannot match, which spares decoding it: a key that must be there
shows as its name in quotes, a text it must have as that text behind it. Where all conditions are about plain paths,
the answer is remembered for the next object that has the same there.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from seatrial.controllers.stages.glancing import ABSENT, Fields, Path, Seen
from seatrial.controllers.stages.jq import Query, compile_query
from seatrial.model.cel import CelError, CelSyntaxError, compile_expression
from seatrial.model.documents import Document, encode

Test = Callable[[Document], bool]
Marks = tuple[bytes, ...]
"""At least one of these is in the bytes of every object that matches."""
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
REMEMBERED = 4096
"""How many answers of one selector are kept."""
_STEP = re.compile(r"""([A-Za-z_]\w*)|"([^"\\]*)"|(\[\])""")
_PLAIN_PATH = re.compile(
    r"""\.(?:[A-Za-z_]\w*|"[^"\\]*"|\["[^"\\]*"\])(?:\.(?:[A-Za-z_]\w*|"[^"\\]*")|\.?\[(?:"[^"\\]*")?\])*"""
)
_LAST_NAME = re.compile(r"""([A-Za-z_]\w*|"[^"\\]*")\]?(?:\.?\[\])*$""")


class SelectorError(ValueError):
    """Why a selector cannot be read."""


@dataclass(frozen=True, slots=True)
class Glance:
    """The plain paths that all conditions of a selector are about."""

    fields: Fields
    presences: frozenset[int]
    """Places of those of which only matters whether there is something."""

    def key(self, data: bytes) -> tuple[bytes | bool, ...] | None:
        """Equal for two objects that match or do not match alike; None: unknown."""
        found = self.fields.read(data)
        if found is None:
            return None
        return tuple(
            value not in (ABSENT, b"null") if place in self.presences else value for place, value in enumerate(found)
        )


@dataclass(frozen=True, slots=True)
class Selector:
    """All conditions together."""

    tests: tuple[Test, ...]
    marks: tuple[Marks, ...]
    glance: Glance | None = None
    memory: dict[tuple[bytes | bool, ...], bool] = field(default_factory=dict)

    def may_match(self, data: bytes) -> bool:
        """False only where the encoded object cannot match."""
        for marks in self.marks:
            for mark in marks:
                if mark in data:
                    break
            else:
                return False
        return True

    def matches(self, document: Document) -> bool:
        return all(test(document) for test in self.tests)

    def is_for(self, seen: Seen) -> bool:
        """Whether the object matches; the same is said of the next one that has the same at the paths that matter."""
        key = self.glance.key(seen.stored.data) if self.glance is not None else None
        if key is None:
            return self.matches(seen.document)
        known = self.memory.get(key)
        if known is None:
            if len(self.memory) >= REMEMBERED:
                self.memory.clear()
            known = self.memory[key] = self.matches(seen.document)
        return known


def read_selector(selector: Document) -> Selector:
    """The selector of a Stage; SelectorError or ConfigError where it cannot be read."""
    tests: list[Test] = []
    marks: list[Marks] = []
    paths: list[tuple[Path | None, bool]] = []
    for part, source in (("labels", "matchLabels"), ("annotations", "matchAnnotations")):
        for key, value in (selector.get(source) or {}).items():
            tests.append(_labelled(part, key, value))
            paths.append((("metadata", part, key), False))
            marks.append((encode(key) + b":" + encode(value),))
    for expression in selector.get("matchExpressions") or ():
        cel = expression.get("cel")
        if cel is not None:
            tests.append(_cel_test(cel.get("expression", "")))
            paths.append((None, False))
            continue
        requirement = expression.get("jq") or expression
        tests.append(_jq_test(requirement))
        paths.append((_path(requirement["key"].strip()), requirement["operator"] in ("Exists", "DoesNotExist")))
        found = _marks(requirement)
        if found is not None:
            marks.append(found)
    return Selector(tuple(tests), tuple(marks), _glance(paths))


def _glance(paths: list[tuple[Path | None, bool]]) -> Glance | None:
    """What a selector looks at: (path, whether only its presence matters) for each condition, None: all of it."""
    known = [path for path, _ in paths if path is not None]
    if not known or len(known) < len(paths):
        return None
    fields = Fields(known)
    valued = {path for path, only_presence in paths if not only_presence}
    among = set(known)
    presences = {place for place, path in enumerate(fields.paths) if path in among - valued}
    return Glance(fields, frozenset(presences)) if among == set(fields.paths) else None


def _path(key: str) -> Path | None:
    """The names that a plain jq path goes through; None where it is another expression, or goes through a list."""
    if not _PLAIN_PATH.fullmatch(key):
        return None
    names = []
    for plain, quoted, every in _STEP.findall(key):
        if every:
            return None
        names.append(plain or quoted)
    return tuple(names)


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
