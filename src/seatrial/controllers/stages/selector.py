"""The selector of a Stage: labels, annotations, and expressions in jq or CEL."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from seatrial.controllers.stages.field_reader import Path
from seatrial.controllers.stages.jq import Query, compile_query
from seatrial.model import cel
from seatrial.model.cel import CelError, CelSyntaxError
from seatrial.model.documents import Document

Test = Callable[[Document], bool]
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_STEP = re.compile(r"""([A-Za-z_]\w*)|"([^"\\]*)"|(\[\])""")
_PLAIN_PATH = re.compile(
    r"""\.(?:[A-Za-z_]\w*|"[^"\\]*"|\["[^"\\]*"\])(?:\.(?:[A-Za-z_]\w*|"[^"\\]*")|\.?\[(?:"[^"\\]*")?\])*"""
)


_OR_ELSE = re.compile(r"""\s*//\s*(?:"[^"\\]*"|\d+)\s*""")
"""What stands for a field that is missing: a constant, so the field is still all that is read."""


_SELECT = re.compile(r"\s*select\s*\((.*)\)\s*\|\s*\.metadata\.name\s*")
_NAMES = re.compile(r"\.[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_COMPARISON = rf"""(?:{_NAMES.pattern}|\(\s*{_NAMES.pattern}\s*\|\s*length\s*\))\s*[=!]=\s*(?:"[^"\\.]*"|\d+)"""
_COMPARISONS = re.compile(rf"\s*{_COMPARISON}(?:\s+(?:or|and)\s+{_COMPARISON})*\s*")


class SelectorError(ValueError):
    """Why a selector cannot be read."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; `paths` are the fields that it reads, none where it may read any field."""

    test: Test
    paths: tuple[Path, ...] = ()
    only_presence: bool = False
    """Whether only the presence of the field is tested, not its value."""


@dataclass(frozen=True, slots=True)
class Selector:
    """All conditions together."""

    conditions: tuple[Condition, ...]

    def matches(self, document: Document) -> bool:
        return all(condition.test(document) for condition in self.conditions)


def read_selector(selector: Document) -> Selector:
    """The selector of a Stage; SelectorError or ConfigError where it cannot be read."""
    conditions: list[Condition] = []
    for part, source in (("labels", "matchLabels"), ("annotations", "matchAnnotations")):
        for key, value in (selector.get(source) or {}).items():
            conditions.append(Condition(_labelled(part, key, value), (("metadata", part, key),)))
    for expression in selector.get("matchExpressions") or ():
        cel = expression.get("cel")
        if cel is not None:
            conditions.append(Condition(_cel_test(cel.get("expression", ""))))
            continue
        requirement = expression.get("jq") or expression
        test = _jq_test(requirement)
        path, is_whole = _path(requirement["key"].strip())
        is_presence = requirement["operator"] in ("Exists", "DoesNotExist")
        paths = (path,) if path is not None else _selecting_paths(requirement["key"]) if is_presence else ()
        conditions.append(Condition(test, paths, only_presence=is_whole and is_presence))
    return Selector(tuple(conditions))


def _path(key: str) -> tuple[Path | None, bool]:
    """The path of the only field that a jq expression reads, and whether the expression is just that path.

    Anything after an iteration or a pipe reads below that field. None: the expression may read any field.
    """
    start, pipe, rest = key.partition("|")
    if (default := _OR_ELSE.search(start)) is not None and default.end() == len(start):
        start, pipe = start[: default.start()], "//"
    if not _PLAIN_PATH.fullmatch(start.rstrip()) or rest.startswith("="):
        return None, False
    names: list[str] = []
    for plain, quoted, every in _STEP.findall(start):
        if every:
            return tuple(names), False
        names.append(plain or quoted)
    return tuple(names), not pipe


def _selecting_paths(key: str) -> tuple[Path, ...]:
    """What decides whether `select(...) | .metadata.name` has a result, as every object has a name.

    Only for comparisons of plain paths and of their lengths: each of them reads from the object itself.
    """
    chosen = _SELECT.fullmatch(key)
    if chosen is None or _COMPARISONS.fullmatch(chosen[1]) is None:
        return ()
    return tuple(
        tuple(plain or quoted for plain, quoted, _ in _STEP.findall(path)) for path in _NAMES.findall(chosen[1])
    )


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
        program = cel.compile_expression(source, frozenset({"self"}))
    except CelSyntaxError as error:
        raise SelectorError(f"CEL {source!r}: {error}") from error

    def test(document: Document) -> bool:
        try:
            return program.evaluate({"self": document}) is True
        except CelError:
            return False

    return test


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
