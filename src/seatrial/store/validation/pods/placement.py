"""Validation of affinity, tolerations, topology spread constraints and scheduling gates.

Upstream: validateAffinity, ValidateTolerations, validateTopologySpreadConstraints and validateSchedulingGates of
pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.integers import int_of
from seatrial.model.label_selectors import label_value_faults
from seatrial.store.field_errors import duplicate, forbidden, invalid, required, unsupported
from seatrial.store.object_meta import label_faults
from seatrial.store.validation.formats import decimal_faults, positive, qualified
from seatrial.store.validation.formats import each as each_fault
from seatrial.store.validation.rules import Check, Row, always, among, each, present, ranged, rules
from seatrial.store.validation.selectors import label_selector, node_selector, node_selector_term

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION = rules(*(present(key, among("Honor", "Ignore")) for key in ("nodeAffinityPolicy", "nodeTaintsPolicy")))


def _weighted(key: str, check: Check) -> Row:
    """Preferred terms, each with its weight."""
    return each(_PREFERRED, rules(_WEIGHT, _inside(key, check)))


def _inside(key: str, check: Check) -> Check:
    return lambda holder, path: check(holder.get(key) or {}, f"{path}.{key}")


_WEIGHT = always("weight", ranged(1, 100, "must be in the range 1-100"), zero=0)


def _pod_term(term: Document, path: str) -> Iterator[Cause]:
    selector = term.get("labelSelector")
    yield from label_selector(selector, f"{path}.labelSelector")
    yield from label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for namespace in term.get("namespaces") or ():
        yield from each_fault(label_faults, namespace, f"{path}.namespace")
    yield from _label_keys(term, selector, path)
    topology = term.get("topologyKey", "")
    if not topology:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from qualified(topology, f"{path}.topologyKey")


def _label_keys(term: Document, selector: Document | None, path: str) -> Iterator[Cause]:
    """matchLabelKeys and mismatchLabelKeys need a selector, and do not say what it says already."""
    matching, differing = term.get("matchLabelKeys") or (), term.get("mismatchLabelKeys") or ()
    for name, keys in (("matchLabelKeys", matching), ("mismatchLabelKeys", differing)):
        if keys and selector is None:
            yield forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set")
        else:
            for index, key in enumerate(keys):
                yield from qualified(key, f"{path}.{name}[{index}]")
    if selector is not None:
        places = {key: index for index, key in enumerate(matching)}
        asked = set(selector.get("matchLabels") or ())
        for expression in selector.get("matchExpressions") or ():
            key = expression.get("key", "")
            if key in places and key in asked:
                why = "exists in both matchLabelKeys and labelSelector"
                yield invalid(f"{path}[{places[key]}]", key, why)
            asked.add(key)
    refused = set(differing)
    for index, key in enumerate(matching):
        if key in refused:
            why = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid(f"{path}.matchLabelKeys[{index}]", key, why)


def _preference(term: Document, path: str) -> Iterator[Cause]:
    return node_selector_term(term, path, any_value=True)


_PODS = rules(each(_REQUIRED, _pod_term), _weighted("podAffinityTerm", _pod_term))
affinity = rules(
    present("nodeAffinity", rules(present(_REQUIRED, node_selector), _weighted("preference", _preference))),
    present("podAffinity", _PODS),
    present("podAntiAffinity", _PODS),
)
"""To which nodes and pods a pod is drawn, or not."""


def spreading(constraints: Sequence[Document], path: str) -> Iterator[Cause]:
    """Validate topologySpreadConstraints."""
    last = {(c.get("topologyKey", ""), c.get("whenUnsatisfiable", "")): index for index, c in enumerate(constraints)}
    for index, constraint in enumerate(constraints):
        where = f"{path}[{index}]"
        yield from positive(constraint.get("maxSkew", 0), f"{where}.maxSkew")
        topology, action = constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
        if not topology:
            yield required(f"{where}.topologyKey", "can not be empty")
        if action not in _ACTIONS:
            yield unsupported(f"{where}.whenUnsatisfiable", action, _ACTIONS)
        if last[topology, action] > index:
            yield duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", f"{{{topology}, {action}}}")
        if (least := constraint.get("minDomains")) is not None:
            yield from positive(least, f"{where}.minDomains")
            if action != "DoNotSchedule":
                why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
                yield invalid(f"{where}.minDomains", least, why)
        yield from _INCLUSION(constraint, where)
        selector = constraint.get("labelSelector")
        keys = {"matchLabelKeys": constraint.get("matchLabelKeys")}
        yield from _label_keys(keys, selector, where)
        yield from label_selector(selector, f"{where}.labelSelector")


def tolerations(given: Sequence[Document], path: str) -> Iterator[Cause]:
    """Validate tolerations."""
    for index, toleration in enumerate(given):
        where = f"{path}[{index}]"
        key, operator = toleration.get("key", ""), toleration.get("operator", "")
        value, taint_effect = toleration.get("value", ""), toleration.get("effect", "")
        if key:
            yield from qualified(key, f"{where}.key")
        elif operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield invalid(f"{where}.operator", operator, why)
        if toleration.get("tolerationSeconds") is not None and taint_effect != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid(f"{where}.effect", taint_effect, why)
        if operator in ("Equal", ""):
            if faults := label_value_faults(value):
                yield invalid(f"{where}.operator", value, ";".join(faults))
        elif operator == "Exists":
            if value:
                yield invalid(f"{where}.operator", value, "value must be empty when `operator` is 'Exists'")
        elif operator in ("Lt", "Gt"):
            yield from _number(value, f"{where}.value")
        else:
            yield unsupported(f"{where}.operator", operator, ("Equal", "Exists"))
        if taint_effect:
            yield from effect(taint_effect, f"{where}.effect")


def _number(value: str, path: str) -> Iterator[Cause]:
    """Validate the value of Lt and Gt, which upstream has behind a gate that is off; our scheduler supports them."""
    faults = decimal_faults(value)
    yield from each_fault(decimal_faults, value, path)
    if not faults and not -(2**63) <= int_of(value) < 2**63:
        yield invalid(path, value, f'strconv.ParseInt: parsing "{value}": value out of range')


def effect(given: str, path: str) -> Iterator[Cause]:
    """Validate the effect of a taint."""
    if not given:
        yield required(path)
    elif given not in EFFECTS:
        yield unsupported(path, given, EFFECTS)


def scheduling_gates(gates: Sequence[Document], path: str) -> Iterator[Cause]:
    """Validate schedulingGates."""
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        yield from qualified(name, f"{path}[{index}]")
        if name in seen:
            yield duplicate(f"{path}[{index}]", name)
        seen.add(name)
