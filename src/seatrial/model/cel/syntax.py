"""The syntax of CEL: text in, tree out.

Why our own: Kubernetes shows the messages of cel-go to its users, and device selectors depend on values (quantities,
semantic versions, maps with a default) that no CEL library for Python can carry. The tree is small and plain; what it
means is in `cel.py`. Follows the grammar of cel-go 0.26 (parser/gen/CEL.g4) with optional syntax switched on.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from seatrial.model.cel.errors import CelSyntaxError
from seatrial.model.cel.values import UInt


@dataclass(frozen=True, slots=True)
class Node:
    """One node of an expression; `at` is its place in the text."""

    at: int


@dataclass(frozen=True, slots=True)
class Literal(Node):
    value: object


@dataclass(frozen=True, slots=True)
class Ident(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Select(Node):
    operand: Node
    field: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Index(Node):
    operand: Node
    key: Node
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Call(Node):
    function: str
    target: Node | None
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MakeList(Node):
    items: tuple[tuple[Node, bool], ...]


@dataclass(frozen=True, slots=True)
class MakeMap(Node):
    entries: tuple[tuple[Node, Node, bool], ...]


@dataclass(frozen=True, slots=True)
class MakeStruct(Node):
    type_name: str
    entries: tuple[tuple[str, Node, bool], ...]


_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<string>(?:[rR][bB]|[bB][rR]|[rRbB])?(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|\"(?:\\.|[^\\\"\n\r])*\"|'(?:\\.|[^\\'\n\r])*'))
    |(?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
    |(?P<int>0x[0-9a-fA-F]+[uU]?|\d+[uU]?)
    |(?P<ident>[_a-zA-Z][_a-zA-Z0-9]*)
    |(?P<quoted>`[^`\n]+`)
    |(?P<op>\.\?|\[\?|&&|\|\||<=|>=|==|!=|[-+*/%<>!?:.,()\[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
_RAW_STRING = re.compile(r"^([bB]?)[rR]([bB]?)")
_RESERVED = frozenset(("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop"))
_RESERVED |= {"package", "namespace", "return", "var", "void", "while"}
_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, "'": 39, '"': 34, "`": 96, "?": 63}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
_RELATIONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "in"))
_MAX_DEPTH = 250
_LONGEST_INT = 100
"""Characters of an integer: no longer one fits into 64 bits, unless it is written with many zeros."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def place(source: str, at: int, message: str) -> str:
    """A message with line, column and the line itself, as cel-go prints issues."""
    line = source.count("\n", 0, at) + 1
    start = source.rfind("\n", 0, at) + 1
    end = source.find("\n", at)
    text = source[start : len(source) if end < 0 else end].replace("\t", " ")
    return f"ERROR: <input>:{line}:{at - start + 1}: {message}\n | {text}\n | {'.' * (at - start)}^"


