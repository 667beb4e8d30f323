"""The part of Go's text/template that Stage files are written in.

Actions: `{{ pipeline }}`, `if`/`else if`/`else`, `with`, `range` (with `$index, $item`), `$x := …`, `$x = …`, `end`,
comments, and the trim marks `{{-` and `-}}`. Functions: Go's own and the ones that Stages use. A template records which
parts of its document it reads (`reads`), so that a renderer may cache its output for equal parts.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.model.errors import ConfigError

Functions = Mapping[str, Callable[..., Any]]

_ACTION = re.compile(r"\{\{(-\s)?\s*(.*?)\s*(\s-)?\}\}", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>"(?:[^"\\]|\\.)*"|`[^`]*`)
      | (?P<number>-?\d+(?:\.\d+)?)
      | (?P<chain>(?:\$\w*|)(?:\.\w+)+|\$\w*|\.)
      | (?P<name>\w+)
      | (?P<close>\)(?:\.\w+)*)
      | (?P<symbol>:=|[=|(,])
    )""",
    re.VERBOSE,
)


@dataclass(slots=True)
class Scope:
    """The scope of a template: the dot, its variables and the functions."""

    dot: Any
    variables: list[dict[str, Any]]
    functions: Functions

    def look_up(self, name: str) -> Any:
        for frame in reversed(self.variables):
            if name in frame:
                return frame[name]
        raise ConfigError("", "template", f"undefined variable {name!r}")

    def assign(self, name: str, value: Any) -> None:
        for frame in reversed(self.variables):
            if name in frame:
                frame[name] = value
                return
        raise ConfigError("", "template", f"undefined variable {name!r}")


Expression = Callable[[Scope], Any]


@dataclass(slots=True)
class Block:
    """A run of text and actions."""

    parts: list[Callable[[Scope], str]] = field(default_factory=list)

    def render(self, scope: Scope) -> str:
        return "".join([part(scope) for part in self.parts])


class Template:
    """A parsed template."""

    def __init__(self, text: str) -> None:
        parser = _TemplateParser(text)
        self._block = parser.block(())[0]
        self.reads: frozenset[tuple[str, ...]] | None = None if parser.reads_all else frozenset(parser.reads)
        self.calls = frozenset(parser.calls)

    def render(self, document: Any, functions: Functions) -> str:
        return self._block.render(Scope(document, [{"$": document}], functions))


