"""The part of jq that Stage files are written in: paths, pipes, `select`, comparison, arithmetic, `//`, `if`, `[…]`.

A compiled query takes a document and gives its results as KWOK takes them: nulls are left out, and a query that ends in
an error (iterating over something that is not there) gives nothing.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from seatrial.controllers.stages.jq_values import (
    ARITHMETIC,
    BINARY,
    COMPARISONS,
    UNARY,
    QueryError,
    each,
    field,
    is_true,
    item,
)
from seatrial.model.errors import ConfigError

Query = Callable[[Any], list[Any]]

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<number>\d+(?:\.\d+)?)
      | (?P<name>[A-Za-z_$][\w$]*)
      | (?P<symbol>==|!=|<=|>=|//|[.\[\]|()<>,?+*/%-])
    )""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LITERALS = {"true": True, "false": False, "null": None}


@lru_cache(maxsize=1024)
def compile_query(text: str) -> Query:
    """The query of this text; ConfigError names what cannot be read."""
    query = _Parser(text).parse()

    def results(document: Any) -> list[Any]:
        try:
            return [found for found in query(document) if found is not None]
        except QueryError:
            return []

    return results


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

    def _is_next(self, *symbols: str) -> bool:
        """Whether one of these comes next; it is then taken."""
        if self._next < len(self._tokens) and self._peek() in symbols and self._tokens[self._next][0] != "string":
            self._next += 1
            return True
        return False

    def _pipe(self) -> Query:
        query = self._comma()
        while self._is_next("|"):
            query = _then(query, self._comma())
        return query

    def _comma(self) -> Query:
        query = self._alternative()
        while self._is_next(","):
            query = _both(query, self._alternative())
        return query

    def _alternative(self) -> Query:
        query = self._either()
        if self._is_next("//"):
            query = _or_else(query, self._alternative())
        return query

    def _either(self) -> Query:
        query = self._all()
        while self._is_next("or"):
            query = _logic(query, self._all(), any)
        return query

    def _all(self) -> Query:
        query = self._comparison()
        while self._is_next("and"):
            query = _logic(query, self._comparison(), all)
        return query

    def _comparison(self) -> Query:
        query = self._sum()
        if self._peek() in COMPARISONS and self._tokens[self._next][0] == "symbol":
            compare = COMPARISONS[self._take()[1]]
            query = _crossed(query, self._sum(), compare)
        return query

    def _sum(self) -> Query:
        query = self._product()
        while self._next < len(self._tokens) and self._tokens[self._next] in (("symbol", "+"), ("symbol", "-")):
            query = _crossed(query, *self._operation(self._product))
        return query

    def _product(self) -> Query:
        query = self._postfix()
        while self._next < len(self._tokens) and self._tokens[self._next][0] == "symbol" and self._peek() in "*/%":
            query = _crossed(query, *self._operation(self._postfix))
        return query

    def _operation(self, operand: Callable[[], Query]) -> tuple[Query, Callable[[Any, Any], Any]]:
        work = ARITHMETIC[self._take()[1]]
        return operand(), work

    def _postfix(self) -> Query:
        query = self._steps(self._term())
        while self._is_next("?"):
            query = self._steps(_tried(query))
        return query

    def _term(self) -> Query:
        kind, text = self._take()
        if kind == "string":
            return _constant(_unquote(text))
        if kind == "number":
            return _constant(float(text) if "." in text else int(text))
        if text == "-":
            return _then(self._postfix(), lambda value: [ARITHMETIC["-"](0, value)])
        if text == "(":
            query = self._pipe()
            self._take(")")
            return query
        if text == "[":
            return self._array()
        if text == ".":
            return self._dotted(_identity)
        if text in _LITERALS:
            return _constant(_LITERALS[text])
        return self._condition() if text == "if" else self._function(text)

    def _array(self) -> Query:
        if self._is_next("]"):
            return lambda value: [[]]
        query = self._pipe()
        self._take("]")
        return lambda value: [query(value)]

    def _condition(self) -> Query:
        asked = self._pipe()
        self._take("then")
        then = self._pipe()
        otherwise: Query = _identity
        if self._is_next("elif"):
            otherwise = self._condition()
        else:
            if self._is_next("else"):
                otherwise = self._pipe()
            self._take("end")
        return lambda value: [
            result for answer in asked(value) for result in (then if is_true(answer) else otherwise)(value)
        ]

    def _function(self, name: str) -> Query:
        if not self._is_next("("):
            if name == "empty":
                return lambda value: []
            if name not in UNARY:
                raise self._error(f"unexpected {name!r}")
            change = UNARY[name]
            return lambda value: [change(value)]
        argument = self._pipe()
        self._take(")")
        if name == "select":
            return lambda value: [value for answer in argument(value) if is_true(answer)]
        if name == "map":
            return lambda value: [[result for member in each(value) for result in argument(member)]]
        if name in ("any", "all"):
            join = any if name == "any" else all
            return lambda value: [join([is_true(answer) for member in each(value) for answer in argument(member)])]
        if name not in BINARY:
            raise self._error(f"unexpected {name!r}")
        return _crossed(_identity, argument, BINARY[name])

    def _dotted(self, query: Query) -> Query:
        """What follows a dot: a name, or nothing."""
        if self._next < len(self._tokens) and self._tokens[self._next][0] in ("name", "string"):
            kind, name = self._take()
            return _then(query, _field(_unquote(name) if kind == "string" else name))
        return query

    def _steps(self, query: Query) -> Query:
        """Follow `.name`, `."name"`, `["name"]`, `[0]` and `[]`."""
        while True:
            if self._is_next("["):
                query = _then(query, self._bracket())
            elif self._is_next("."):
                query = self._dotted(query)
            elif self._peek() == "?" and self._next + 1 < len(self._tokens):
                self._take()
                query = _tried(query)
            else:
                return query

    def _bracket(self) -> Query:
        if self._is_next("]"):
            return each
        is_negative = self._is_next("-")
        kind, text = self._take()
        self._take("]")
        if kind == "string":
            return _field(_unquote(text))
        if kind != "number":
            raise self._error(f"unexpected {text!r}")
        place = -int(text) if is_negative else int(text)
        return lambda value: [item(value, place)]


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match.group(1), match.group(1)), text[1:-1])


def _identity(value: Any) -> list[Any]:
    return [value]


def _constant(constant: Any) -> Query:
    return lambda value: [constant]


def _field(name: str) -> Query:
    return lambda value: [field(value, name)]


def _then(first: Query, second: Query) -> Query:
    if first is _identity:
        return second
    return lambda value: [result for middle in first(value) for result in second(middle)]


def _both(first: Query, second: Query) -> Query:
    return lambda value: first(value) + second(value)


def _tried(query: Query) -> Query:
    def results(value: Any) -> list[Any]:
        try:
            return query(value)
        except QueryError:
            return []

    return results


def _or_else(first: Query, second: Query) -> Query:
    tried = _tried(first)
    return lambda value: [found for found in tried(value) if is_true(found)] or second(value)


def _logic(first: Query, second: Query, join: Callable[[list[bool]], bool]) -> Query:
    return lambda value: [join([is_true(a), is_true(b)]) for a in first(value) for b in second(value)]


def _crossed(first: Query, second: Query, work: Callable[[Any, Any], Any]) -> Query:
    return lambda value: [work(a, b) for b in second(value) for a in first(value)]