def _tokens(source: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        if match is None:
            raise CelSyntaxError(
                place(source, at, f"Syntax error: token recognition error at: '{source[at : at + 1]}'")
            )
        kind = str(match.lastgroup)
        if kind == "string" and source[at] in "rRbB" and _RAW_STRING.match(match.group()):
            match = _raw_string(source, at) or match
        if kind != "space":
            found.append(_Token(kind, match.group(), at))
        at = match.end()
    found.append(_Token("end", "<EOF>", len(source)))
    return found


def _raw_string(source: str, at: int) -> re.Match[str] | None:
    """In a raw string a backslash does not protect the quote."""
    return re.compile(r"[rRbB]{1,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|\"[^\"\n\r]*\"|'[^'\n\r]*')", re.DOTALL).match(
        source, at
    )


def _unquote(token: _Token, source: str) -> str | bytes:
    text = token.text
    prefix = ""
    while text[0] in "rRbB":
        prefix, text = prefix + text[0].lower(), text[1:]
    quotes = 3 if text[:3] in ('"""', "'''") else 1
    body = text[quotes:-quotes].replace("\r\n", "\n").replace("\r", "\n")
    if "r" in prefix:
        return body.encode() if "b" in prefix else body
    if "b" in prefix:
        return _unescape_bytes(body)

    def text_escape(match: re.Match[str]) -> str:
        code = match.group(1)
        if code[0] in "xXuU" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code[0] in "0123" and len(code) == 3:
            return chr(int(code, 8))
        if code in _ESCAPES:
            return chr(_ESCAPES[code])
        raise CelSyntaxError(place(source, token.at, "Syntax error: invalid escape sequence"))

    return _ESCAPE.sub(text_escape, body)


def _unescape_bytes(body: str) -> bytes:
    out = bytearray()
    last = 0
    for match in _ESCAPE.finditer(body):
        out += body[last : match.start()].encode()
        code = match.group(1)
        if code[0] in "xX" and len(code) > 1:
            out.append(int(code[1:], 16))
        elif code[0] in "0123" and len(code) == 3:
            out.append(int(code, 8))
        elif code[0] in "uU" and len(code) > 1:
            out += chr(int(code[1:], 16)).encode()
        else:
            out.append(_ESCAPES.get(code, ord(code[0]) & 0xFF))
        last = match.end()
    return bytes(out + body[last:].encode())


class _Parser:
    """Recursive descent; one method per level of the grammar."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = _tokens(source)
        self.position = 0
        self.depth = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    def fail(self, message: str, at: int | None = None) -> CelSyntaxError:
        return CelSyntaxError(place(self.source, self.token.at if at is None else at, message))

    def unexpected(self) -> CelSyntaxError:
        what = self.token.text
        return self.fail(
            f"Syntax error: unexpected input '{what}'" if what != "<EOF>" else "Syntax error: mismatched input '<EOF>'"
        )

    def accept(self, *texts: str) -> _Token | None:
        token = self.token
        if token.kind in ("op", "ident") and token.text in texts:
            self.position += 1
            return token
        return None

    def expect(self, text: str) -> _Token:
        token = self.accept(text)
        if token is None:
            raise self.unexpected()
        return token

    def parse(self) -> Node:
        tree = self.expression()
        if self.token.kind != "end":
            raise self.unexpected()
        return tree

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.fail(f"expression recursion limit exceeded: {_MAX_DEPTH}")
        condition = self.disjunction()
        question = self.accept("?")
        if question is not None:
            then = self.disjunction()
            self.expect(":")
            condition = Call(question.at, "_?_:_", None, (condition, then, self.expression()))
        self.depth -= 1
        return condition

    def disjunction(self) -> Node:
        return self.logical("||", self.conjunction)

    def conjunction(self) -> Node:
        return self.logical("&&", self.relation)

    def logical(self, operator: str, term: Callable[[], Node]) -> Node:
        """One call with all terms of a chain, however long it is."""
        terms = [term()]
        at = self.token.at
        while self.accept(operator) is not None:
            terms.append(term())
        return Call(at, f"_{operator}_", None, tuple(terms)) if len(terms) > 1 else terms[0]

    def relation(self) -> Node:
        left = self.sum()
        while self.token.text in _RELATIONS and self.token.kind in ("op", "ident"):
            operator = self.token
            self.position += 1
            name = "@in" if operator.text == "in" else f"_{operator.text}_"
            left = Call(operator.at, name, None, (left, self.sum()))
        return left

    def sum(self) -> Node:
        left = self.product()
        while (operator := self.accept("+", "-")) is not None:
            left = Call(operator.at, f"_{operator.text}_", None, (left, self.product()))
        return left

    def product(self) -> Node:
        left = self.unary()
        while (operator := self.accept("*", "/", "%")) is not None:
            left = Call(operator.at, f"_{operator.text}_", None, (left, self.unary()))
        return left

    def unary(self) -> Node:
        token = self.token
        if token.kind == "op" and token.text in "!-" and token.text:
            following = self.tokens[self.position + 1]
            if token.text == "-" and following.kind in ("int", "float"):
                self.position += 1
                return self.member(self.number(negative=True))
            count = 0
            while self.accept(token.text) is not None:
                count += 1
            operand = self.member(self.primary())
            return Call(token.at, f"{token.text}_", None, (operand,)) if count % 2 else operand
        return self.member(self.primary())

    def member(self, operand: Node) -> Node:
        while True:
            token = self.token
            if self.accept(".", ".?"):
                operand = self.dotted(operand, token)
            elif self.accept("[", "[?"):
                operand = Index(token.at, operand, self.expression(), token.text == "[?")
                self.expect("]")
            else:
                return operand

    def dotted(self, operand: Node, dot: _Token) -> Node:
        name = self.token
        if name.kind not in ("ident", "quoted"):
            raise self.unexpected()
        self.position += 1
        optional = dot.text == ".?"
        if name.kind == "ident" and not optional and (opening := self.accept("(")) is not None:
            return Call(opening.at, name.text, operand, self.arguments(")"))
        return Select(dot.at, operand, name.text.strip("`"), optional)

    def arguments(self, end: str) -> tuple[Node, ...]:
        found: list[Node] = []
        while not self.accept(end):
            if found:
                self.expect(",")
                if end != ")" and self.accept(end):
                    break
            found.append(self.expression())
        return tuple(found)

    def number(self, negative: bool = False) -> Node:
        token = self.token
        self.position += 1
        sign = -1 if negative else 1
        if token.kind == "float":
            return Literal(token.at, sign * float(token.text))
        text = token.text.lower()
        if len(text) > _LONGEST_INT:
            raise self.fail("Syntax error: invalid int literal", token.at)
        value = int(text.rstrip("u"), 16 if text.startswith("0x") else 10)
        if text.endswith("u"):
            if value >= 1 << 64 or negative:
                raise self.fail("Syntax error: invalid uint literal", token.at)
            return Literal(token.at, UInt(value))
        value *= sign
        if not -(1 << 63) <= value < 1 << 63:
            raise self.fail("Syntax error: invalid int literal", token.at)
        return Literal(token.at, value)

    def primary(self) -> Node:
        token = self.token
        if token.kind in ("int", "float"):
            return self.number()
        if token.kind == "string":
            self.position += 1
            return Literal(token.at, _unquote(token, self.source))
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        if self.accept("["):
            return MakeList(token.at, self.items())
        if self.accept("{"):
            return MakeMap(token.at, self.entries())
        leading_dot = self.accept(".") is not None
        if self.token.kind == "ident":
            return self.named(leading_dot)
        raise self.unexpected()

    def named(self, leading_dot: bool) -> Node:
        token = self.token
        self.position += 1
        constants: dict[str, object] = {"true": True, "false": False, "null": None}
        if token.text in constants and not leading_dot:
            return Literal(token.at, constants[token.text])
        if token.text in _RESERVED:
            raise self.fail(f"reserved identifier: {token.text}", token.at)
        if token.text == "in":
            self.position -= 1
            raise self.unexpected()
        if (opening := self.accept("(")) is not None:
            return Call(opening.at, token.text, None, self.arguments(")"))
        struct = self.struct(token)
        return struct if struct is not None else Ident(token.at, token.text)

    def struct(self, first: _Token) -> Node | None:
        """A message literal, `pkg.Type{field: value}`, if one starts here."""
        start = self.position
        name = first.text
        while self.token.text == "." and self.tokens[self.position + 1].kind == "ident":
            name += "." + self.tokens[self.position + 1].text
            self.position += 2
        if not self.accept("{"):
            self.position = start
            return None
        fields: list[tuple[str, Node, bool]] = []
        while not self.accept("}"):
            if fields:
                self.expect(",")
                if self.accept("}"):
                    break
            optional = self.accept("?") is not None
            field = self.token.text
            self.position += 1
            self.expect(":")
            fields.append((field, self.expression(), optional))
        return MakeStruct(first.at, name, tuple(fields))

    def items(self) -> tuple[tuple[Node, bool], ...]:
        found: list[tuple[Node, bool]] = []
        while not self.accept("]"):
            if found:
                self.expect(",")
                if self.accept("]"):
                    break
            optional = self.accept("?") is not None
            found.append((self.expression(), optional))
        return tuple(found)

    def entries(self) -> tuple[tuple[Node, Node, bool], ...]:
        found: list[tuple[Node, Node, bool]] = []
        while not self.accept("}"):
            if found:
                self.expect(",")
                if self.accept("}"):
                    break
            optional = self.accept("?") is not None
            key = self.expression()
            self.expect(":")
            found.append((key, self.expression(), optional))
        return tuple(found)


def parse(source: str) -> Node:
    """The tree of an expression, or CelSyntaxError."""
    try:
        return _Parser(source).parse()
    except RecursionError as problem:
        raise CelSyntaxError(place(source, 0, f"expression recursion limit exceeded: {_MAX_DEPTH}")) from problem


def qualified(node: Node) -> str | None:
    """`a.b` as a dotted name, if the node is nothing more."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.optional:
        outer = qualified(node.operand)
        return None if outer is None else f"{outer}.{node.field}"
    return None
