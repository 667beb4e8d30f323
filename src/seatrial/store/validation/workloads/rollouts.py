"""Validation of update strategies, with the numbers or percentages that bound them.

Upstream: the update strategies of pkg/apis/apps/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.integers import int_of
from seatrial.store.field_errors import Struct, forbidden, invalid, required, unsupported
from seatrial.store.validation.formats import not_negative, percent_faults
from seatrial.store.validation.go_values import go_struct

Bound = int | str


def number_or_percent(bound: Bound, path: str) -> Iterator[Cause]:
    """A count or a share, not below zero."""
    if isinstance(bound, str):
        for fault in percent_faults(bound):
            yield invalid(path, bound, fault)
    else:
        yield from not_negative(bound, path)


def at_most_all(bound: Bound, path: str) -> Iterator[Cause]:
    """A share is at most the whole."""
    if isinstance(bound, str) and not percent_faults(bound) and int_of(bound[:-1]) > 100:
        yield invalid(path, bound, "must not be greater than 100%")


def _value(bound: Bound) -> int:
    if isinstance(bound, int):
        return bound
    return int_of(bound.removesuffix("%"))


def deployment_strategy(strategy: Document, path: str) -> Iterator[Cause]:
    """Recreate, or a rolling update within bounds."""
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            yield forbidden(f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
    elif kind == "RollingUpdate":
        if rolling is None:
            yield required(f"{path}.rollingUpdate", "this should be defaulted and never be nil")
            return
        unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
        yield from number_or_percent(unavailable, f"{path}.rollingUpdate.maxUnavailable")
        yield from number_or_percent(surge, f"{path}.rollingUpdate.maxSurge")
        if not _value(unavailable) and not _value(surge):
            yield invalid(f"{path}.rollingUpdate.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
        yield from at_most_all(unavailable, f"{path}.rollingUpdate.maxUnavailable")
    else:
        yield unsupported(path, _shown(strategy, ("maxUnavailable", "maxSurge")), ("Recreate", "RollingUpdate"))


def rolling_daemon_set(strategy: Document, path: str) -> Iterator[Cause]:
    """On delete, or a rolling update that takes pods down first or up first."""
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        yield unsupported(path, _shown(strategy, ("maxUnavailable", "maxSurge")), ("RollingUpdate", "OnDelete"))
        return
    if rolling is None:
        yield required(f"{path}.rollingUpdate")
        return
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    for check in (number_or_percent, at_most_all):
        yield from check(unavailable, f"{path}.rollingUpdate.maxUnavailable")
        yield from check(surge, f"{path}.rollingUpdate.maxSurge")
    if _value(unavailable) and _value(surge):
        yield invalid(f"{path}.rollingUpdate.maxSurge", surge, "may not be set when maxUnavailable is non-zero")
    elif not _value(unavailable) and not _value(surge):
        yield required(f"{path}.rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0")


def rolling_stateful_set(strategy: Document, path: str) -> Iterator[Cause]:
    """On delete, or a rolling update down to a partition."""
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if not kind:
        yield required(path)
    elif kind == "OnDelete":
        if rolling is not None:
            shown = go_struct(rolling, ("partition", "maxUnavailable"), {"partition": 0})
            yield invalid(f"{path}.rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")
    elif kind == "RollingUpdate":
        if rolling is not None:
            yield from not_negative(rolling.get("partition", 0), f"{path}.rollingUpdate.partition")
    else:
        shown = _shown(strategy, ("partition", "maxUnavailable"))
        yield invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")


def _shown(strategy: Document, fields: tuple[str, ...]) -> Struct:
    rolling = strategy.get("rollingUpdate")
    zero = ("partition",) if "partition" in fields else fields
    inner = go_struct(rolling, fields, dict.fromkeys(zero, 0)) if rolling is not None else None
    return Struct({"Type": strategy.get("type", ""), "RollingUpdate": inner})
