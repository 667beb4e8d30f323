"""Subresources: the part of an object that each may change; the rest is kept from the old object.

Upstream: the status, ephemeralContainers, resize, approval and finalize strategies of pkg/registry.
"""

from collections.abc import Callable

from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.store.registry.kinds import strategy_of

RESIZABLE = ("resources", "resizePolicy")


def narrow(kind: Kind, document: Document, old: Document, subresource: str) -> Document:
    """The old object with the part of the new one that this subresource may change."""
    if not subresource:
        if "status" in kind.subresources:
            document = _with(document, "status", old)
        return document
    change = _DOORS.get(subresource)
    if change is None or subresource not in kind.subresources:
        raise NotFound("the server could not find the requested resource", detailed=True)
    return change(kind, document, old)


def _status(kind: Kind, document: Document, old: Document) -> Document:
    strategy, metadata = strategy_of(kind), dict(document["metadata"])
    if strategy.status_keeps_metadata:
        kept = {**old["metadata"]}
        kept.pop("managedFields", None)
        metadata = {**kept, **{key: metadata[key] for key in ("managedFields",) if key in metadata}}
    else:
        metadata = _with(metadata, "ownerReferences", old["metadata"])
        if strategy.status_keeps_labels:
            metadata = _with(metadata, "labels", old["metadata"])
    return _with({**old, "metadata": metadata}, "status", document)


def _approval(kind: Kind, document: Document, old: Document) -> Document:
    """Approving a certificate request only sets its conditions."""
    status = _with(dict(old.get("status") or {}), "conditions", document.get("status") or {})
    return {**old, "metadata": document["metadata"], "status": status}


def _finalize(kind: Kind, document: Document, old: Document) -> Document:
    return _with(document, "status", old)


def _ephemeral_containers(kind: Kind, document: Document, old: Document) -> Document:
    spec = _with(dict(old.get("spec") or {}), "ephemeralContainers", document.get("spec") or {})
    return {**old, "metadata": document["metadata"], "spec": spec}


def _resize(kind: Kind, document: Document, old: Document) -> Document:
    spec, wanted = dict(old.get("spec") or {}), document.get("spec") or {}
    for key in ("containers", "initContainers"):
        if key in spec:
            asked = {container.get("name"): container for container in wanted.get(key) or ()}
            spec[key] = [_resized(container, asked.get(container.get("name"), container)) for container in spec[key]]
    return {**old, "metadata": document["metadata"], "spec": _with(spec, "resources", wanted)}


def _resized(container: Document, wanted: Document) -> Document:
    for key in RESIZABLE:
        container = _with(container, key, wanted)
    return container


def _with(document: Document, key: str, source: Document) -> Document:
    """A shallow copy whose `key` is that of `source`, or absent as there."""
    document = dict(document)
    if key in source:
        document[key] = source[key]
    else:
        document.pop(key, None)
    return document


_DOORS: dict[str, Callable[[Kind, Document, Document], Document]] = {
    "status": _status,
    "approval": _approval,
    "finalize": _finalize,
    "ephemeralcontainers": _ephemeral_containers,
    "resize": _resize,
}
