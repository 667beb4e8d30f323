"""What the API server makes of the manifests of a case: defaults, priorities, merged label keys, uids."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

from seatrial.model.builtin import builtin_kinds
from seatrial.model.defaults import GatedFields, apply_defaults
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.store import Request, Store
from seatrial.store.admission import Reader, merge_label_keys, set_priority

_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_KINDS: dict[tuple[str, str], Kind] = {}


class CaseReader(Reader):
    """Lets admission look up the classes of a case instead of those of a store."""

    def __init__(self, classes: Sequence[Document]) -> None:
        super().__init__()
        self._classes = {entry["metadata"]["name"]: entry for entry in classes}

    def find(self, store: Store, api_version: str, kind: str, name: str, namespace: str = "") -> Document | None:
        return self._classes.get(name) if kind == "PriorityClass" else None

    def all(self, store: Store, api_version: str, kind: str, namespace: str = "") -> list[Document]:
        return list(self._classes.values()) if kind == "PriorityClass" else []


def admit(objects: Iterable[Document], gates: Mapping[str, bool]) -> list[Document]:
    """The objects as they would be stored, without fields of gates that are off; the given ones are left alone."""
    admitted = [deepcopy(document) for document in objects]
    reader = CaseReader([_defaulted(document) for document in admitted if document["kind"] == "PriorityClass"])
    gated_fields = GatedFields(gates)
    for document in admitted:
        if document["kind"] == "Pod":
            _admit_pod(document, reader)
        elif document["kind"] != "PriorityClass":
            _defaulted(document)
        gated_fields.apply(document)
        metadata = document["metadata"]
        if document["kind"] in ("ResourceClaim", "PersistentVolumeClaim"):
            metadata.setdefault("namespace", "default")
        if document["kind"] == "ResourceClaim":
            metadata.setdefault("uid", f"claim/{metadata['namespace']}/{metadata['name']}")
    return admitted


def _admit_pod(pod: Document, reader: CaseReader) -> None:
    metadata, kind = pod["metadata"], kind_of(pod)
    assert kind is not None
    metadata.setdefault("namespace", "default")
    metadata.setdefault("uid", f"{metadata['namespace']}/{metadata['name']}")
    no_store = cast(Store, None)
    request = Request(no_store, "CREATE", kind, metadata["namespace"], metadata["name"], pod, None, "", "verify")
    if pod["spec"].get("priority") is None:
        given = pod["spec"].pop("preemptionPolicy", None)  # refused by the server, but the recording kept it
        set_priority(request, reader)
        pod["spec"]["preemptionPolicy"] = given or pod["spec"]["preemptionPolicy"]
    _defaulted(pod)
    merge_label_keys(request, reader)


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
