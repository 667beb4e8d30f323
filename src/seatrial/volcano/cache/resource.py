"""Amounts of resources, and the many ways Volcano compares them.

cpu is in thousandths, memory in bytes, every other resource ("scalar") in thousandths but `pods`. All are floats, and
two amounts less than `MIN_RESOURCE` apart are equal in most comparisons. A missing scalar map is not an empty one: a
few operations stop there, as upstream's do with a nil map.

Upstream: pkg/scheduler/api/resource_info.go, pkg/scheduler/api/helpers/helpers.go.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from sys import float_info
from typing import Any

from seatrial.model.quantity import Quantity
from seatrial.scheduler.cache import is_scalar

CPU, MEMORY, PODS, EPHEMERAL = "cpu", "memory", "pods", "ephemeral-storage"
MIN_RESOURCE = 0.1
MAX_FLOAT = float_info.max
MAX_INT64 = float((1 << 63) - 1)
INFINITY, ZERO = -1.0, 0.0
"""What a scalar counts as where one side does not have it."""


class Resource:
    """An amount of each resource; changed in place, as upstream does."""

    __slots__ = ("cpu", "max_tasks", "memory", "scalars")

    def __init__(self, cpu: float = 0.0, memory: float = 0.0, scalars: dict[str, float] | None = None) -> None:
        self.cpu = cpu
        self.memory = memory
        self.scalars = scalars
        self.max_tasks = 0
        """How many pods a node takes; no operation counts it."""

    @classmethod
    def read(cls, resources: Mapping[str, Any] | None, ignored: Iterable[str] = ()) -> "Resource":
        """The amounts of a resource list; what Volcano does not count is left out."""
        resource = cls()
        for name, text in (resources or {}).items():
            quantity = Quantity.parse(text)
            if name == CPU:
                resource.cpu += float(quantity.milli_value())
            elif name == MEMORY:
                resource.memory += float(quantity.value())
            elif name == PODS:
                resource.max_tasks += quantity.value()
                resource.add_scalar(name, float(quantity.value()))
            elif name == EPHEMERAL or (is_scalar(name) and not name.startswith("count/") and name not in ignored):
                resource.add_scalar(name, float(quantity.milli_value()))
        return resource

    @classmethod
    def infinite(cls) -> "Resource":
        return cls(MAX_FLOAT, MAX_FLOAT)

    def clone(self) -> "Resource":
        copy = Resource(self.cpu, self.memory, None if self.scalars is None else self.scalars.copy())
        copy.max_tasks = self.max_tasks
        return copy

    def __repr__(self) -> str:
        parts = [f"cpu {_shown(self.cpu)}", f"memory {_shown(self.memory)}"]
        parts += [f"{name} {_shown(amount)}" for name, amount in sorted((self.scalars or {}).items())]
        return ", ".join(parts)

    def key(self) -> tuple[object, ...]:
        """A hashable value, the same for equal amounts."""
        return self.cpu, self.memory, *sorted((self.scalars or {}).items())

    def names(self) -> list[str]:
        """The resources with a non-zero amount, `pods` included."""
        names = []
        if self.cpu >= MIN_RESOURCE:
            names.append(CPU)
        if self.memory >= MIN_RESOURCE:
            names.append(MEMORY)
        if self.scalars:
            names.extend(name for name, amount in self.scalars.items() if amount >= MIN_RESOURCE)
        return names

    def get(self, name: str) -> float:
        if name == CPU:
            return self.cpu
        if name == MEMORY:
            return self.memory
        return self.scalars.get(name, 0.0) if self.scalars else 0.0

    def add_scalar(self, name: str, amount: float) -> None:
        self.set_scalar(name, (self.scalars or {}).get(name, 0.0) + amount)

    def set_scalar(self, name: str, amount: float) -> None:
        if self.scalars is None:
            self.scalars = {}
        self.scalars[name] = amount

    def is_empty(self) -> bool:
        """Whether there is nothing of any resource but `pods`."""
        if self.cpu >= MIN_RESOURCE or self.memory >= MIN_RESOURCE:
            return False
        return not any(amount >= MIN_RESOURCE for name, amount in (self.scalars or {}).items() if name != PODS)

    # -- arithmetic --------------------------------------------------------------------------------------------

    def add(self, other: "Resource") -> "Resource":
        self.cpu += other.cpu
        self.memory += other.memory
        if other.scalars:
            if self.scalars is None:
                self.scalars = other.scalars.copy()
            else:
                mine = self.scalars
                for name, amount in other.scalars.items():
                    mine[name] = mine.get(name, 0.0) + amount
        return self

    def sub(self, other: "Resource") -> "Resource":
        """Subtracts; the result may be negative. Scalars stay where this side has no map of them."""
        self.cpu -= other.cpu
        self.memory -= other.memory
        mine = self.scalars
        if mine is not None and other.scalars:
            for name, amount in other.scalars.items():
                mine[name] = mine.get(name, 0.0) - amount
        return self

    def multiply(self, ratio: float) -> "Resource":
        self.cpu *= ratio
        self.memory *= ratio
        if self.scalars:
            self.scalars = {name: amount * ratio for name, amount in self.scalars.items()}
        return self

    def raise_to(self, other: "Resource") -> None:
        """The larger amount of each resource, in place (SetMaxResource)."""
        self.cpu = max(self.cpu, other.cpu)
        self.memory = max(self.memory, other.memory)
        if other.scalars:
            if self.scalars is None:
                self.scalars = other.scalars.copy()
                return
            for name, amount in other.scalars.items():
                if name not in self.scalars or amount > self.scalars[name]:
                    self.scalars[name] = amount

    def lower_to(self, other: "Resource", default: float) -> "Resource":
        """The smaller amount of each resource, in place (MinDimensionResource)."""
        self.cpu = min(self.cpu, other.cpu)
        self.memory = min(self.memory, other.memory)
        if self.scalars is None:
            return self
        theirs = other.scalars or {}
        for name, amount in self.scalars.items():
            if name in theirs:
                self.scalars[name] = min(amount, theirs[name])
            elif default != INFINITY:
                self.scalars[name] = 0.0
        return self

    def diff(self, other: "Resource") -> tuple["Resource", "Resource"]:
        """What this side has more, and what it has less; a missing scalar counts as 0."""
        more, less = Resource(scalars={}), Resource(scalars={})
        more.cpu, less.cpu = _apart(self.cpu, other.cpu)
        more.memory, less.memory = _apart(self.memory, other.memory)
        assert more.scalars is not None and less.scalars is not None
        for name in {**(self.scalars or {}), **(other.scalars or {})}:
            mine, theirs = self.get(name), other.get(name)
            if mine > theirs:
                more.scalars[name] = mine - theirs
            else:
                less.scalars[name] = theirs - mine
        return more, less

    # -- comparisons -------------------------------------------------------------------------------------------

    def less_equal(self, other: "Resource", default: float = ZERO) -> bool:
        """Whether no resource is more than the other side's."""
        if self.cpu - other.cpu >= MIN_RESOURCE or self.memory - other.memory >= MIN_RESOURCE:
            return False
        theirs = other.scalars or {}
        if default == INFINITY and any(name not in (self.scalars or {}) for name in theirs):
            return False
        for name, amount in (self.scalars or {}).items():
            if name not in theirs and default == INFINITY:
                continue
            if amount - theirs.get(name, 0.0) >= MIN_RESOURCE:
                return False
        return True

    def exceeding(self, other: "Resource", default: float = ZERO) -> list[str]:
        """The resources of which there is more than on the other side (LessEqualWithResourcesName)."""
        names = []
        if self.cpu - other.cpu >= MIN_RESOURCE:
            names.append(CPU)
        if self.memory - other.memory >= MIN_RESOURCE:
            names.append(MEMORY)
        theirs = other.scalars or {}
        for name, amount in (self.scalars or {}).items():
            if name not in theirs and default == INFINITY:
                continue
            if amount - theirs.get(name, 0.0) >= MIN_RESOURCE:
                names.append(name)
        return names

    def exceeding_of(self, other: "Resource", asked: "Resource") -> list[str]:
        """The resources asked for of which there is more than on the other side, strictly; `pods` is not looked at.

        Upstream: LessEqualWithDimensionAndResourcesName.
        """
        names = []
        if asked.cpu > 0 and self.cpu > other.cpu:
            names.append(CPU)
        if asked.memory > 0 and self.memory > other.memory:
            names.append(MEMORY)
        if self.scalars is None:
            return names
        for name, amount in (asked.scalars or {}).items():
            if name != PODS and amount > 0 and self.get(name) > other.get(name):
                names.append(name)
        return names

    def has_room(self, asked: "Resource", limit: "Resource") -> bool:
        """Whether there may be as much more as is asked for: nothing of it would exceed the limit."""
        if asked.cpu > 0 and self.cpu + asked.cpu > limit.cpu:
            return False
        if asked.memory > 0 and self.memory + asked.memory > limit.memory:
            return False
        for name, amount in (asked.scalars or {}).items():
            if name != PODS and amount > 0 and self.get(name) + amount > limit.get(name):
                return False
        return True

    def less_partly(self, other: "Resource") -> bool:
        """Whether there is less of some resource; a missing scalar counts as 0 (LessPartly with Zero)."""
        mine, theirs = self.scalars or {}, other.scalars or {}
        if self.cpu < other.cpu or self.memory < other.memory or any(name not in mine for name in theirs):
            return True
        return any(amount < theirs.get(name, 0.0) for name, amount in mine.items())

    def less_equal_partly(self, other: "Resource", asked: "Resource") -> bool:
        """Whether some resource asked for is within the other side's, not counting those neither side has.

        Upstream: LessEqualPartlyWithDimensionZeroFiltered.
        """
        for name in (CPU, MEMORY, *(asked.scalars or {})):
            if asked.get(name) <= 0 or name == PODS:
                continue
            mine, theirs = self.get(name), other.get(name)
            if mine < MIN_RESOURCE and theirs < MIN_RESOURCE:
                continue
            if mine - theirs < MIN_RESOURCE:
                return True
        return False

    def exceeding_relevant(self, other: "Resource", asked: "Resource") -> list[str]:
        """The resources asked for that the other side has and of which there is more here.

        Upstream: GreaterPartlyWithRelevantDimensions.
        """
        names = []
        if asked.cpu > 0 and other.cpu >= MIN_RESOURCE and self.cpu > other.cpu:
            names.append(CPU)
        if asked.memory > 0 and other.memory >= MIN_RESOURCE and self.memory > other.memory:
            names.append(MEMORY)
        for name, amount in (asked.scalars or {}).items():
            if name != PODS and amount > 0 and name in (other.scalars or {}) and self.get(name) > other.get(name):
                names.append(name)
        return names

    def same(self, other: "Resource") -> bool:
        """Equal in every part: two missing maps, or equal ones (Semantic.DeepEqual takes nil and empty as equal)."""
        return (
            self.cpu == other.cpu
            and self.memory == other.memory
            and (self.scalars or {}) == (other.scalars or {})
            and self.max_tasks == other.max_tasks
        )


