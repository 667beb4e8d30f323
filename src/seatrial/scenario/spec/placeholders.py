"""Placeholders in the generators of a scenario: `${index}`, `${index % 3}`, `${index:04d}`, `"${=index * 2}"`.

A template is a document whose texts hold placeholders. It is split once and joined for every copy, so that twenty
thousand pods cost no more than writing them down. `${…}` becomes text, a whole value `"${=…}"` becomes a number,
and `$${` becomes a plain `${`.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from seatrial.model.documents import encode

Row = Mapping[str, Any]
_PLACEHOLDER = re.compile(r'"\$\{=(?P<number>[^}"]*)\}"|(?P<dollar>\$\$\{)|\$\{(?P<text>[^}"]*)\}')
_LAYOUT = re.compile(r"0?[0-9]{1,3}d?")
"""The minimal width, filled with blanks or zeros."""
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class Template:
    """A document with placeholders, ready to be filled in any number of times; ValueError names a bad placeholder."""

    def __init__(self, document: Any) -> None:
        text = encode(document).decode()
        self._parts: list[str | Callable[[Row], str]] = []
        end = 0
        for found in _PLACEHOLDER.finditer(text):
            self._parts.append(text[end : found.start()])
            self._parts.append(_filler(found))
            end = found.end()
        self._parts.append(text[end:])

    def fill(self, row: Row) -> bytes:
        """The encoded document of one copy."""
        return "".join(part if isinstance(part, str) else part(row) for part in self._parts).encode()


def _filler(found: re.Match[str]) -> str | Callable[[Row], str]:
    if found["dollar"]:
        return "${"
    if found["number"] is not None:
        number = _expression(found["number"], f"${{={found['number']}}}")
        return lambda row: str(_whole(number(row)))
    source, colon, layout = found["text"].partition(":")
    placeholder = f"${{{found['text']}}}"
    if source.startswith("="):
        whole, within = f'"${{{source}}}"', f"${{{source[1:]}}}"
        raise ValueError(f"{placeholder} is a number only as a whole value ({whole}); inside a text write {within}")
    if colon and not _LAYOUT.fullmatch(layout):
        raise ValueError(f"{placeholder}: layout {layout!r} is not known, expected one like 04d")
    value = _expression(source, placeholder)
    if not layout:
        return lambda row: orjson.dumps(str(value(row))).decode()[1:-1]
    return lambda row: format(_whole(value(row)), layout)


def _expression(source: str, placeholder: str) -> Callable[[Row], Any]:
    try:
        tree = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"{_short(placeholder)} is not an expression") from None
    try:
        compute = _compile(tree, source)
    except RecursionError:
        raise ValueError(f"{_short(placeholder)} is nested too deeply") from None

    def value(row: Row) -> Any:
        try:
            return compute(row)
        except ZeroDivisionError:
            raise ValueError(f"{placeholder}: division by zero (row {row.get('index')})") from None
        except RecursionError:
            raise ValueError(f"{_short(placeholder)} is nested too deeply") from None

    return value


def _short(placeholder: str) -> str:
    return placeholder if len(placeholder) <= 80 else f"{placeholder[:77]}..."


def _compile(tree: ast.expr, source: str) -> Callable[[Row], Any]:
    if isinstance(tree, ast.Name):
        return lambda row: _look_up(row, tree.id)
    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return lambda row: tree.value
    if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
        left, right = _compile(tree.left, source), _compile(tree.right, source)
        apply = _OPERATORS[type(tree.op)]
        return lambda row: apply(_whole(left(row)), _whole(right(row)))
    raise ValueError(f"${{{source}}}: only names, whole numbers and + - * // % are known here")


def _look_up(row: Row, name: str) -> Any:
    if name not in row:
        raise ValueError(f"${{{name}}} is not known here; there are {', '.join(sorted(row))}")
    return row[name]


def _whole(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} is not a whole number") from None
