"""Evaluation of CEL expressions, with Kubernetes' functions.

`compile_expression` reads an expression once and turns its tree into nested Python functions; a `Program` is then
evaluated against variables as often as one likes. Errors are values in CEL (`false && broken` is false), which is why
the logical operators and the macros catch them. Types are judged when a value is met: what cel-go's checker would
refuse shows as an error of the evaluation, except for unknown names, which are refused when compiling.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from seatrial.model.cel import formats as cel_formats
from seatrial.model.cel import kubernetes as cel_kubernetes
from seatrial.model.cel.bounded_work import FREE, Allowance, TooMuchWork, allowance, charge
from seatrial.model.cel.costs import LIST_CREATE, MAP_CREATE, SELECT_AND_IDENT, CostExceeded, Meter, call_cost
from seatrial.model.cel.errors import CelError, CelSyntaxError
from seatrial.model.cel.functions import OVERLOADS, call
from seatrial.model.cel.macros import LOOPS, Code, Iteration, Scope, conditional_code, logical_code, truth
from seatrial.model.cel.syntax import (
    Call,
    Ident,
    Index,
    Literal,
    MakeList,
    MakeMap,
    MakeStruct,
    Node,
    Select,
    parse,
    place,
    qualified,
)
from seatrial.model.cel.values import (
    NO_OVERLOAD,
    NONE,
    Optional,
    TypeValue,
    add,
    compare,
    contains,
    divide,
    equal,
    find,
    index,
    index_optional,
    modulo,
    multiply,
    negate,
    subtract,
    type_of,
)

__all__ = ["CelError", "CelSyntaxError", "Program", "cel_formats", "cel_kubernetes", "compile_expression"]

LONGEST_EXPRESSION = 100_000
"""Code points of an expression (cel-go's parser)."""
COMPILING = 8
"""What it costs to compile one character, in units of an evaluation."""
_TYPES = frozenset(("bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"))
_TYPES |= {"google.protobuf.Timestamp", "google.protobuf.Duration"}


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled expression."""

    expression: str
    code: Code

    def evaluate(self, variables: Mapping[str, object], meter: Meter | None = None) -> object:
        """The value, or CelError; `meter` limits the cost and records it."""
        meter = meter or Meter()
        given = allowance()
        try:
            if given is None:
                return self.code(Scope(dict(variables), meter))
            return self._charged(dict(variables), meter, given)
        except RecursionError as problem:
            raise CelError("expression nested too deeply") from problem

    def _charged(self, variables: dict[str, object], meter: Meter, given: Allowance) -> object:
        """The value, with its cost charged to an allowance; TooMuchWork where it would cost more."""
        limit, before = meter.limit, meter.spent
        meter.limit = min(limit, before + FREE + max(0, given.left))
        try:
            return self.code(Scope(variables, meter))
        except CostExceeded:
            if meter.spent <= limit:
                raise TooMuchWork from None
            raise
        finally:
            meter.limit = limit
            given.left -= max(0, meter.spent - before - FREE)


@lru_cache(1024)
def compile_expression(expression: str, variables: frozenset[str]) -> Program:
    """Reads an expression that may use these variables; CelSyntaxError with place and text."""
    if len(expression) > LONGEST_EXPRESSION:
        size = f"expression code point size exceeds limit: size: {len(expression)}, limit {LONGEST_EXPRESSION}"
        raise CelSyntaxError(place(expression, 0, size))
    charge(len(expression) * COMPILING)
    try:
        return Program(expression, _Compiler(expression).build(parse(expression), variables))
    except RecursionError as problem:
        raise CelSyntaxError(place(expression, 0, "expression nested too deeply")) from problem


_BINARY: dict[str, Callable[[object, object], object]] = {
    "_==_": equal,
    "_!=_": lambda a, b: not equal(a, b),
    "_<_": lambda a, b: compare(a, b, "_<_") < 0,
    "_<=_": lambda a, b: compare(a, b, "_<=_") <= 0,
    "_>_": lambda a, b: compare(a, b, "_>_") > 0,
    "_>=_": lambda a, b: compare(a, b, "_>=_") >= 0,
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
    "@in": lambda a, b: contains(b, a),
}
_UNARY: dict[str, Callable[[object], object]] = {"!_": lambda a: not truth(a), "-_": negate}
_ONE_VARIABLE = {"all": (2,), "exists": (2,), "exists_one": (2,), "existsOne": (2,), "map": (2, 3), "filter": (2,)}
_TWO_VARIABLES = {
    "all": (3,),
    "exists": (3,),
    "existsOne": (3,),
    "exists_one": (3,),
    "transformList": (3, 4),
    "transformMap": (3, 4),
    "transformMapEntry": (3, 4),
}


class _Compiler:
    """Turns a tree into functions. `names` are the variables in sight."""

    def __init__(self, source: str) -> None:
        self.source = source

    def fail(self, node: Node, message: str) -> CelSyntaxError:
        return CelSyntaxError(place(self.source, node.at, message))

    def build(self, node: Node, names: frozenset[str]) -> Code:
        match node:
            case Literal(value=value):
                return lambda scope: value
            case Ident():
                return self.ident(node, names)
            case Select():
                return self.select(node, names)
            case Index():
                return self.indexed(node, names)
            case Call():
                return self.called(node, names)
            case MakeList():
                return self.make_list(node, names)
            case MakeMap():
                return self.make_map(node, names)
            case MakeStruct():
                return self.make_struct(node, names)
        raise self.fail(node, "unsupported expression")

    def ident(self, node: Ident, names: frozenset[str]) -> Code:
        name = node.name
        if name in names:

            def read(scope: Scope) -> object:
                scope.spend(SELECT_AND_IDENT)
                return scope.variables[name]

            return read
        if name in _TYPES:
            value = TypeValue(name)
            return lambda scope: value
        raise self.fail(node, f"undeclared reference to '{name}' (in container '')")

    def select(self, node: Select, names: frozenset[str]) -> Code:
        dotted = qualified(node)
        if dotted in _TYPES:
            value = TypeValue(str(dotted))
            return lambda scope: value
        operand, field = self.build(node.operand, names), node.field
        look_up = index_optional if node.optional else index

        def selected(scope: Scope) -> object:
            scope.spend(SELECT_AND_IDENT)
            return look_up(operand(scope), field)

        return selected

    def indexed(self, node: Index, names: frozenset[str]) -> Code:
        operand, key = self.build(node.operand, names), self.index_key(node.key, names)
        look_up = index_optional if node.optional else index

        def entry(scope: Scope) -> object:
            scope.spend(1)
            return look_up(operand(scope), key(scope))

        return entry

    def index_key(self, node: Node, names: frozenset[str]) -> Code:
        """A name inside brackets is part of the look-up, which has one price."""
        if isinstance(node, Ident) and node.name in names:
            name = node.name
            return lambda scope: scope.variables[name]
        return self.build(node, names)

    def called(self, node: Call, names: frozenset[str]) -> Code:
        if node.target is None:
            return self.operator(node, names)
        macro = self.macro(node, names)
        if macro is not None:
            return macro
        namespace = qualified(node.target)
        if (
            namespace is not None
            and namespace.split(".")[0] not in names
            and f"{namespace}.{node.function}" in OVERLOADS
        ):
            return self.function(node, f"{namespace}.{node.function}", node.args, names)
        return self.function(node, node.function, (node.target, *node.args), names)

    def operator(self, node: Call, names: frozenset[str]) -> Code:
        name = node.function
        if name in ("_&&_", "_||_"):
            return logical_code(tuple(self.build(arg, names) for arg in node.args), decisive=name == "_||_")
        if name == "_?_:_":
            return conditional_code(*(self.build(arg, names) for arg in node.args))
        if name == "has":
            return self.presence(node, names)
        if name in _BINARY:
            operation = _BINARY[name]
            left, right = (self.build(arg, names) for arg in node.args)
            if name == "@in" and isinstance(node.args[1], MakeList) and is_constant(node.args[1]):
                return lambda scope: operation(left(scope), right(scope))

            def binary(scope: Scope) -> object:
                values = left(scope), right(scope)
                scope.spend(call_cost(name, values))
                return operation(*values)

            return binary
        if name in _UNARY:
            change = _UNARY[name]
            operand = self.build(node.args[0], names)

            def unary(scope: Scope) -> object:
                scope.spend(1)
                return change(operand(scope))

            return unary
        return self.function(node, name, node.args, names)

    def function(self, node: Call, name: str, args: Iterable[Node], names: frozenset[str]) -> Code:
        if name not in OVERLOADS:
            raise self.fail(node, f"undeclared reference to '{name}' (in container '')")
        codes = tuple(self.build(arg, names) for arg in args)
        if not any(len(types) == len(codes) for types, _ in OVERLOADS[name]):
            raise self.fail(node, f"found no matching overload for '{name}'")

        def called(scope: Scope) -> object:
            values = tuple(code(scope) for code in codes)
            scope.spend(call_cost(name, values))
            return call(name, values)

        return called

    def presence(self, node: Call, names: frozenset[str]) -> Code:
        if len(node.args) != 1 or not isinstance(node.args[0], Select):
            raise self.fail(node, "invalid argument to has() macro")
        operand, field = self.build(node.args[0].operand, names), node.args[0].field

        def present(scope: Scope) -> bool:
            value = operand(scope)
            if isinstance(value, Optional):
                value = value.value if value.present else None
            return isinstance(value, Mapping) and find(value, field)[1]

        return present

    def make_list(self, node: MakeList, names: frozenset[str]) -> Code:
        if is_constant(node):
            constant = [item.value for item, _ in node.items if isinstance(item, Literal)]
            return lambda scope: constant
        items = [(self.build(item, names), optional) for item, optional in node.items]

        def build(scope: Scope) -> object:
            scope.spend(LIST_CREATE)
            made: list[object] = []
            for code, optional in items:
                value = code(scope)
                if not optional:
                    made.append(value)
                elif isinstance(value, Optional):
                    made.extend([value.value] if value.present else [])
                else:
                    raise CelError(f"cannot initialize optional list element from non-optional value {value}")
            return made

        return build

    def make_map(self, node: MakeMap, names: frozenset[str]) -> Code:
        entries = [(self.build(k, names), self.build(v, names), optional) for k, v, optional in node.entries]

        def build(scope: Scope) -> object:
            scope.spend(MAP_CREATE)
            made: dict[object, object] = {}
            for key, code, optional in entries:
                value = code(scope)
                if optional:
                    if not isinstance(value, Optional):
                        raise CelError(f"cannot initialize optional entry from non-optional value {value}")
                    if not value.present:
                        continue
                    value = value.value
                made[key(scope)] = value
            return made

        return build

    def make_struct(self, node: MakeStruct, names: frozenset[str]) -> Code:
        """Message literals: an object without a declared type is a map of its fields."""
        fields = tuple((Literal(node.at, name), value, optional) for name, value, optional in node.entries)
        return self.make_map(MakeMap(node.at, fields), names)

    def macro(self, node: Call, names: frozenset[str]) -> Code | None:
        """The code of a macro call, None if this is an ordinary call."""
        assert node.target is not None
        name, count = node.function, len(node.args)
        if name == "bind" and qualified(node.target) == "cel" and count == 3:
            return self.bind(node, names)
        if name in ("optMap", "optFlatMap") and count == 2:
            return self.optional_map(node, names)
        if name in ("or", "orValue") and count == 1:
            return self.optional_or(node, names)
        if count in _ONE_VARIABLE.get(name, ()):
            variables: tuple[str, ...] = (self.variable(node.args[0]),)
        elif count in _TWO_VARIABLES.get(name, ()):
            variables = (self.variable(node.args[0]), self.variable(node.args[1]))
        else:
            return None
        inside = names | set(variables)
        range_code = self.build(node.target, names)
        bodies = [self.build(arg, inside) for arg in node.args[len(variables) :]]
        return LOOPS[name](Iteration(range_code, variables), bodies)

    def variable(self, node: Node) -> str:
        if not isinstance(node, Ident):
            raise self.fail(node, "argument must be a simple name")
        return node.name

    def bind(self, node: Call, names: frozenset[str]) -> Code:
        name = self.variable(node.args[0])
        value, body = self.build(node.args[1], names), self.build(node.args[2], names | {name})

        def bound(scope: Scope) -> object:
            scope.spend(LIST_CREATE)
            inner = scope.inner()
            inner.variables[name] = value(scope)
            return body(inner)

        return bound

    def optional_or(self, node: Call, names: frozenset[str]) -> Code:
        """`a.or(b)` and `a.orValue(b)`: b is evaluated only where a is none."""
        assert node.target is not None
        target, other, unwrap = self.build(node.target, names), self.build(node.args[0], names), node.function != "or"

        def chosen(scope: Scope) -> object:
            value = target(scope)
            if not isinstance(value, Optional):
                raise CelError(NO_OVERLOAD)
            if not value.present:
                return other(scope)
            return value.value if unwrap else value

        return chosen

    def optional_map(self, node: Call, names: frozenset[str]) -> Code:
        assert node.target is not None
        target, name = self.build(node.target, names), self.variable(node.args[0])
        body, flat = self.build(node.args[1], names | {name}), node.function == "optFlatMap"

        def mapped(scope: Scope) -> object:
            value = target(scope)
            if not isinstance(value, Optional):
                raise CelError(f"{NO_OVERLOAD}: {node.function}({type_of(value)})")
            if not value.present:
                return NONE
            inner = scope.inner()
            inner.variables[name] = value.value
            result = body(inner)
            return result if flat else Optional(result, True)

        return mapped


def is_constant(node: MakeList) -> bool:
    """Whether a list is made of literals alone; it is then made once and costs nothing, as in cel-go."""
    return all(isinstance(item, Literal) and not optional for item, optional in node.items)
