"""Validation of PersistentVolumeClaimSpec, of claims and of claim templates.

Upstream: ValidatePersistentVolumeClaimSpec of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid, required, unsupported
from seatrial.store.validation.formats import label, subdomain
from seatrial.store.validation.quantities import amount, positive_amount
from seatrial.store.validation.rules import among, given, need, present, rules
from seatrial.store.validation.selectors import label_selector

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODE = present("volumeMode", among("Block", "Filesystem"))
_REFERENCE = ("apiGroup", "kind", "name")


def access_modes(modes: Sequence[str], path: str) -> Iterator[Cause]:
    """Validate accessModes."""
    for mode in modes:
        if mode not in ACCESS_MODES:
            yield unsupported(path, mode, ACCESS_MODES)
    known = {mode for mode in modes if mode in ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _size(spec: Document, path: str) -> Iterator[Cause]:
    size, where = ((spec.get("resources") or {}).get("requests") or {}).get("storage"), f"{path}.resources[storage]"
    if size is None:
        yield required(where)
    else:
        wrong = list(positive_amount(size, where))
        yield from wrong or amount("storage", size, where)


def _same_source(spec: Document, path: str) -> Iterator[Cause]:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is None or reference is None:
        return
    if reference.get("namespace"):
        yield invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif [source.get(key) for key in _REFERENCE] != [reference.get(key) for key in _REFERENCE]:
        yield invalid(path, {}, "must match dataSourceRef")


def _claim_source(source: Document, path: str) -> Iterator[Cause]:
    if not source.get("apiGroup") and source.get("kind") != "PersistentVolumeClaim":
        why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield invalid(path, source.get("kind", ""), why)


_SOURCE = need("name"), need("kind"), _claim_source, given("apiGroup", subdomain)
claim_spec = rules(
    need("accessModes", text="at least 1 access mode is required"),
    given("selector", label_selector),
    given("accessModes", access_modes),
    _size,
    given("storageClassName", subdomain),
    VOLUME_MODE,
    present("dataSource", rules(*_SOURCE)),
    present("dataSourceRef", rules(*_SOURCE, given("namespace", label))),
    _same_source,
    given("volumeAttributesClassName", subdomain),
)
"""Modes, size, class and source of a claim."""
