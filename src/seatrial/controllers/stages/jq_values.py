"""What jq does with values: fields, members, comparison over types, arithmetic, and its plain functions."""

import re
from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

import orjson


class QueryError(Exception):
    """A query that ends in an error; never seen outside."""


def is_true(value: Any) -> bool:
    return value is not None and value is not False


def field(value: Any, name: str) -> Any:
    """A member of an object; null of null."""
    if isinstance(value, dict):
        return value.get(name)
    if value is None:
        return None
    raise QueryError


def item(value: Any, place: int) -> Any:
    """A member of an array; null of null and beyond the ends."""
    if isinstance(value, list):
        return value[place] if -len(value) <= place < len(value) else None
    if value is None:
        return None
    raise QueryError


def each(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return list(value.values())
    raise QueryError


def _rank(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool):
        return 2 if value else 1
    if isinstance(value, int | float):
        return 3
    return next(4 + place for place, kind in enumerate((str, list, dict)) if isinstance(value, kind))


def compare(a: Any, b: Any) -> int:
    """Negative, zero or positive: null < false < true < numbers < strings < arrays < objects."""
    first, second = _rank(a), _rank(b)
    if first != second or first < 3:
        return first - second
    if isinstance(a, list):
        parts = (compare(x, y) for x, y in zip(a, b, strict=False))
        return next((part for part in parts if part), len(a) - len(b))
    if isinstance(a, dict):
        names = compare(sorted(a), sorted(b))
        return names or next((part for name in sorted(a) if (part := compare(a[name], b[name]))), 0)
    return int(a > b) - int(a < b)


def _number(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return int(value) if re.fullmatch(r"-?\d+", value) else float(value)
        except ValueError:
            raise QueryError from None
    raise QueryError


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _length(value: Any) -> Any:
    if value is None:
        return 0
    if isinstance(value, bool):
        raise QueryError
    return abs(value) if isinstance(value, int | float) else len(value)


def _plus(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, dict) and isinstance(b, dict):
        return a | b
    if _rank(a) == _rank(b) and _rank(a) in (3, 4, 5):
        return a + b
    raise QueryError


def _minus(a: Any, b: Any) -> Any:
    if isinstance(a, list) and isinstance(b, list):
        return [member for member in a if member not in b]
    return _numbers(a, b, lambda x, y: x - y)


def _divided(a: Any, b: Any) -> Any:
    if isinstance(a, str) and isinstance(b, str):
        return a.split(b)
    result = _numbers(a, b, lambda x, y: x / y)
    return int(result) if result == int(result) else result


def _numbers(a: Any, b: Any, work: Callable[[Any, Any], Any]) -> Any:
    if _rank(a) != 3 or _rank(b) != 3:
        raise QueryError
    try:
        return work(a, b)
    except ZeroDivisionError:
        raise QueryError from None


def _strings(work: Callable[[str, str], Any]) -> Callable[[Any, Any], Any]:
    def checked(a: Any, b: Any) -> Any:
        if not isinstance(a, str) or not isinstance(b, str):
            raise QueryError
        try:
            return work(a, b)
        except (re.error, ValueError):
            raise QueryError from None

    return checked


def _has(value: Any, key: Any) -> bool:
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and isinstance(key, int):
        return 0 <= key < len(value)
    raise QueryError


def _contains(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return all(name in a and _contains(a[name], wanted) for name, wanted in b.items())
    if isinstance(a, list) and isinstance(b, list):
        return all(any(_contains(member, wanted) for member in a) for wanted in b)
    if isinstance(a, str) and isinstance(b, str):
        return b in a
    return compare(a, b) == 0


def _array(work: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        if not isinstance(value, list):
            raise QueryError
        return work(value)

    return checked


def _extreme(sign: int) -> Callable[[list[Any]], Any]:
    def chosen(values: list[Any]) -> Any:
        ordered = sorted(values, key=cmp_to_key(compare))
        return ordered[0 if sign < 0 else -1] if ordered else None

    return chosen


def _keys(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return sorted(value)
    if isinstance(value, list):
        return list(range(len(value)))
    raise QueryError


def _sum(values: list[Any]) -> Any:
    total: Any = None
    for value in values:
        total = _plus(total, value)
    return total


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: compare(a, b) == 0,
    "!=": lambda a, b: compare(a, b) != 0,
    "<": lambda a, b: compare(a, b) < 0,
    "<=": lambda a, b: compare(a, b) <= 0,
    ">": lambda a, b: compare(a, b) > 0,
    ">=": lambda a, b: compare(a, b) >= 0,
}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": _plus,
    "-": _minus,
    "*": lambda a, b: _numbers(a, b, lambda x, y: x * y),
    "/": _divided,
    "%": lambda a, b: _numbers(int(_number(a)), int(_number(b)), lambda x, y: abs(x) % abs(y) * (-1 if x < 0 else 1)),
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "not": lambda value: not is_true(value),
    "length": _length,
    "tostring": _text,
    "tonumber": _number,
    "keys": _keys,
    "type": lambda value: ("null", "boolean", "boolean", "number", "string", "array", "object")[_rank(value)],
    "any": _array(lambda values: any(map(is_true, values))),
    "all": _array(lambda values: all(map(is_true, values))),
    "first": lambda value: item(value, 0),
    "last": lambda value: item(value, -1),
    "add": lambda value: _sum(each(value)),
    "min": _array(_extreme(-1)),
    "max": _array(_extreme(1)),
    "sort": _array(lambda values: sorted(values, key=cmp_to_key(compare))),
    "reverse": _array(lambda values: values[::-1]),
    "ascii_downcase": lambda value: _strings(lambda a, b: a.lower())(value, ""),
    "ascii_upcase": lambda value: _strings(lambda a, b: a.upper())(value, ""),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "has": _has,
    "contains": _contains,
    "startswith": _strings(str.startswith),
    "endswith": _strings(str.endswith),
    "test": _strings(lambda a, b: re.search(b, a) is not None),
    "split": _strings(lambda a, b: a.split(b)),
    "ltrimstr": _strings(str.removeprefix),
    "rtrimstr": _strings(str.removesuffix),
    "join": lambda a, b: _text(b).join("" if member is None else _text(member) for member in each(a)),
}
