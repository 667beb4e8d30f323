"""Constraints of a claim: its devices share an attribute's value, or all have different ones.

Upstream: structured/internal/incubating (allocator_incubating.go, constraint.go). Values are equal if type and value
are. A distinct attribute is remembered once per request, so the last device of a request stands for it, as upstream.
"""

from collections.abc import Hashable, Mapping
from typing import Any

from seatrial.model.documents import Document
from seatrial.scheduler.dra.devices import Device

Value = tuple[str, object]


def value_of(attribute: Mapping[str, Any]) -> Value | None:
    """Type and value of an attribute; None for a type that is not known."""
    for kind in ("string", "int", "bool", "version"):
        if attribute.get(kind) is not None:
            return kind, attribute[kind]
    return None


class Constraint:
    """What a device must satisfy to join those picked so far."""

    def __init__(self, name: str, requests: tuple[str, ...]) -> None:
        self.name = name
        self.requests = frozenset(requests)
        self.devices = 0

    def applies(self, request: str, subrequest: str) -> bool:
        if not self.requests or request in self.requests:
            return True
        return bool(subrequest) and f"{request}/{subrequest}" in self.requests

    def add(self, request: str, subrequest: str, device: Device) -> bool:
        """Adds a device if it satisfies the constraint."""
        if not self.applies(request, subrequest):
            return True
        attribute = device.attribute(self.name)
        if attribute is None or not self.admits(value_of(attribute)):
            return False
        self.remember(request, value_of(attribute))
        self.devices += 1
        return True

    def remove(self, request: str, subrequest: str) -> None:
        """Takes back what `add` accepted."""
        if self.applies(request, subrequest):
            self.devices -= 1
            self.forget(request)

    def admits(self, value: Value | None) -> bool:
        raise NotImplementedError

    def remember(self, request: str, value: Value | None) -> None:
        raise NotImplementedError

    def forget(self, request: str) -> None:
        """Nothing to forget unless values are kept by request."""

    def state(self) -> Hashable:
        """What decides about further devices."""
        raise NotImplementedError


class MatchAttribute(Constraint):
    """All devices have the same value."""

    value: Value | None = None

    def admits(self, value: Value | None) -> bool:
        return self.devices == 0 or (value is not None and value == self.value)

    def remember(self, request: str, value: Value | None) -> None:
        if self.devices == 0:
            self.value = value

    def state(self) -> Hashable:
        return self.value if self.devices else None


class DistinctAttribute(Constraint):
    """No two requests have the same value."""

    def __init__(self, name: str, requests: tuple[str, ...]) -> None:
        super().__init__(name, requests)
        self.values: dict[str, Value | None] = {}

    def admits(self, value: Value | None) -> bool:
        if self.devices == 0 or not self.values:
            return True
        return value is not None and value not in self.values.values()

    def remember(self, request: str, value: Value | None) -> None:
        self.values[request] = value

    def forget(self, request: str) -> None:
        self.values.pop(request, None)

    def state(self) -> Hashable:
        return self.devices, frozenset(self.values.items())


def read_constraints(claim: Document) -> list[Constraint] | int:
    """The constraints of a claim, or the number of the one that is not understood."""
    constraints: list[Constraint] = []
    for number, entry in enumerate((claim.get("spec") or {}).get("devices", {}).get("constraints") or ()):
        requests = tuple(entry.get("requests") or ())
        if entry.get("matchAttribute") is not None:
            constraints.append(MatchAttribute(entry["matchAttribute"], requests))
        elif entry.get("distinctAttribute") is not None:
            constraints.append(DistinctAttribute(entry["distinctAttribute"], requests))
        else:
            return number
    return constraints
