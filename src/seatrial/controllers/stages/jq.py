"""The part of jq that Stage files are written in: paths, iteration, `select`, comparison, `//` and pipes.

A compiled query takes a document and gives the list of its results. A path through something that is not there gives
nothing where jq would give null, which is what Stage selectors want of `Exists`.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from seatrial.model.errors import ConfigError

Query = Callable[[Any], list[Any]]

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<number>-?\d+(?:\.\d+)?)
      | (?P<name>[A-Za-z_$][\w$]*)
      | (?P<symbol>==|!=|<=|>=|//|\.\.|[.\[\]|()<>,])
    )""",
    re.VERBOSE,
)


@lru_cache(maxsize=1024)
def compile_query(text: str) -> Query:
    """The query of this text; ConfigError names what cannot be read."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._error(f"unexpected {text[position:]!r}")
            self._tokens.append((match.lastgroup or "", match.group(match.lastgroup or 0)))
            position = match.end()
        self._next = 0

    def parse(self) -> Query:
        query = self._pipe()
        if self._next < len(self._tokens):
            raise self._error(f"unexpected {self._tokens[self._next][1]!r}")
        return query

    def _error(self, why: str) -> ConfigError:
        return ConfigError("", f"jq {self._text!r}", why)

    def _peek(self) -> str:
        return self._tokens[self._next][1] if self._next < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> tuple[str, str]:
        if self._next >= len(self._tokens) or (wanted and self._peek() != wanted):
            raise self._error(f"expected {wanted or 'more'!r}, found {self._peek()!r}")
        self._next += 1
        return self._tokens[self._next - 1]

    def _pipe(self) -> Query:
        query = self._alternative()
        while self._peek() == "|":
            self._take()
            query = _then(query, self._alternative())
        return query

    def _alternative(self) -> Query:
        query = self._either()
        while self._peek() == "//":
            self._take()
            query = _or_else(query, self._either())
        return query

    def _either(self) -> Query:
        query = self._both()
        while self._peek() == "or":
            self._take()
            query = _logic(query, self._both(), any)
        return query

    def _both(self) -> Query:
        query = self._comparison()
        while self._peek() == "and":
            self._take()
            query = _logic(query, self._comparison(), all)
        return query

    def _comparison(self) -> Query:
        query = self._term()
        if self._peek() in _COMPARISONS:
            compare = _COMPARISONS[self._take()[1]]
            query = _compared(query, self._term(), compare)
        return query

    def _term(self) -> Query:
        kind, text = self._take()
        if kind == "string":
            return _constant(_unquote(text))
        if kind == "number":
            return _constant(float(text) if "." in text else int(text))
        if text == "(":
            query = self._pipe()
            self._take(")")
            return self._steps(query)
        if text in _LITERALS:
            return _constant(_LITERALS[text])
        if text in ("select", "not", "length", "tostring", "has"):
            return self._function(text)
        if text == ".":
            return self._steps(_identity, started=True)
        raise self._error(f"unexpected {text!r}")

    def _function(self, name: str) -> Query:
        if name in _FILTERS:
            return _mapped(_FILTERS[name])
        self._take("(")
        argument = self._pipe()
        self._take(")")
        if name == "has":
            return lambda value: [any(isinstance(value, dict) and key in value for key in argument(value))]
        return self._steps(lambda value: [value] if any(map(_is_true, argument(value))) else [])

    def _steps(self, query: Query, *, started: bool = False) -> Query:
        """Follow `.name`, `."name"`, `["name"]`, `[0]` and `[]`."""
        after_dot = started
        while True:
            text = self._peek()
            if text == "[":
                query = _then(query, self._bracket())
            elif text == ".":
                self._take()
                after_dot = True
                continue
            elif after_dot and self._next < len(self._tokens) and self._tokens[self._next][0] in ("name", "string"):
                kind, name = self._take()
                query = _then(query, _field(_unquote(name) if kind == "string" else name))
            else:
                return query
            after_dot = False

    def _bracket(self) -> Query:
        self._take("[")
        if self._peek() == "]":
            self._take()
            return _each
        kind, text = self._take()
        self._take("]")
        return _field(_unquote(text)) if kind == "string" else _item(int(text))


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def _is_true(value: Any) -> bool:
    return value is not None and value is not False


def _identity(value: Any) -> list[Any]:
    return [value]


def _constant(constant: Any) -> Query:
    return lambda value: [constant]


def _mapped(change: Callable[[Any], Any]) -> Query:
    return lambda value: [change(value)]


def _field(name: str) -> Query:
    return lambda value: [value[name]] if isinstance(value, dict) and value.get(name) is not None else []


def _item(index: int) -> Query:
    return lambda value: [value[index]] if isinstance(value, list) and -len(value) <= index < len(value) else []


def _each(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


def _then(first: Query, second: Query) -> Query:
    return lambda value: [result for middle in first(value) for result in second(middle)]


def _or_else(first: Query, second: Query) -> Query:
    return lambda value: [found for found in first(value) if _is_true(found)] or second(value)


def _logic(first: Query, second: Query, join: Callable[[list[bool]], bool]) -> Query:
    return lambda value: [join([any(map(_is_true, first(value))), any(map(_is_true, second(value)))])]


def _compared(first: Query, second: Query, compare: Callable[[Any, Any], bool]) -> Query:
    return lambda value: [compare(a, b) for a in first(value) or [None] for b in second(value) or [None]]


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda a, b: isinstance(a, type(b)) and a is not None and compare(a, b)


_LITERALS = {"true": True, "false": False, "null": None}
_FILTERS: dict[str, Callable[[Any], Any]] = {
    "not": lambda value: not _is_true(value),
    "length": lambda value: 0 if value is None else len(value),
    "tostring": str,
}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": _ordered(lambda a, b: bool(a < b)),
    "<=": _ordered(lambda a, b: bool(a <= b)),
    ">": _ordered(lambda a, b: bool(a > b)),
    ">=": _ordered(lambda a, b: bool(a >= b)),
}
