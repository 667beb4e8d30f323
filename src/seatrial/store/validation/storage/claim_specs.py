"""Validation of PersistentVolumeClaimSpec, of claims and of claim templates.

Upstream: ValidatePersistentVolumeClaimSpec of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid, required, unsupported
from seatrial.store.object_meta import label_faults, subdomain_faults
from seatrial.store.validation.formats import each, needed, subdomain
from seatrial.store.validation.quantities import amount, positive_amount
from seatrial.store.validation.selectors import label_selector

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")


def claim_spec(spec: Document, path: str) -> Iterator[Cause]:
    """Modes, size, class and source of a claim."""
    modes = spec.get("accessModes") or ()
    if not modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from label_selector(spec.get("selector"), f"{path}.selector")
    yield from access_modes(modes, f"{path}.accessModes")
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    where = f"{path}.resources[storage]"
    if size is None:
        yield required(where)
    else:
        wrong = list(positive_amount(size, where))
        yield from wrong or amount("storage", size, where)
    if spec.get("storageClassName"):
        yield from subdomain(spec["storageClassName"], f"{path}.storageClassName")
    yield from volume_mode(spec.get("volumeMode"), f"{path}.volumeMode")
    yield from _sources(spec, path)
    if spec.get("volumeAttributesClassName"):
        yield from subdomain(spec["volumeAttributesClassName"], f"{path}.volumeAttributesClassName")


def access_modes(modes: Sequence[str], path: str) -> Iterator[Cause]:
    """Validate accessModes."""
    for mode in modes:
        if mode not in ACCESS_MODES:
            yield unsupported(path, mode, ACCESS_MODES)
    known = {mode for mode in modes if mode in ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


def volume_mode(mode: str | None, path: str) -> Iterator[Cause]:
    """Whether a volume is a directory or a device."""
    if mode is not None and mode not in VOLUME_MODES:
        yield unsupported(path, mode, VOLUME_MODES)


def _sources(spec: Document, path: str) -> Iterator[Cause]:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None:
        yield from _source(source, f"{path}.dataSource")
    namespace = reference.get("namespace") if reference is not None else None
    if reference is not None:
        yield from _source(reference, f"{path}.dataSourceRef")
        if namespace:
            yield from each(label_faults, namespace, f"{path}.dataSourceRef.namespace")
    if source is None or reference is None:
        return
    if namespace:
        yield invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif [source.get(key) for key in ("apiGroup", "kind", "name")] != [
        reference.get(key) for key in ("apiGroup", "kind", "name")
    ]:
        yield invalid(path, {}, "must match dataSourceRef")


def _source(source: Document, path: str) -> Iterator[Cause]:
    yield from needed(source, path, "name", "kind")
    group = source.get("apiGroup") or ""
    if not group and source.get("kind") != "PersistentVolumeClaim":
        why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield invalid(path, source.get("kind", ""), why)
    if group:
        yield from each(subdomain_faults, group, f"{path}.apiGroup")
