"""Estimates the largest cost of an expression from the schema of its variables, before any value is known.

The walk follows cel-go 0.26's coster (checker/cost.go): a node has a cost, perhaps a size, and a path from the root
of the schema by which the sizes of its parts are found. Macros are charged as the loops that cel-go makes of them.
Only the upper bounds of costs are kept, since nothing else is judged. Fields that the schema does not have are
refused here, as cel-go's type checker does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from seatrial.model.cel.call_estimates import Argument, estimate_call
from seatrial.model.cel.costs import LIST_CREATE, MAP_CREATE, STRUCT_CREATE
from seatrial.model.cel.declarations import BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT, DeclType, list_of, map_of
from seatrial.model.cel.errors import CelSyntaxError
from seatrial.model.cel.functions import OVERLOADS
from seatrial.model.cel.result_types import result_type
from seatrial.model.cel.sizes import UNKNOWN, Size, fixed, saturated
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
from seatrial.model.cel.values import UInt

_SCALARS = frozenset(("bool", "double", "duration", "int", "timestamp", "uint"))
_WITHOUT_FIELDS = _SCALARS | {"string", "bytes"}
_QUANTIFIERS = {"all": 3, "exists": 4}
"""The cost of an iteration without its body: reading the accumulator and testing the loop condition."""
_COUNTERS = frozenset(("exists_one", "existsOne"))
_LISTS = {"map": 1, "filter": 1, "transformList": 2}
_MAPS = frozenset(("transformMap", "transformMapEntry"))


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a node: its cost, its type, where it is in the schema, and its size."""

    cost: int
    type: DeclType = DYN
    path: tuple[str, ...] = ()
    size: Size | None = None
    element: Size | None = None
    literal: object = None


