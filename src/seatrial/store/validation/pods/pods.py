"""Pods: what is wrong with a new one, and what may become of one.

Upstream: ValidatePodCreate, ValidatePodUpdate and ValidatePodEphemeralContainersUpdate of
pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterable, Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid
from seatrial.store.validation.formats import MOST_INT32, between
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.pods.placement import tolerations
from seatrial.store.validation.pods.pod_annotations import (
    MIRROR,
    NOWHERE,
    agreement_causes,
    annotation_causes,
    annotation_update_causes,
)
from seatrial.store.validation.pods.pod_specs import pod_spec_causes
from seatrial.store.validation.pods.pod_statuses import status_causes
from seatrial.store.validation.pods.resizing import resize_causes

GROWN = forbidden("spec.ephemeralContainers", "cannot be set on create")
"""Validation errors of a new pod, but not with one that has lived."""
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_ANNOTATIONS = "metadata.annotations"
MUTABLE = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    )
)


def create_causes(pod: Document) -> list[Cause]:
    """Validation errors of a new pod."""
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    annotations = metadata.get("annotations")
    found = list(annotation_causes(annotations, spec, _ANNOTATIONS)) if annotations else []
    found += _static(pod) if annotations else ()
    found += pod_spec_causes(spec, "spec", is_pod=True, name=metadata.get("name", ""))
    if spec.get("ephemeralContainers"):
        found.append(GROWN)
    if spec.get("nodeName") and spec.get("schedulingGates"):
        found.append(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))
    if annotations:
        found += agreement_causes(annotations, spec, "spec")
    return found


def _static(pod: Document) -> Iterator[Cause]:
    if MIRROR in (pod["metadata"].get("annotations") or {}) and (pod.get("spec") or {}).get("resourceClaims"):
        yield forbidden(NOWHERE, "static pods do not support resource claims")


def update_causes(pod: Document, old: Document, subresource: str) -> Iterable[Cause]:
    """Errors of a pod update through this subresource."""
    annotations, earlier = (each["metadata"].get("annotations") or {} for each in (pod, old))
    changed = [] if annotations == earlier else list(annotation_update_causes(annotations, earlier, _ANNOTATIONS))
    if annotations != earlier:
        changed += annotation_causes(annotations, pod.get("spec") or {}, _ANNOTATIONS)
        changed += _static(pod)
    if subresource == "status":
        return [*changed, *status_causes(pod, old)]
    spec, before = pod.get("spec") or {}, old.get("spec") or {}
    if spec == before:
        return changed
    changed += _new_spec_causes(pod, old)
    if subresource == "resize":
        return resize_causes(pod, old, changed)
    if subresource == "ephemeralcontainers":
        return _joined(spec, before, earlier, changed)
    return [*changed, *_spec_update(spec, before)]


def _new_spec_causes(pod: Document, old: Document) -> Iterator[Cause]:
    """Validation errors of an update of a spec; existing errors may stay, as upstream allows."""
    name = pod["metadata"].get("name", "")
    wrong = pod_spec_causes(pod.get("spec") or {}, "spec", is_pod=True, name=name)
    if wrong:
        known = set(pod_spec_causes(old.get("spec") or {}, "spec", is_pod=True, name=name))
        yield from (cause for cause in wrong if cause not in known)


def _joined(spec: Document, old: Document, annotations: Document, found: list[Cause]) -> list[Cause]:
    if MIRROR in annotations:
        return [forbidden(NOWHERE, "static pods do not support ephemeral containers")]
    path, new = "spec.ephemeralContainers", {c.get("name"): c for c in spec.get("ephemeralContainers") or ()}
    for container in old.get("ephemeralContainers") or ():
        name = container.get("name")
        if name not in new:
            found.append(forbidden(path, f'existing ephemeral containers "{name}" may not be removed\n'))
        elif new[name] != container:
            found.append(forbidden(path, f'existing ephemeral containers "{name}" may not be changed\n'))
    return found


def _spec_update(spec: Document, old: Document) -> Iterator[Cause]:
    for key in ("containers", "initContainers"):
        if len(spec.get(key) or ()) != len(old.get(key) or ()):
            yield forbidden(f"spec.{key}", "pod updates may not add or remove containers")
            return
    deadline, before = spec.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")
    if deadline is not None and not 0 <= deadline <= MOST_INT32:
        yield invalid("spec.activeDeadlineSeconds", deadline, between(0, MOST_INT32))
        return
    if deadline is not None and before is not None and before < deadline:
        yield invalid("spec.activeDeadlineSeconds", deadline, "must be less than or equal to previous value")
        return
    if deadline is None and before is not None:
        why = "must not update from a positive integer to nil value"
        yield invalid("spec.activeDeadlineSeconds", None, why)
    yield from _added_tolerations(spec.get("tolerations") or [], old.get("tolerations") or [])
    yield from _removed_gates(spec.get("schedulingGates") or (), old.get("schedulingGates") or ())
    munged = _munged(spec, old)
    if old.get("schedulingGates"):
        yield from _gated(munged, old)
    if munged != old:
        yield forbidden("spec", f"pod updates may not change fields other than {MUTABLE}\n")


def _munged(spec: Document, old: Document) -> Document:
    """The new spec with all that may change as it was before."""
    munged = dict(spec)
    for key in ("containers", "initContainers"):
        if key in spec and key in old:
            pairs = zip(spec[key], old[key], strict=True)
            munged[key] = [{**new, "image": before.get("image")} for new, before in pairs]
    for key in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        munged.pop(key, None)
        if key in old:
            munged[key] = old[key]
    grace = old.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0 and munged.get("terminationGracePeriodSeconds") == 1:
        munged["terminationGracePeriodSeconds"] = grace
    return munged


def _added_tolerations(new: list[Document], old: list[Document]) -> Iterator[Cause]:
    bare = {_without_seconds(toleration) for toleration in new}
    if any(_without_seconds(toleration) not in bare for toleration in old):
        why = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden("spec.tolerations", why)
    elif new != old:
        yield from tolerations(new, "spec.tolerations")


def _without_seconds(toleration: Document) -> tuple[str | None, ...]:
    return tuple(toleration.get(key) for key in ("key", "operator", "value", "effect"))


def _removed_gates(new: Iterable[Document], old: Iterable[Document]) -> Iterator[Cause]:
    known = {gate.get("name") for gate in old}
    for index, gate in enumerate(new):
        if gate.get("name") not in known:
            why = f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", why)


def _gated(munged: Document, old: Document) -> Iterator[Cause]:
    """A pod that waits may still be confined to fewer nodes."""
    selector, before = munged.get("nodeSelector") or {}, old.get("nodeSelector") or {}
    if selector != before:
        if any(selector.get(key) != value for key, value in before.items()):
            why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            yield invalid("spec.nodeSelector", selector or None, why)
        _restore(munged, old, "nodeSelector")
    affinity, earlier = munged.get("affinity") or {}, old.get("affinity") or {}
    wanted, known = affinity.get("nodeAffinity"), earlier.get("nodeAffinity")
    if wanted != known:
        yield from _narrowed(wanted or {}, known or {})
        munged["affinity"] = affinity = dict(affinity)
        _restore(affinity, earlier, "nodeAffinity")
        if not affinity and "affinity" not in old:
            del munged["affinity"]


def _restore(document: Document, source: Document, key: str) -> None:
    document.pop(key, None)
    if key in source:
        document[key] = source[key]


def _narrowed(new: Document, old: Document) -> Iterator[Cause]:
    path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    before = (old.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    terms = (new.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    if before and len(before) != len(terms):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield invalid(path, [_term(term) for term in terms] or None, why)
        return
    for index, (term, earlier) in enumerate(zip(terms, before, strict=False)):
        parts = [(term.get(key) or [], earlier.get(key) or []) for key in ("matchExpressions", "matchFields")]
        empty = not any(was for _, was in parts) and any(now for now, _ in parts)
        if empty or any(now[: len(was)] != was for now, was in parts):
            why = "only additions are allowed (no mutations or deletions)"
            yield invalid(f"{path}[{index}]", _term(term), why)


def _term(term: Document) -> Document:
    def shown(requirements: list[Document] | None) -> list[Document] | None:
        fields = ("key", "operator", "values")
        return [go_struct(each, fields) for each in requirements] if requirements else None

    parts = {key: shown(term.get(key)) for key in ("matchExpressions", "matchFields")}
    return go_struct(parts, ("matchExpressions", "matchFields"))
