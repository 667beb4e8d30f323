"""The cost of an evaluation, in cel-go's units, and its budget.

A call is paid before it is made, so that an expression never does more work than its budget allows. The prices are
those of cel-go 0.26 (interpreter/runtimecost.go, ext/lists.go, ext/sets.go) and of Kubernetes' library
(k8s.io/apiserver/pkg/cel/library/cost.go). One price is ours: cel-go joins lists without copying them, we do not.
"""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

from seatrial.model.cel.errors import CelError
from seatrial.model.cel.values import Optional

SELECT_AND_IDENT = 1
LIST_CREATE = 10
MAP_CREATE = 30
STRUCT_CREATE = 40
STRING_TRAVERSAL = 0.1
REGEX_LENGTH = 0.25
NAME_FORMAT_REGEX = 128
"""Characters that the expression of a named format is taken to have."""
PER_CALL_LIMIT = 1_000_000
"""Budget of one rule (k8s.io/apiserver/pkg/apis/cel/config.go)."""
RUNTIME_BUDGET = 10_000_000
"""Budget of all rules about one object."""
COST_EXCEEDED = "operation cancelled: actual cost limit exceeded"
_COPIED_FOR_ONE = 100
"""Items of a joined list that cost one unit to copy."""


class CostExceeded(CelError):
    """Unlike other errors it is never absorbed by a logical operator."""


class Meter:
    """What an evaluation has spent, and the most that it may."""

    __slots__ = ("limit", "spent")

    def __init__(self, limit: int = PER_CALL_LIMIT) -> None:
        self.limit = limit
        self.spent = 0

    def spend(self, cost: int) -> None:
        self.spent += cost
        if self.spent > self.limit:
            raise CostExceeded(COST_EXCEEDED)


def actual_size(value: object) -> int:
    """The length of texts, lists and maps; one for everything else."""
    if isinstance(value, str | bytes | list | Mapping):
        return len(value)
    if isinstance(value, Optional) and value.present:
        return actual_size(value.value)
    return 1


def _traversal(size: float) -> int:
    return ceil(size * STRING_TRAVERSAL)


def _tree(value: object) -> int:
    """The cost of walking through a value and all values in it."""
    if isinstance(value, str | bytes):
        return int(len(value) * STRING_TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_tree, value))
    if isinstance(value, Mapping):
        return sum(_tree(key) + _tree(item) for key, item in value.items())
    return 1


def _first_traversed(*args: Any) -> int:
    return _traversal(actual_size(args[0]))


def _first_traversed_twice(*args: Any) -> int:
    return ceil(actual_size(args[0]) * 2 * STRING_TRAVERSAL)


def _smaller_traversed(left: Any, right: Any) -> int:
    return _traversal(min(actual_size(left), actual_size(right)))


def _ordered(left: Any, right: Any) -> int:
    return _smaller_traversed(left, right) if isinstance(left, str | bytes) else 1


def _added(left: Any, right: Any) -> int:
    if isinstance(left, str | bytes):
        return _traversal(actual_size(left) + actual_size(right))
    if isinstance(left, list):
        return 1 + (len(left) + actual_size(right)) // _COPIED_FOR_ONE
    return 1


def _regex(*args: Any) -> int:
    return _traversal(1.0 + actual_size(args[0])) * ceil(actual_size(args[1]) * REGEX_LENGTH)


def _contains(text: Any, part: Any) -> int:
    return _traversal(actual_size(text)) * _traversal(actual_size(part))


def _joined(items: Any, separator: Any = "") -> int:
    size = sum(map(actual_size, items)) + actual_size(separator) * max(0, len(items) - 1)
    return ceil(size * 2 * STRING_TRAVERSAL)


def _allocated(factor: float, size: int) -> int:
    return int(size * factor) + 1 + LIST_CREATE


def _compared_with_itself(items: Any) -> int:
    factor = 2.0 + (STRING_TRAVERSAL if items and isinstance(items[0], str | bytes) else 0.0)
    return _allocated(factor, len(items) ** 2)


def _sets(factor: int) -> Callable[[Any, Any], int]:
    return lambda left, right: 1 + factor * actual_size(left) * actual_size(right)


def _cidr(other: Callable[[int], int]) -> Callable[[Any, Any], int]:
    def cost(cidr: Any, part: Any) -> int:
        size = actual_size(cidr)
        return _traversal(size + size) + other(size) + (_traversal(len(part)) if isinstance(part, str) else 0)

    return cost


CALL_COSTS: dict[str, Callable[..., int]] = {
    "_==_": _smaller_traversed,
    "_!=_": _smaller_traversed,
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ordered),
    "_+_": _added,
    "@in": lambda item, container: actual_size(container) if isinstance(container, list) else 1,
    "matches": _regex,
    "find": _regex,
    "findAll": _regex,
    "contains": _contains,
    "join": _joined,
    "containsIP": _cidr(lambda size: 0),
    "containsCIDR": _cidr(lambda size: _traversal(size) + 1),
    "validate": lambda *args: _traversal(1.0 + actual_size(args[1])) * ceil(NAME_FORMAT_REGEX * REGEX_LENGTH),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), lambda *args: _tree(args[0])),
    **dict.fromkeys(
        ("startsWith", "endsWith", "strings.quote", "format", "url", "lowerAscii", "upperAscii", "substring", "trim",
         "jsonpatch.escapeKey", "cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver"),
        _first_traversed,
    ),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _first_traversed_twice),
    **dict.fromkeys(
        ("string", "bytes"), lambda value: _first_traversed(value) if isinstance(value, str | bytes) else 1
    ),
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
    "slice": lambda items, start, end: _allocated(1, max(0, min(end, len(items)) - start)),
    "flatten": lambda items, depth=1: _allocated(max(depth, 0), actual_size(items)),
    "lists.range": lambda count: _allocated(1, max(count, 0)),
    "reverse": lambda items: _allocated(1, actual_size(items)),
    "distinct": _compared_with_itself,
    "sort": _compared_with_itself,
}  # fmt: skip
"""Prices of functions and operators by their arguments; everything else costs one."""


def call_cost(name: str, arguments: tuple[Any, ...]) -> int:
    """The price of a call."""
    price = CALL_COSTS.get(name)
    if price is None:
        return 1
    try:
        return price(*arguments)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # Arguments of other types than the function takes: the call itself refuses them.
        return 1
