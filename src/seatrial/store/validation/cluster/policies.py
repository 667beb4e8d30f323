"""Small kinds that rule others: PodDisruptionBudget, PriorityClass, Namespace and Lease.

Upstream: pkg/apis/{policy,scheduling,coordination}/validation and ValidateNamespace… of core's.
"""

import re
from collections.abc import Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.label_selectors import label_key_faults
from seatrial.store.field_errors import Struct, duplicate, forbidden, invalid, required, too_long, unsupported
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.formats import not_negative, qualified
from seatrial.store.validation.pods.pod_specs import PREEMPTIONS
from seatrial.store.validation.selectors import label_selector
from seatrial.store.validation.workloads.rollouts import at_most_all, number_or_percent
from seatrial.store.validation.workloads.workloads import selector_of

_EVICTIONS = ("AlwaysAllow", "IfHealthyBudget")
_HIGHEST = 1_000_000_000
_SYSTEM = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"


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
    for key in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"):
        yield from not_negative(status.get(key), f"status.{key}")


def conditions(given: Sequence[Document], path: str) -> Iterator[Cause]:
    """Conditions of the common shape."""
    seen: dict[str, int] = {}
    for index, condition in enumerate(given):
        kind = condition.get("type", "")
        if kind in seen:
            yield duplicate(f"{path}[{index}].type", kind)
        seen.setdefault(kind, index)
        yield from _condition(condition, f"{path}[{index}]")


def _condition(condition: Document, path: str) -> Iterator[Cause]:
    kind, state, reason = condition.get("type", ""), condition.get("status", ""), condition.get("reason", "")
    yield from qualified(kind, f"{path}.type")
    if state not in ("True", "False", "Unknown"):
        yield unsupported(f"{path}.status", state, ("False", "True", "Unknown"))
    yield from not_negative(condition.get("observedGeneration"), f"{path}.observedGeneration")
    if not condition.get("lastTransitionTime"):
        yield required(f"{path}.lastTransitionTime")
    if not reason:
        yield required(f"{path}.reason")
    else:
        if not re.fullmatch(_REASON, reason):
            why = (
                "a condition reason must start with alphabetic character, optionally followed by a string of "
                "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' "
                f"(e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', "
                f"regex used for validation is '{_REASON}')"
            )
            yield invalid(f"{path}.reason", reason, why)
        if len(reason.encode()) > 1024:
            yield too_long(f"{path}.reason", 1024)
    if len(condition.get("message", "").encode()) > 32 * 1024:
        yield too_long(f"{path}.message", 32 * 1024)


def priority_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new PriorityClass."""
    name, value = document["metadata"].get("name", ""), document.get("value", 0)
    if name.startswith("system-"):
        if fault := _system_fault(name, value, document.get("globalDefault", False)):
            why = "priority class names with 'system-' prefix are reserved for system use only. error: "
            yield forbidden("metadata.name", f"{why}{fault}")
    elif value > _HIGHEST:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {_HIGHEST}")
    policy = document.get("preemptionPolicy")
    if policy == "":
        yield required("preemptionPolicy")
    elif policy is not None and policy not in PREEMPTIONS:
        yield unsupported("preemptionPolicy", policy, PREEMPTIONS)


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
    if document.get("preemptionPolicy") != old.get("preemptionPolicy"):
        yield invalid("preemptionPolicy", document.get("preemptionPolicy"), IMMUTABLE)


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


def lease_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a Lease."""
    spec = document.get("spec") or {}
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        yield invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
    if transitions is not None and transitions < 0:
        yield invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")


def lease_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a Lease."""
    return lease_causes(document)