def shared_resource(resources: Mapping[str, Any] | None) -> Resource:
    """The amounts of a resource list, shared by all that are equal. Not to be changed."""
    return _shared(tuple((resources or {}).items()))


@lru_cache(4096)
def _shared(items: tuple[tuple[str, Any], ...]) -> Resource:
    return Resource.read(dict(items))


def exceeded_part(left: Resource, right: Resource) -> Resource:
    """What one side has more of than the other."""
    return left.diff(right)[0]


def larger(left: Resource, right: Resource) -> Resource:
    """The larger amount of each resource; negative scalars are dropped (helpers.Max)."""
    larger_of = Resource(max(left.cpu, right.cpu), max(left.memory, right.memory))
    if left.scalars is None and right.scalars is None:
        return larger_of
    scalars = {name: amount for name, amount in (left.scalars or {}).items() if amount >= 0}
    for name, amount in (right.scalars or {}).items():
        if amount >= 0:
            scalars[name] = max(amount, scalars.get(name, 0.0))
    larger_of.scalars = scalars
    return larger_of


def share(amount: float, whole: float) -> float:
    """Which part of the whole an amount is; all of nothing is 1."""
    if whole == 0:
        return 0.0 if amount == 0 else 1.0
    return amount / whole


def in_common(left: Resource, right: Resource) -> list[str]:
    """The resources both sides have something of (Intersection)."""
    mine = left.names()
    return [name for name in right.names() if name in mine]


def _apart(left: float, right: float) -> tuple[float, float]:
    return (left - right, 0.0) if left > right else (0.0, right - left)


def _shown(amount: float) -> str:
    if amount == MAX_FLOAT:
        return "maxFloat"
    return "maxInt" if amount == MAX_INT64 else f"{amount:.2f}"
