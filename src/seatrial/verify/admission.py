"""What the API server makes of the manifests of a case: defaults, priorities, merged label keys, uids.

Upstream: plugin/pkg/admission/priority, pkg/registry/core/pod/strategy.go (v1.36.3).
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from seatrial.model.builtin import builtin_kinds
from seatrial.model.defaults import apply_defaults
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind

_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_KINDS: dict[tuple[str, str], Kind] = {}


def admit(objects: Iterable[Document]) -> list[Document]:
    """The objects as they would be stored; the given ones are left alone."""
    admitted = [deepcopy(document) for document in objects]
    classes = [_defaulted(document) for document in admitted if document["kind"] == "PriorityClass"]
    for document in admitted:
        if document["kind"] == "Pod":
            _admit_pod(document, {entry["metadata"]["name"]: entry for entry in classes}, _global(classes))
        elif document["kind"] != "PriorityClass":
            _defaulted(document)
        metadata = document["metadata"]
        if document["kind"] in ("ResourceClaim", "PersistentVolumeClaim"):
            metadata.setdefault("namespace", "default")
        if document["kind"] == "ResourceClaim":
            metadata.setdefault("uid", f"claim/{metadata['namespace']}/{metadata['name']}")
    return admitted


def _admit_pod(pod: Document, classes: Mapping[str, Document], default: Document | None) -> None:
    metadata, spec = pod["metadata"], pod["spec"]
    metadata.setdefault("namespace", "default")
    metadata.setdefault("uid", f"{metadata['namespace']}/{metadata['name']}")
    if spec.get("priority") is None:
        chosen = classes[spec["priorityClassName"]] if spec.get("priorityClassName") else default
        spec["priority"] = 0 if chosen is None else chosen.get("value", 0)
        if chosen is not None:
            spec["priorityClassName"] = chosen["metadata"]["name"]
            if chosen.get("preemptionPolicy"):
                spec.setdefault("preemptionPolicy", chosen["preemptionPolicy"])
    _defaulted(pod)
    merge_label_keys(pod)


def merge_label_keys(pod: Document) -> None:
    """Writes matchLabelKeys and mismatchLabelKeys into the selectors they belong to."""
    labels, spec = pod["metadata"].get("labels") or {}, pod["spec"]
    affinity = spec.get("affinity") or {}
    for group in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(group) or {}
        for entry in terms.get(_PREFERRED) or ():
            _merge(entry["podAffinityTerm"], labels)
        for term in terms.get(_REQUIRED) or ():
            _merge(term, labels)
    for constraint in spec.get("topologySpreadConstraints") or ():
        _merge(constraint, labels)


def _merge(term: Document, labels: Mapping[str, str]) -> None:
    selector = term.get("labelSelector")
    if selector is None:
        return
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(field) or ():
            if key in labels:
                requirement = {"key": key, "operator": operator, "values": [labels[key]]}
                selector.setdefault("matchExpressions", []).append(requirement)


def admitted_fields(pod: Document) -> Document | None:
    """The fields of a pod that admission changed, where it did."""
    spec = pod["spec"]
    fields: Document = {"priority": spec["priority"]}
    if spec.get("preemptionPolicy", "PreemptLowerPriority") != "PreemptLowerPriority":
        fields["preemptionPolicy"] = spec["preemptionPolicy"]
    if _uses_label_keys(spec.get("affinity") or {}):
        fields["affinity"] = spec["affinity"]
    constraints = spec.get("topologySpreadConstraints") or ()
    if any(constraint.get("matchLabelKeys") for constraint in constraints):
        fields["topologySpreadConstraints"] = constraints
    return fields if fields != {"priority": 0} else None


def _uses_label_keys(affinity: Mapping[str, Any]) -> bool:
    for group in ("podAffinity", "podAntiAffinity"):
        entries = affinity.get(group) or {}
        terms = [entry["podAffinityTerm"] for entry in entries.get(_PREFERRED) or ()] + (entries.get(_REQUIRED) or [])
        if any(term.get("matchLabelKeys") or term.get("mismatchLabelKeys") for term in terms):
            return True
    return False


def _global(classes: Iterable[Document]) -> Document | None:
    defaults = [entry for entry in classes if entry.get("globalDefault")]
    return min(defaults, key=lambda entry: entry.get("value", 0), default=None)


def _defaulted(document: Document) -> Document:
    kind = kind_of(document)
    if kind is not None:
        apply_defaults(kind, document)
    return document


def kind_of(document: Document) -> Kind | None:
    """The built-in kind of a document."""
    if not _KINDS:
        _KINDS.update(((kind.api_version, kind.kind), kind) for kind in builtin_kinds())
    return _KINDS.get((document.get("apiVersion", ""), document.get("kind", "")))
