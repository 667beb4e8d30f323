"""Estimates the largest cost and result size of a call from the sizes of its arguments.

Upstream: cel-go 0.26 checker/cost.go (functionCost), ext/lists.go and ext/sets.go, and Kubernetes'
k8s.io/apiserver/pkg/cel/library/cost.go (EstimateCallCost). The arguments' own costs are added by the caller.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from seatrial.model.cel.costs import LIST_CREATE, NAME_FORMAT_REGEX, REGEX_LENGTH, STRING_TRAVERSAL
from seatrial.model.cel.declarations import DeclType
from seatrial.model.cel.sizes import MOST, UNKNOWN, Size, fixed, saturated, times


@dataclass(frozen=True, slots=True)
class Argument:
    """What is known of an argument."""

    type: DeclType
    size: Size | None
    element: Size | None = None
    """The size of a list's items."""
    literal: object = None

    @property
    def size_or_unknown(self) -> Size:
        return UNKNOWN if self.size is None else self.size


class CallEstimate(NamedTuple):
    """The most a call costs, and the size of its result where it is known."""

    cost: int
    size: Size | None = None


Estimate = Callable[..., CallEstimate]
_IP = Size(4, 16)
"""Bytes of an address."""


def _size(argument: Argument) -> Size:
    return argument.size_or_unknown


def _traversed(factor: float = 1.0, *, keeps_size: bool = False) -> Estimate:
    """The first argument is walked through."""

    def estimate(*args: Argument) -> CallEstimate:
        size = _size(args[0])
        return CallEstimate(times(size.most, factor * STRING_TRAVERSAL), size if keeps_size else None)

    return estimate


def _second_traversed(*args: Argument) -> CallEstimate:
    return CallEstimate(times(_size(args[1]).most, STRING_TRAVERSAL))


def _fixed(*args: Argument) -> CallEstimate:
    return CallEstimate(1)


def _in(*args: Argument) -> CallEstimate:
    return CallEstimate(1 if args[1].type.name == "map" else max(1, _size(args[1]).most))


def _compared(*args: Argument) -> CallEstimate:
    return CallEstimate(times(min(_size(args[0]).most, _size(args[1]).most), STRING_TRAVERSAL))


def _ordered(*args: Argument) -> CallEstimate:
    if {args[0].type.name, args[1].type.name} & {"string", "bytes"}:
        return _compared(*args)
    if args[0].type.name == args[1].type.name == "dyn":
        return CallEstimate(max(1, _compared(*args).cost))
    return CallEstimate(1)


def _added(*args: Argument) -> CallEstimate:
    names, size = {args[0].type.name, args[1].type.name}, _size(args[0]).plus(_size(args[1]))
    if "list" in names:
        return CallEstimate(1, size)
    if names & {"string", "bytes"} or names == {"dyn"}:
        return CallEstimate(max(1, times(size.most, STRING_TRAVERSAL)) if "dyn" in names else
                            times(size.most, STRING_TRAVERSAL), size)  # fmt: skip
    return CallEstimate(1)


def _regex(*args: Argument) -> CallEstimate:
    text, expression = _size(args[0]).plus(fixed(1)), _size(args[1])
    return CallEstimate(saturated(times(text.most, STRING_TRAVERSAL) * times(expression.most, REGEX_LENGTH)))


def _found(*args: Argument) -> CallEstimate:
    return CallEstimate(_regex(*args).cost, Size(0, _size(args[0]).most))


def _contains(*args: Argument) -> CallEstimate:
    text, part = (times(_size(each).most, STRING_TRAVERSAL) for each in args[:2])
    return CallEstimate(saturated(text * part))


def _list_walk(*args: Argument) -> CallEstimate:
    """`max`, `indexOf` and their like: one for each item, and the walk through items that are texts."""
    target = args[0]
    if target.type.element is None:
        return _traversed()(target)
    each = 1
    if target.type.element.name in ("string", "bytes"):
        each += times((UNKNOWN if target.element is None else target.element).most, STRING_TRAVERSAL)
    return CallEstimate(saturated(_size(target).most * each))


def _replaced(*args: Argument) -> CallEstimate:
    text, old, new = (_size(each) for each in args[:3])
    most = _longest_replacement(text.most, old.least, new.most)
    least = _shortest_replacement(text.least, old.most, new.least)
    return CallEstimate(times(text.most, 2 * STRING_TRAVERSAL), Size(least, most))


def _longest_replacement(text: int, old: int, new: int) -> int:
    if old == 0:
        return saturated(saturated(text + 1) * new + text)
    return text if new <= old else saturated(ceil(text / old) * new)


def _shortest_replacement(text: int, old: int, new: int) -> int:
    if old == 0:
        return saturated(saturated(text + 1) * new + text)
    return text if old <= new else saturated(ceil(text / old) * new)


