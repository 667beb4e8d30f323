"""The values of CEL and their operations.

int, bool, double, string, bytes, list, map and null are Python's own; the rest is here. Python would find `1 == True`
and let integers grow, so equality, order and arithmetic go through this module. Texts of errors are cel-go's.
"""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from seatrial.model.cel.errors import CelError

INT_MIN, INT_MAX, UINT_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
NO_OVERLOAD = "no such overload"


class UInt(int):
    """An unsigned integer; distinct from int in arithmetic, equal in comparison."""


@dataclass(frozen=True, slots=True)
class TypeValue:
    """The value of `type(x)`, or of a type's name."""

    name: str


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time in nanoseconds."""

    nanos: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """An instant in nanoseconds since 1970, UTC."""

    nanos: int

    def moment(self) -> datetime:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=self.nanos // 1000)


@dataclass(frozen=True, slots=True)
class Optional:
    """`optional.of(x)` or `optional.none()`."""

    value: object = None
    present: bool = False


NONE = Optional()


class Opaque:
    """A value of a Kubernetes type, with its type name and comparison."""

    type_name = "opaque"

    def equals(self, other: object) -> bool:
        """Equal to another value of the same type."""
        raise NotImplementedError


class DefaultMap(dict[str, object]):
    """A map whose lookup of an unknown key gives an empty map; `in`, size and iteration do not see it."""


def type_of(value: object) -> str:
    """The name of a value's type, as cel-go prints it."""
    if isinstance(value, Opaque):
        return value.type_name
    for kind, name in _TYPE_NAMES:
        if isinstance(value, kind):
            return name
    return "null_type" if value is None else type(value).__name__


_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (UInt, "uint"),
    (int, "int"),
    (float, "double"),
    (str, "string"),
    (bytes, "bytes"),
    (list, "list"),
    (Mapping, "map"),
    (Timestamp, "google.protobuf.Timestamp"),
    (Duration, "google.protobuf.Duration"),
    (Optional, "optional_type"),
    (TypeValue, "type"),
)