class Estimator:
    """Estimates expressions whose `self` (and `oldSelf`) has a declared type."""

    def __init__(self, root: DeclType) -> None:
        self._root = root

    def estimate(self, source: str, variables: Mapping[str, DeclType]) -> Known:
        """The cost and type of an expression; CelSyntaxError where it names what is not there."""
        return self._visit(source, parse(source), {name: Known(1, type_, (name,)) for name, type_ in variables.items()})

    def _visit(self, source: str, node: Node, names: dict[str, Known]) -> Known:
        match node:
            case Literal(value=value):
                return _literal(value)
            case Ident(name=name):
                return replace(names[name], cost=1) if name in names else Known(1, DeclType("type"), (name,))
            case Select():
                return self._select(source, node, names)
            case Index():
                return self._index(source, node, names)
            case MakeList():
                return self._make_list([self._visit(source, item, names) for item, _ in node.items])
            case MakeMap():
                return self._make_map(source, node, names)
            case MakeStruct():
                inner = sum(self._visit(source, value, names).cost for _, value, _ in node.entries)
                return Known(saturated(inner + STRUCT_CREATE))
            case Call():
                return self._call(source, node, names)
        return Known(0)

    def _size(self, known: Known) -> Size | None:
        """The size of a value: computed, declared in the schema, or that of a scalar."""
        if known.size is not None:
            return known.size
        if known.path and (declared := self._declared(known.path)) is not None:
            return Size(0, declared.max_elements)
        return fixed(1) if known.type.name in _SCALARS else None

    def _declared(self, path: tuple[str, ...]) -> DeclType | None:
        current: DeclType | None = self._root
        for name in path[1:]:
            if current is None:
                return None
            if name in ("@items", "@values"):
                current = current.element
            elif name == "@keys":
                current = current.key
            else:
                current = current.fields.get(name)
        return current

    def _select(self, source: str, node: Select, names: dict[str, Known]) -> Known:
        operand = self._visit(source, node.operand, names)
        if node.optional:
            return Known(saturated(operand.cost + 1))
        if operand.type.name == "object" and operand.type.fields:
            if node.field not in operand.type.fields:
                raise CelSyntaxError(place(source, node.at, f"undefined field '{node.field}'"))
            type_ = operand.type.fields[node.field]
        elif operand.type.name in _WITHOUT_FIELDS:
            why = f"type '{operand.type.name}' does not support field selection"
            raise CelSyntaxError(place(source, node.at, why))
        else:
            type_ = operand.type.element or DYN
        paid = 1 if operand.type.name in ("map", "object") else 0
        return Known(saturated(operand.cost + paid), type_, (*operand.path, node.field))

    def _index(self, source: str, node: Index, names: dict[str, Known]) -> Known:
        operand, key = self._visit(source, node.operand, names), self._visit(source, node.key, names)
        cost = saturated(operand.cost + key.cost + 1)
        if node.optional or operand.type.name not in ("list", "map"):
            return Known(cost)
        step = "@items" if operand.type.name == "list" else "@values"
        return Known(cost, operand.type.element or DYN, (*operand.path, step), operand.element)

    def _make_list(self, items: list[Known]) -> Known:
        element: Size | None = None
        for item in items:
            size = self._size(item) or UNKNOWN
            element = size if element is None else element.union(size)
        kinds = {item.type.name for item in items}
        type_ = list_of(items[0].type if len(kinds) == 1 else DYN)
        cost = saturated(sum(item.cost for item in items) + LIST_CREATE)
        return Known(cost, type_, size=fixed(len(items)), element=element or fixed(0))

    def _make_map(self, source: str, node: MakeMap, names: dict[str, Known]) -> Known:
        cost = MAP_CREATE
        for key, value, _ in node.entries:
            cost += self._visit(source, key, names).cost + self._visit(source, value, names).cost
        return Known(saturated(cost), map_of(DYN, DYN), size=fixed(len(node.entries)))

    def _call(self, source: str, node: Call, names: dict[str, Known]) -> Known:
        if node.target is not None and (found := self._macro(source, node, names)) is not None:
            return found
        if node.function == "has":
            selected = node.args[0]
            operand = selected.operand if isinstance(selected, Select) else selected
            if isinstance(selected, Select):
                self._visit(source, selected, names)
            return Known(self._visit(source, operand, names).cost, BOOL)
        name, nodes = node.function, node.args
        if node.target is not None:
            namespace = qualified(node.target)
            if namespace is not None and namespace.split(".")[0] not in names and f"{namespace}.{name}" in OVERLOADS:
                name = f"{namespace}.{name}"
            else:
                nodes = (node.target, *node.args)
        return self._called(name, [self._visit(source, each, names) for each in nodes])

    def _called(self, name: str, known: list[Known]) -> Known:
        paid = saturated(sum(each.cost for each in known))
        if name == "dyn":
            return replace(known[0], cost=saturated(paid + 1), type=DYN)
        if name in ("_&&_", "_||_"):
            return Known(paid, BOOL)
        type_ = result_type(name, [each.type for each in known])
        if name == "_?_:_":
            size = (self._size(known[1]) or UNKNOWN).union(self._size(known[2]) or UNKNOWN)
            element = None
            if known[1].element is not None and known[2].element is not None:
                element = known[1].element.union(known[2].element)
            cost = saturated(known[0].cost + max(known[1].cost, known[2].cost))
            return Known(cost, type_, size=size, element=element)
        found = estimate_call(name, tuple(map(self._argument, known)))
        element = None
        if name == "_+_" and known[0].element is not None and known[1].element is not None:
            element = known[0].element.union(known[1].element)
        return Known(saturated(paid + found.cost), type_, size=found.size, element=element)

    def _argument(self, known: Known) -> Argument:
        element = known.element
        if element is None and known.type.element is not None and known.path:
            declared = self._declared((*known.path, "@items"))
            element = Size(0, declared.max_elements) if declared is not None else None
        return Argument(known.type, self._size(known), element, known.literal)

    def _macro(self, source: str, node: Call, names: dict[str, Known]) -> Known | None:
        assert node.target is not None
        name, count = node.function, len(node.args)
        if name == "bind" and qualified(node.target) == "cel" and count == 3:
            return self._bind(source, node, names)
        if name in ("optMap", "optFlatMap") and count == 2:
            return self._optional_map(source, node, names)
        if (name in _QUANTIFIERS or name in _COUNTERS) and count in (2, 3):
            variables = count - 1
        elif name in _LISTS and count in (_LISTS[name] + 1, _LISTS[name] + 2):
            variables = _LISTS[name]
        elif name in _MAPS and count in (3, 4):
            variables = 2
        else:
            return None
        return self._loop(source, node, names, variables)

    def _loop(self, source: str, node: Call, names: dict[str, Known], variables: int) -> Known:
        assert node.target is not None
        range_ = self._visit(source, node.target, names)
        given = [each.name for each in node.args[:variables] if isinstance(each, Ident)]
        inside = names | self._variables(range_, given)
        bodies = [self._visit(source, each, inside) for each in node.args[variables:]]
        size = self._size(range_) or UNKNOWN
        paid, name = sum(body.cost for body in bodies), node.function
        if name in _QUANTIFIERS:
            return Known(saturated(range_.cost + 1 + size.most * (paid + _QUANTIFIERS[name])), BOOL)
        if name in _COUNTERS:
            return Known(saturated(range_.cost + 2 + size.most * (paid + 2)), BOOL)
        if name in _MAPS:
            added = 3 if name == "transformMap" else 2
            cost = saturated(range_.cost + MAP_CREATE + 1 + size.most * (paid + added))
            return Known(cost, map_of(DYN, bodies[-1].type), size=size)
        # `accumulator + [value]`: one to read, ten to make the list, one to add; `filter` reads its variable again.
        added = LIST_CREATE + 2 + (1 if name == "filter" else 0)
        value = inside[node.args[0].name] if name == "filter" and isinstance(node.args[0], Ident) else bodies[-1]
        element = (self._size(value) or UNKNOWN).union(fixed(0))
        cost = saturated(range_.cost + LIST_CREATE + 1 + size.most * (paid + added))
        return Known(cost, list_of(value.type), size=size, element=element)

    def _variables(self, range_: Known, names: list[str]) -> dict[str, Known]:
        is_list = range_.type.name == "list"
        key = Known(1, INT if is_list else range_.type.key or DYN, (*range_.path, "@indices" if is_list else "@keys"))
        value = Known(1, range_.type.element or DYN, (*range_.path, "@items" if is_list else "@values"))
        if len(names) == 2:
            return {names[0]: key, names[1]: value}
        return {names[0]: value if is_list else key} if names else {}

    def _bind(self, source: str, node: Call, names: dict[str, Known]) -> Known:
        value = self._visit(source, node.args[1], names)
        name = node.args[0].name if isinstance(node.args[0], Ident) else ""
        body = self._visit(source, node.args[2], names | {name: value})
        return replace(body, cost=saturated(LIST_CREATE + value.cost + body.cost))

    def _optional_map(self, source: str, node: Call, names: dict[str, Known]) -> Known:
        """`x.hasValue() ? optional.of(cel.bind(v, x.value(), body)) : optional.none()`."""
        assert node.target is not None
        target = self._visit(source, node.target, names)
        name = node.args[0].name if isinstance(node.args[0], Ident) else ""
        body = self._visit(source, node.args[1], names | {name: Known(1)})
        return Known(saturated(2 * target.cost + body.cost + LIST_CREATE + 3))


def _literal(value: object) -> Known:
    size: Size | None = fixed(1)
    match value:
        case bool():
            type_ = BOOL
        case UInt():
            type_ = UINT
        case int():
            type_ = INT
        case float():
            type_ = DOUBLE
        case str():
            type_, size = STRING, fixed(len(value))
        case bytes():
            type_, size = BYTES, fixed(len(value))
        case _:
            type_ = DeclType("null")
    return Known(0, type_, size=size, literal=value)
