"""Fields that a request cannot own because the strategy of the kind discards them (upstream's GetResetFields).

A write to the main resource never sets status, one to the status never sets spec; strategies name what differs.
"""

from functools import cache
from typing import Final

from seatrial.model.apply import Filter
from seatrial.model.apply.fieldsets import ANY, FieldSet, field, from_paths
from seatrial.model.kinds import Kind
from seatrial.store.registry.kinds import strategy_of

_RESIZED: Final = ("resources", "resizePolicy")
_OWNED_PARTS: Final = {
    "ephemeralcontainers": ("spec.ephemeralContainers",),
    "resize": tuple(
        f"spec.{containers}.*.{part}" for containers in ("containers", "initContainers") for part in _RESIZED
    ),
}
"""By subresource of pods: the only fields that a write to it can own."""


def owned_fields(kind: Kind, subresource: str = "") -> Filter:
    """The fields that a write to this part of a kind can own."""
    if kind.group_kind == ("", "Pod") and subresource in _OWNED_PARTS:
        return Filter(keep=_fields(_OWNED_PARTS[subresource]))
    return Filter(_fields(_reset(kind, subresource)))


def _reset(kind: Kind, subresource: str) -> tuple[str, ...]:
    strategy = strategy_of(kind)
    if subresource in strategy.reset_fields:
        return strategy.reset_fields[subresource]
    if subresource == "status":
        return ("spec",) if strategy.status_owns_metadata else ("metadata", "spec")
    return ("status",) if not subresource and "status" in kind.subresources else ()


@cache
def _fields(names: tuple[str, ...]) -> FieldSet:
    return from_paths(tuple(ANY if part == ANY else field(part) for part in name.split(".")) for name in names)