def is_number(value: object) -> bool:
    """int, uint or double; a bool is none of them."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(left: object, right: object) -> bool:
    """CEL's `==`: numbers by value across types, other types only among themselves."""
    if isinstance(left, str) or isinstance(right, str) or isinstance(left, bool) or isinstance(right, bool):
        return type(left) is type(right) and left == right
    if is_number(left) and is_number(right):
        return left == right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return len(left) == len(right) and all(
            (found := find(right, key))[1] and equal(value, found[0]) for key, value in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(equal(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, Opaque):
        if type(left) is not type(right):
            raise CelError(NO_OVERLOAD)
        return left.equals(right)
    if isinstance(left, Optional) and isinstance(right, Optional):
        return left.present == right.present and (not left.present or equal(left.value, right.value))
    return type(left) is type(right) and left == right


def find(mapping: Mapping[object, object], key: object) -> tuple[object, bool]:
    """The entry of a map and whether it is there; numeric keys match by value, never a bool."""
    if isinstance(key, str):
        if key in mapping:
            return mapping[key], True
        return ({}, True) if isinstance(mapping, DefaultMap) else (None, False)
    if isinstance(key, bool) or is_number(key):
        for candidate, value in mapping.items():
            if not isinstance(candidate, str) and equal(candidate, key):
                return value, True
        return ({}, True) if isinstance(mapping, DefaultMap) else (None, False)
    raise CelError(f"unsupported key type: {type_of(key)}")


def contains(container: object, item: object) -> bool:
    """CEL's `in`."""
    if isinstance(container, Mapping):
        if isinstance(item, str):
            return item in container
        return any(not isinstance(key, str) and equal(key, item) for key in container)
    if isinstance(container, list):
        return any(equal(item, element) for element in container)
    raise CelError(NO_OVERLOAD)


def _order(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def compare(left: Any, right: Any, operator: str = "_<_") -> int:
    """-1, 0 or 1; an error where the types have no order."""
    if is_number(left) and is_number(right):
        if (isinstance(left, float) and math.isnan(left)) or (isinstance(right, float) and math.isnan(right)):
            raise CelError("NaN values cannot be ordered")
        return _order(left, right)
    for kind in (str, bool, bytes):
        if isinstance(left, kind):
            if not isinstance(right, kind):
                raise CelError(NO_OVERLOAD)
            return _order(left, right)
    if isinstance(left, Timestamp | Duration):
        if type(left) is not type(right):
            raise CelError(NO_OVERLOAD)
        return (left.nanos > right.nanos) - (left.nanos < right.nanos)
    if is_number(left):
        raise CelError(NO_OVERLOAD)
    raise CelError(f"{NO_OVERLOAD}: {operator}")


def _bounded(value: int, unsigned: bool) -> int:
    if unsigned:
        if not 0 <= value <= UINT_MAX:
            raise CelError("unsigned integer overflow")
        return UInt(value)
    if not INT_MIN <= value <= INT_MAX:
        raise CelError("integer overflow")
    return value


def _integers(left: object, right: object) -> bool | None:
    """True: two uints, False: two ints, None: anything else."""
    if isinstance(left, bool) or isinstance(right, bool):
        return None
    if isinstance(left, UInt) and isinstance(right, UInt):
        return True
    if isinstance(left, int) and isinstance(right, int) and not isinstance(left, UInt) and not isinstance(right, UInt):
        return False
    return None


def bounded_timestamp(nanos: int) -> Timestamp:
    """An instant of the years 1 to 9999."""
    if not -62135596800 * 10**9 <= nanos < 253402300800 * 10**9:
        raise CelError("timestamp overflow")
    return Timestamp(nanos)


def _duration(nanos: int) -> Duration:
    if not INT_MIN <= nanos <= INT_MAX:
        raise CelError("duration overflow")
    return Duration(nanos)


def add(left: Any, right: Any) -> object:
    """CEL's `+`."""
    unsigned = _integers(left, right)
    if unsigned is not None:
        return _bounded(left + right, unsigned)
    if isinstance(left, float) and isinstance(right, float):
        return left + right
    for kind in (str, bytes, list):
        if isinstance(left, kind) and isinstance(right, kind):
            return operator.add(left, right)
    if isinstance(left, Duration) and isinstance(right, Duration):
        return _duration(left.nanos + right.nanos)
    if isinstance(left, Timestamp) and isinstance(right, Duration):
        return bounded_timestamp(left.nanos + right.nanos)
    if isinstance(left, Duration) and isinstance(right, Timestamp):
        return bounded_timestamp(left.nanos + right.nanos)
    raise CelError(_no_overload(left, "_+_", (int, float, str, bytes, list, Duration, Timestamp)))


def subtract(left: Any, right: Any) -> object:
    """CEL's `-`."""
    unsigned = _integers(left, right)
    if unsigned is not None:
        return _bounded(left - right, unsigned)
    if isinstance(left, float) and isinstance(right, float):
        return left - right
    if isinstance(left, Duration) and isinstance(right, Duration):
        return _duration(left.nanos - right.nanos)
    if isinstance(left, Timestamp) and isinstance(right, Timestamp):
        return _duration(left.nanos - right.nanos)
    if isinstance(left, Timestamp) and isinstance(right, Duration):
        return bounded_timestamp(left.nanos - right.nanos)
    raise CelError(_no_overload(left, "_-_", (int, float, Duration, Timestamp)))


def multiply(left: Any, right: Any) -> object:
    """CEL's `*`."""
    unsigned = _integers(left, right)
    if unsigned is not None:
        return _bounded(left * right, unsigned)
    if isinstance(left, float) and isinstance(right, float):
        return left * right
    raise CelError(_no_overload(left, "_*_", (int, float)))


def divide(left: Any, right: Any) -> object:
    """CEL's `/`: integers truncate towards zero."""
    unsigned = _integers(left, right)
    if unsigned is not None:
        if right == 0:
            raise CelError("division by zero")
        quotient = abs(left) // abs(right)
        return _bounded(quotient if (left < 0) == (right < 0) else -quotient, unsigned)
    if isinstance(left, float) and isinstance(right, float):
        if right == 0:
            return (
                math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1, right)
            )
        return left / right
    raise CelError(_no_overload(left, "_/_", (int, float)))


def modulo(left: Any, right: Any) -> object:
    """CEL's `%`: the sign is the dividend's."""
    unsigned = _integers(left, right)
    if unsigned is None:
        raise CelError(_no_overload(left, "_%_", (int,)))
    if right == 0:
        raise CelError("modulus by zero")
    rest = abs(left) % abs(right)
    return _bounded(rest if left >= 0 else -rest, unsigned)


def negate(value: object) -> object:
    """CEL's unary `-`."""
    if isinstance(value, float):
        return -value
    if isinstance(value, int) and not isinstance(value, bool | UInt):
        return _bounded(-value, unsigned=False)
    if isinstance(value, Duration):
        return _duration(-value.nanos)
    raise CelError(_no_overload(value, "-_", (UInt,)))


def _no_overload(left: object, operator: str, kinds: tuple[type, ...]) -> str:
    """The left operand has the operator but not for the right one, or has it not at all.

    Text and times are "receivers" in cel-go: they answer for themselves, without naming the operator.
    """
    capable = isinstance(left, (*kinds, str, Timestamp, Duration)) and not isinstance(left, bool)
    return NO_OVERLOAD if capable else f"{NO_OVERLOAD}: {operator}"


def index(container: object, key: object) -> object:
    """CEL's `[]`, and `.name` on a map."""
    if isinstance(container, Mapping):
        value, there = find(container, key)
        if not there:
            raise CelError(f"no such key: {show(key)}")
        return value
    if isinstance(container, list):
        return container[_position(container, key)]
    if isinstance(container, Optional):
        return index_optional(container, key)
    raise CelError(f"no such key: {show(key)}")


def _position(items: Sequence[object], key: object) -> int:
    if isinstance(key, bool) or not isinstance(key, int | float):
        raise CelError(f"unsupported index type '{type_of(key)}' in list")
    if isinstance(key, float) and not key.is_integer():
        raise CelError(f"unsupported index value {show(key)} in list")
    position = int(key)
    if not 0 <= position < len(items):
        raise CelError(f"index out of bounds: {position}")
    return position


def index_optional(container: object, key: object) -> Optional:
    """`[?key]` and `.?name`: none where there is no such entry."""
    if isinstance(container, Optional):
        if not container.present:
            return NONE
        container = container.value
    if isinstance(container, Mapping):
        value, there = find(container, key)
        return Optional(value, True) if there else NONE
    if isinstance(container, list):
        if isinstance(key, int) and not isinstance(key, bool) and 0 <= key < len(container):
            return Optional(container[key], True)
        return NONE
    raise CelError(NO_OVERLOAD)


def show(value: object) -> str:
    """A value in an error message, as Go's %v prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
