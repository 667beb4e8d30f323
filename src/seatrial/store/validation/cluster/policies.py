"""Small kinds that rule others: PodDisruptionBudget, PriorityClass, Namespace and Lease.

Upstream: pkg/apis/{policy,scheduling,coordination}/validation and ValidateNamespace… of core's.
"""

import re
from collections.abc import Iterator, Sequence
from math import inf

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.label_selectors import label_key_faults
from seatrial.store.field_errors import Struct, duplicate, forbidden, invalid, unsupported
from seatrial.store.validation.formats import not_negative, qualified
from seatrial.store.validation.pods.pod_specs import PREEMPTION
from seatrial.store.validation.rules import (
    always,
    among,
    filled,
    given,
    longest,
    need,
    of_spec,
    present,
    ranged,
    rules,
    unchanged,
    valid,
)
from seatrial.store.validation.selectors import label_selector
from seatrial.store.validation.workloads.rollouts import at_most_all, number_or_percent
from seatrial.store.validation.workloads.workloads import selector_of

_EVICTIONS = ("AlwaysAllow", "IfHealthyBudget")
_HIGHEST = 1_000_000_000
_SYSTEM = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_NO_REASON = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
    f"'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '{_REASON}')"
)


def budget_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a PodDisruptionBudget."""
    spec = document.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if least is not None and most is not None:
        shown = {"MinAvailable": least, "Selector": selector_of(spec.get("selector")), "MaxUnavailable": most}
        why = "minAvailable and maxUnavailable cannot be both set"
        yield invalid("spec", Struct({**shown, "UnhealthyPodEvictionPolicy": policy}), why)
    for key, bound in (("minAvailable", least), ("maxUnavailable", most)):
        if bound is not None:
            yield from number_or_percent(bound, f"spec.{key}")
            yield from at_most_all(bound, f"spec.{key}")
    yield from label_selector(spec.get("selector"), "spec.selector")
    if policy is not None and policy not in _EVICTIONS:
        yield unsupported("spec.unhealthyPodEvictionPolicy", policy, _EVICTIONS)


def budget_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a PodDisruptionBudget."""
    if subresource != "status":
        if document.get("spec") != old.get("spec"):
            yield from budget_causes(document)
        return
    status = document.get("status") or {}
    yield from conditions(status.get("conditions") or (), "status.conditions")
    yield from _COUNTS(status, "status")


_COUNTS = rules(
    *(present(key, not_negative) for key in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"))
)


def conditions(given: Sequence[Document], path: str) -> Iterator[Cause]:
    """Conditions of the common shape."""
    seen: dict[str, int] = {}
    for index, condition in enumerate(given):
        kind = condition.get("type", "")
        if kind in seen:
            yield duplicate(f"{path}[{index}].type", kind)
        seen.setdefault(kind, index)
        yield from _CONDITION(condition, f"{path}[{index}]")


_CONDITION = rules(
    always("type", qualified),
    always("status", among("False", "True", "Unknown")),
    present("observedGeneration", not_negative),
    need("lastTransitionTime"),
    need("reason", valid(lambda reason: () if re.fullmatch(_REASON, reason) else (_NO_REASON,)), longest(1024)),
    given("message", longest(32 * 1024)),
)


def priority_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new PriorityClass."""
    name, value = document["metadata"].get("name", ""), document.get("value", 0)
    if name.startswith("system-"):
        if fault := _system_fault(name, value, document.get("globalDefault", False)):
            why = "priority class names with 'system-' prefix are reserved for system use only. error: "
            yield forbidden("metadata.name", f"{why}{fault}")
    elif value > _HIGHEST:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {_HIGHEST}")
    yield from _PRIORITY(document, "")


_PRIORITY = rules(present("preemptionPolicy", filled), given("preemptionPolicy", PREEMPTION))


def _system_fault(name: str, value: int, is_default: bool) -> str:
    if name not in _SYSTEM:
        return f"{name} is not a known system priority class"
    if value != _SYSTEM[name]:
        return f"value of {name} PriorityClass must be {_SYSTEM[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


def priority_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a PriorityClass."""
    if document.get("value", 0) != old.get("value", 0):
        yield forbidden("value", "may not be changed in an update.")
    yield from unchanged(document, old, "preemptionPolicy", path="")


def _finalizers(given: Sequence[str], path: str, *, indexed: bool) -> Iterator[Cause]:
    for index, name in enumerate(given):
        where = f"{path}[{index}]" if indexed else path
        for fault in label_key_faults(name):
            yield invalid(where, name, fault)
        if "/" not in name and name not in _FINALIZERS:
            yield invalid(where, name, "name is neither a standard finalizer name nor is it fully qualified")


def namespace_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a Namespace."""
    return _finalizers((document.get("spec") or {}).get("finalizers") or (), "spec.finalizers", indexed=False)


def namespace_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a Namespace."""
    if subresource == "status":
        phase, ends = (document.get("status") or {}).get("phase", ""), "deletionTimestamp" in document["metadata"]
        if not ends and phase != "Active":
            yield invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")
        if ends and phase != "Terminating":
            yield invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
    else:
        given = (document.get("spec") or {}).get("finalizers") or ()
        yield from _finalizers(given, "spec.finalizers", indexed=subresource == "finalize")


lease_causes = of_spec(
    rules(
        present("leaseDurationSeconds", ranged(1, inf, "must be greater than 0")),
        present("leaseTransitions", not_negative),
    )
)
"""Validation errors of a Lease."""