def _split(*args: Argument) -> CallEstimate:
    size = _size(args[0])
    limit = args[2].literal if len(args) > 2 else None
    most = limit % (1 << 64) if isinstance(limit, int) and not isinstance(limit, bool) else size.most
    return CallEstimate(times(size.most, 2 * STRING_TRAVERSAL), Size(0, most))


def _joined(*args: Argument) -> CallEstimate:
    items = _size(args[0])
    size = Size(0, 0)
    if args[0].type.element is not None:
        size = items.by(UNKNOWN if args[0].element is None else args[0].element)
    if len(args) > 1:
        between = Size(max(items.least - 1, 0), max(items.most - 1, 0))
        size = size.plus(_size(args[1]).by(between))
    return CallEstimate(times(size.most, STRING_TRAVERSAL), size)


def _converted(name: str, least: float, most: int) -> Estimate:
    """`string` and `bytes` walk through the other of the two."""

    def estimate(*args: Argument) -> CallEstimate:
        if args[0].type.name not in (name, "dyn"):
            return CallEstimate(1)
        size = _size(args[0])
        cost = times(size.most, STRING_TRAVERSAL)
        return CallEstimate(max(1, cost), Size(int(size.least * least), saturated(size.most * most)))

    return estimate


def _quoted(*args: Argument) -> CallEstimate:
    size = _size(args[0])
    return CallEstimate(times(size.most, STRING_TRAVERSAL), Size(size.least + 2, saturated(size.most * 2 + 2)))


def _cidr(extra: int) -> Estimate:
    def estimate(*args: Argument) -> CallEstimate:
        cost = times(_IP.most * 2, STRING_TRAVERSAL) + extra
        return CallEstimate(cost + (_second_traversed(*args).cost if args[1].type.name == "string" else 0))

    return estimate


def _allocated(factor: float, size: Size) -> CallEstimate:
    return CallEstimate(saturated(times(size.most, factor) + 1 + LIST_CREATE), size)


def _integer(argument: Argument, otherwise: int) -> int:
    value = argument.literal
    return max(value, 0) if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _sliced(*args: Argument) -> CallEstimate:
    length = _integer(args[2], _size(args[0]).most) - _integer(args[1], 0)
    return _allocated(1, fixed(length % (1 << 64)))


def _flattened(*args: Argument) -> CallEstimate:
    return _allocated(float(_integer(args[1], MOST)) if len(args) > 1 else 1.0, _size(args[0]))


def _self_compared(*args: Argument) -> CallEstimate:
    size = _size(args[0])
    return _allocated(2.0, size.by(size))


def _sorted(*args: Argument) -> CallEstimate:
    size, element = _size(args[0]), args[0].type.element
    texts = element is not None and element.name in ("string", "bytes")
    return _allocated(2.0 + (STRING_TRAVERSAL if texts else 0.0), size.by(size))


def _sets(factor: float) -> Estimate:
    return lambda *args: CallEstimate(saturated(times(_size(args[0]).by(_size(args[1])).most, factor) + 1))


def _named_format(*args: Argument) -> CallEstimate:
    cost = times(times(_size(args[1]).most, STRING_TRAVERSAL), NAME_FORMAT_REGEX * REGEX_LENGTH)
    return CallEstimate(cost)


ESTIMATES: dict[str, Estimate] = {
    "_==_": _compared,
    "_!=_": _compared,
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ordered),
    "_+_": _added,
    "@in": _in,
    **dict.fromkeys(("startsWith", "endsWith"), _second_traversed),
    "matches": _regex,
    **dict.fromkeys(("find", "findAll"), _found),
    "contains": _contains,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _list_walk),
    **dict.fromkeys(
        ("url", "jsonpatch.escapeKey", "lowerAscii", "upperAscii", "substring", "trim"), _traversed(keeps_size=True)
    ),
    **dict.fromkeys(
        ("cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver", "format"), _traversed()
    ),
    "ip.isCanonical": _traversed(2),
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "string": _converted("bytes", 0.25, 1),
    "bytes": _converted("string", 1, 4),
    "strings.quote": _quoted,
    "containsIP": _cidr(0),
    "containsCIDR": _cidr(times(_IP.most, STRING_TRAVERSAL) + 1),
    "validate": _named_format,
    "slice": _sliced,
    "flatten": _flattened,
    "lists.range": lambda *args: _allocated(1, fixed(_integer(args[0], MOST))),
    "reverse": lambda *args: _allocated(1, _size(args[0])),
    "distinct": _self_compared,
    "sort": _sorted,
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
}


def estimate_call(name: str, arguments: tuple[Argument, ...]) -> CallEstimate:
    """The estimate of a call without the costs of its arguments."""
    return ESTIMATES.get(name, _fixed)(*arguments)
