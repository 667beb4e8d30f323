"""Device slices as the allocator reads them.

A slice is parsed once per revision; each device keeps the answers to the CEL selectors it was asked about, since an
expression and a device always give the same answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from seatrial.model import cel
from seatrial.model.cel import CelError, CelSyntaxError
from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity

DeviceID = tuple[str, str, str]
"""Driver, pool and device."""
Counters = Mapping[str, Quantity]

EXPRESSION_COST_LIMIT = 1_000_000
_VARIABLES = frozenset(("device",))
_NO_BOOL = {
    "int": "unsupported type conversion from 'int' to bool",
    "string": "unsupported native conversion from string to 'bool'",
    "kubernetes.Semver": "type conversion error from 'Semver' to 'bool'",
}


def show_device(device: DeviceID) -> str:
    """A device in messages."""
    return "/".join(device)


@dataclass(frozen=True, slots=True)
class Capacity:
    """A capacity of a device, and how it may be requested where the device is shared."""

    value: Quantity
    default: Quantity | None = None
    least: Quantity | None = None
    most: Quantity | None = None
    step: Quantity | None = None
    has_range: bool = False
    has_policy: bool = False
    valid_values: tuple[Quantity, ...] = ()

    @classmethod
    def read(cls, document: Document) -> "Capacity":
        policy = document.get("requestPolicy") or {}
        limits = policy.get("validRange")
        bounds = limits or {}
        return cls(
            Quantity.parse(document.get("value", "0")),
            _quantity(policy.get("default")),
            _quantity(bounds.get("min")),
            _quantity(bounds.get("max")),
            _quantity(bounds.get("step")),
            limits is not None,
            document.get("requestPolicy") is not None,
            tuple(Quantity.parse(value) for value in policy.get("validValues") or ()),
        )


def _quantity(text: str | None) -> Quantity | None:
    return None if text is None else Quantity.parse(text)


@dataclass(slots=True, eq=False)
class Device:
    """One device of a slice."""

    name: str
    driver: str
    document: Document
    attributes: Mapping[str, Mapping[str, Any]]
    capacity: Mapping[str, Capacity]
    consumes: tuple[tuple[str, Counters], ...]
    """Counter set and counters."""
    allow_multiple: bool
    answers: dict[str, "bool | CelError"] = field(default_factory=dict)
    variables: dict[str, object] | None = None

    @classmethod
    def read(cls, document: Document, driver: str) -> "Device":
        return cls(
            document.get("name", ""),
            driver,
            document,
            document.get("attributes") or {},
            {name: Capacity.read(entry) for name, entry in (document.get("capacity") or {}).items()},
            tuple(
                (entry.get("counterSet", ""), read_counters(entry.get("counters")))
                for entry in document.get("consumesCounters") or ()
            ),
            bool(document.get("allowMultipleAllocations")),
        )

    def attribute(self, name: str) -> Mapping[str, Any] | None:
        """An attribute by its full name; the driver's own may be written without their domain."""
        if name in self.attributes:
            return self.attributes[name]
        domain, slash, identifier = name.partition("/")
        if not slash or domain != self.driver:
            return None
        return self.attributes.get(identifier)

    def matches(self, expression: str) -> bool:
        """Whether a CEL selector picks the device; CelSyntaxError or CelError where it cannot be evaluated."""
        answer = self.answers.get(expression)
        if answer is None:
            try:
                answer = self._evaluate(expression)
            except CelError as problem:
                answer = problem
            self.answers[expression] = answer
        if isinstance(answer, CelError):
            raise answer
        return answer

    def _evaluate(self, expression: str) -> bool:
        try:
            program = cel.compile_expression(expression, _VARIABLES)
        except CelSyntaxError as problem:
            raise CelSyntaxError(f"compilation failed: {problem}") from problem
        if self.variables is None:
            self.variables = self._cel_variables()
        result = program.evaluate(self.variables, cel.Meter(EXPRESSION_COST_LIMIT))
        if result is True or result is False:
            return result
        why = _NO_BOOL.get(cel.type_of(result), "type conversion error")
        raise CelError(f"CEL result of type {cel.type_of(result)} could not be converted to bool: {why}")

    def _cel_variables(self) -> dict[str, object]:
        attributes: dict[str, dict[str, object]] = {}
        for name, attribute in self.attributes.items():
            domain, identifier = self._qualified(name)
            attributes.setdefault(domain, {})[identifier] = _attribute_value(name, attribute)
        capacity: dict[str, dict[str, object]] = {}
        for name, entry in self.capacity.items():
            domain, identifier = self._qualified(name)
            capacity.setdefault(domain, {})[identifier] = cel.CelQuantity(entry.value)
        return {
            "device": {
                "driver": self.driver,
                "allowMultipleAllocations": self.allow_multiple,
                "attributes": cel.DefaultMap(attributes),
                "capacity": cel.DefaultMap(capacity),
            }
        }

    def _qualified(self, name: str) -> tuple[str, str]:
        domain, slash, identifier = name.partition("/")
        return (domain, identifier) if slash else (self.driver, name)


def _attribute_value(name: str, attribute: Mapping[str, Any]) -> object:
    for kind in ("int", "bool", "string"):
        if attribute.get(kind) is not None:
            return attribute[kind]
    if attribute.get("version") is not None:
        try:
            return cel.parse_semver(attribute["version"])
        except CelError as problem:
            raise CelError(f"attribute {name}: parse semantic version: {problem}") from problem
    raise CelError(f"attribute {name}: unsupported attribute value")


def read_counters(document: Mapping[str, Any] | None) -> Counters:
    """Counters by name."""
    return {name: Quantity.parse(entry.get("value", "0")) for name, entry in (document or {}).items()}


class Slice:
    """A ResourceSlice."""

    def __init__(self, document: Document) -> None:
        spec = document.get("spec") or {}
        pool = spec.get("pool") or {}
        self.name: str = (document.get("metadata") or {}).get("name", "")
        self.driver: str = spec.get("driver", "")
        self.pool: str = pool.get("name", "")
        self.generation: int = pool.get("generation") or 0
        self.slice_count: int = pool.get("resourceSliceCount") or 0
        self.node_name: str = spec.get("nodeName") or ""
        self.all_nodes = bool(spec.get("allNodes"))
        self.node_selector: Document | None = spec.get("nodeSelector")
        self.per_device = bool(spec.get("perDeviceNodeSelection"))
        self.shared_counters: tuple[tuple[str, Counters], ...] = tuple(
            (entry.get("name", ""), read_counters(entry.get("counters"))) for entry in spec.get("sharedCounters") or ()
        )
        self._devices: list[Document] = spec.get("devices") or []

    @cached_property
    def devices(self) -> tuple[Device, ...]:
        return tuple(Device.read(entry, self.driver) for entry in self._devices)

    @property
    def pool_id(self) -> tuple[str, str]:
        return self.driver, self.pool

    def id_of(self, device: Device) -> DeviceID:
        return self.driver, self.pool, device.name