class _TemplateParser:
    """Text in, blocks out; `reads` gathers the top-level paths that the template reads."""

    def __init__(self, text: str) -> None:
        self._pieces = _split(text)
        self._next = 0
        self._depth = 0
        self.reads: set[tuple[str, ...]] = set()
        self.calls: set[str] = set()
        self.reads_all = False

    def block(self, until: tuple[str, ...]) -> tuple[Block, str]:
        """Read up to one of the closing words; give it back with its arguments."""
        block = Block()
        while self._next < len(self._pieces):
            is_action, text = self._pieces[self._next]
            self._next += 1
            if not is_action:
                block.parts.append(_text(text))
                continue
            word = text.split(None, 1)[0] if text else ""
            if word in until:
                return block, text
            if word and not text.startswith("/*"):
                block.parts.append(self._action(word, text))
        if until:
            raise ConfigError("", "template", f"missing {{{{ {until[-1]} }}}}")
        return block, ""

    def _action(self, word: str, text: str) -> Callable[[Scope], str]:
        rest = text[len(word) :].strip()
        if word == "if":
            return self._conditional(rest, moves_dot=False)
        if word == "with":
            return self._conditional(rest, moves_dot=True)
        if word == "range":
            return self._loop(rest)
        if word.startswith("$") and re.match(r"\$\w*\s*:?=", text):
            name, sign, source = re.split(r"\s*(:?=)\s*", text, maxsplit=1)
            return _assignment(name, self._expression(source), declares=sign == ":=")
        expression = self._expression(text)
        return lambda scope: _show(expression(scope))

    def _conditional(self, source: str, *, moves_dot: bool) -> Callable[[Scope], str]:
        condition = self._expression(source)
        self._depth += moves_dot
        then, closing = self.block(("else", "end"))
        self._depth -= moves_dot
        otherwise = Block()
        if closing.startswith("else"):
            nested = closing[4:].strip()
            if nested:
                word = nested.split(None, 1)[0]
                otherwise.parts.append(self._action(word, nested))
            else:
                otherwise, _ = self.block(("end",))

        def render(scope: Scope) -> str:
            value = condition(scope)
            inner = Scope(
                value if moves_dot and _is_true(value) else scope.dot, [*scope.variables, {}], scope.functions
            )
            return (then if _is_true(value) else otherwise).render(inner)

        return render

    def _loop(self, source: str) -> Callable[[Scope], str]:
        names: list[str] = []
        if ":=" in source:
            declared, source = source.split(":=", 1)
            names = [name.strip() for name in declared.split(",")]
        expression = self._expression(source)
        self._depth += 1
        body, closing = self.block(("else", "end"))
        self._depth -= 1
        otherwise = self.block(("end",))[0] if closing.startswith("else") else Block()

        def render(scope: Scope) -> str:
            pairs = _pairs(expression(scope))
            if not pairs:
                return otherwise.render(scope)
            shown = []
            for key, value in pairs:
                frame = dict(zip(names, (key, value) if len(names) > 1 else (value,), strict=False))
                shown.append(body.render(Scope(value, [*scope.variables, frame], scope.functions)))
            return "".join(shown)

        return render

    def _expression(self, source: str) -> Expression:
        tokens = _tokens(source)
        expression, rest = self._pipeline(tokens)
        if rest:
            raise ConfigError("", "template", f"unexpected {rest[0][1]!r} in {{{{ {source} }}}}")
        return expression

    def _pipeline(self, tokens: list[tuple[str, str]]) -> tuple[Expression, list[tuple[str, str]]]:
        expression, tokens = self._command(tokens, None)
        while tokens and tokens[0][1] == "|":
            expression, tokens = self._command(tokens[1:], expression)
        return expression, tokens

    def _command(
        self, tokens: list[tuple[str, str]], last: Expression | None
    ) -> tuple[Expression, list[tuple[str, str]]]:
        if tokens and tokens[0][0] == "name" and tokens[0][1] not in _LITERALS:
            name, tokens = tokens[0][1], tokens[1:]
            self.calls.add(name)
            arguments: list[Expression] = []
            while tokens and tokens[0][1] != "|" and tokens[0][0] != "close":
                argument, tokens = self._operand(tokens)
                arguments.append(argument)
            if last is not None:
                arguments.append(last)
            return _call(name, arguments), tokens
        return self._operand(tokens)

    def _operand(self, tokens: list[tuple[str, str]]) -> tuple[Expression, list[tuple[str, str]]]:
        if not tokens:
            raise ConfigError("", "template", "an action ends too early")
        (kind, text), tokens = tokens[0], tokens[1:]
        if text == "(":
            inner, tokens = self._pipeline(tokens)
            if not tokens or tokens[0][0] != "close":
                raise ConfigError("", "template", "missing )")
            path = tuple(filter(None, tokens[0][1][1:].split(".")))
            return (lambda scope: _follow(inner(scope), path)), tokens[1:]
        if kind == "string":
            return _constant(text[1:-1] if text[0] == "`" else re.sub(r"\\(.)", r"\1", text[1:-1])), tokens
        if kind == "number":
            return _constant(float(text) if "." in text else int(text)), tokens
        if kind == "chain":
            return self._chain(text), tokens
        if text in _LITERALS:
            return _constant(_LITERALS[text]), tokens
        self.calls.add(text)
        return _call(text, []), tokens

    def _chain(self, text: str) -> Expression:
        head, *names = text.split(".")
        path = tuple(name for name in names if name)
        if head in ("", "$") and (head == "$" or self._depth == 0):
            if path:
                self.reads.add(path[:2])
            else:
                self.reads_all = True
        if head:
            return lambda scope: _follow(scope.look_up(head), path)
        return lambda scope: _follow(scope.dot, path)


def _split(text: str) -> list[tuple[bool, str]]:
    """Texts and actions in turn, trimmed as the marks say."""
    pieces: list[tuple[bool, str]] = []
    position, trims = 0, False
    for match in _ACTION.finditer(text):
        before = text[position : match.start()]
        before = before.lstrip() if trims else before
        pieces.append((False, before.rstrip() if match.group(1) else before))
        pieces.append((True, match.group(2)))
        position, trims = match.end(), bool(match.group(3))
    pieces.append((False, text[position:].lstrip() if trims else text[position:]))
    return pieces


def _tokens(source: str) -> list[tuple[str, str]]:
    found, position = [], 0
    source = source.rstrip()
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None:
            raise ConfigError("", "template", f"unexpected {source[position:]!r}")
        found.append((match.lastgroup or "", match.group(match.lastgroup or 0)))
        position = match.end()
    return found


def _text(text: str) -> Callable[[Scope], str]:
    return lambda scope: text


def _constant(value: Any) -> Expression:
    return lambda scope: value


def _assignment(name: str, expression: Expression, *, declares: bool) -> Callable[[Scope], str]:
    def render(scope: Scope) -> str:
        if declares:
            scope.variables[-1][name] = expression(scope)
        else:
            scope.assign(name, expression(scope))
        return ""

    return render


def _call(name: str, arguments: list[Expression]) -> Expression:
    def evaluate(scope: Scope) -> Any:
        function = scope.functions.get(name)
        if function is None:
            raise ConfigError("", "template", f"function {name!r} is not known")
        return function(*[argument(scope) for argument in arguments])

    return evaluate


def _follow(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _pairs(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return sorted(value.items())
    if isinstance(value, int) and not isinstance(value, bool):
        return [(number, number) for number in range(value)]
    return list(enumerate(value or []))


def _is_true(value: Any) -> bool:
    return bool(value)


def _show(value: Any) -> str:
    if value is None:
        return "<no value>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


_LITERALS = {"true": True, "false": False, "nil": None}
