"""Updates an object: immutable parts are kept, and a write that changes nothing is not committed.

Upstream: k8s.io/apiserver/pkg/registry/rest/update.go (BeforeUpdate) and generic/registry/store.go (Update).
"""

from functools import partial
from typing import TYPE_CHECKING

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, Cause, Invalid
from seatrial.model.kinds import Kind
from seatrial.store.deferral import check_size, large, large_object, meaning, weigh
from seatrial.store.field_errors import refusal
from seatrial.store.managed_fields import only_times_differ, track_change
from seatrial.store.metadata import conflict, metadata_of, ordered, uid_mismatch
from seatrial.store.objects import Stored
from seatrial.store.options import PatchOptions, UpdateOptions, WriteOptions
from seatrial.store.registry import deleting
from seatrial.store.registry.kinds import strategy_of
from seatrial.store.registry.prepare import prepare_update
from seatrial.store.registry.service_addresses import address_change_causes, allocate, keep_allocated
from seatrial.store.registry.status_apart import put_beside, split, with_status
from seatrial.store.registry.strategy import Strategy
from seatrial.store.registry.subresources import narrow
from seatrial.store.requests import Request

if TYPE_CHECKING:
    from seatrial.store.store import Store

_IMMUTABLE = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


def update(
    store: "Store",
    kind: Kind,
    document: Document,
    current: Stored,
    *,
    writer: str,
    subresource: str,
    options: UpdateOptions | WriteOptions,
) -> Stored:
    """Replace an object by a document that was made from it."""
    check_identity(kind, metadata_of(document), current)
    weigh(current.size)
    given, kind = kind, store.versions.written_kind(kind)
    apart = split(store, kind, current, subresource)
    revision = apart.key
    old = large_object("old", lambda: revision, lambda _: apart.read(), None)
    if apart.status and isinstance(options, PatchOptions):
        metadata_of(document).setdefault("resourceVersion", old["metadata"]["resourceVersion"])
    document = large_object(
        "change",
        lambda: revision,
        lambda warnings: _made(store, given, document, old, subresource, options.warning(warnings)),
        options.warnings,
        partial(check_size, custom=kind.custom),
    )
    request = Request(
        store, "UPDATE", kind, current.namespace, current.name, document, old, subresource, writer,
        options.user, options.dry_run, options.warnings,
    )  # fmt: skip
    store.admission.admit(request)
    document = prepare(kind, request.document, old, subresource, store.clock.now())
    store.gated_fields.drop(document, old)
    if kind.group_kind == ("", "Service") and not subresource:
        keep_allocated(document, old)
        if causes := address_change_causes(document, old) or allocate(store, document):
            raise refusal(kind, current.name, causes)
    stored_as = store.versions.storage_kind(kind)
    if (document == old or only_times_differ(document, old)) and current.kind.version == stored_as.version:
        return current
    request.document = document
    large(
        "update",
        lambda: revision + meaning(document),
        lambda: store.rules.validate_update(kind, document, old, subresource),
    )
    store.rules.warn(kind, document, old, options)
    stored_as, stored_document = store.versions.to_storage(kind, document)
    store.versions.rehearse_read(given, stored_document)
    store.admission.validate(request)
    if options.dry_run:
        return store.unsaved(stored_as, with_status(stored_document, apart.status))
    return _committed(store, stored_as, stored_document, current, apart.status, writer, subresource)


def _committed(
    store: "Store", kind: Kind, document: Document, current: Stored, status: bytes, writer: str, subresource: str
) -> Stored:
    """Commit a change, or the end of an object whose last finalizer it takes away."""
    if deleting.finishes(document):
        return store.remove(current, with_status(document, status), writer=writer)
    if status:
        return put_beside(store, document, current, status, writer)
    return store.put(kind, document, current, writer=writer, subresource=subresource)


def _made(
    store: "Store", kind: Kind, document: Document, old: Document, subresource: str, options: WriteOptions
) -> Document:
    """The document in the version that is written, with defaults and the owners of its fields."""
    document = store.rules.decode(kind, document, options)
    if not kind.custom:
        kind, document = store.versions.to_storage(kind, document)
    store.rules.apply_defaults(kind, document)
    check_precondition(kind, document["metadata"], old["metadata"])
    track_change(store, kind, document, old, subresource, options)
    return document


def check_identity(kind: Kind, metadata: Document, current: Stored) -> None:
    """Name and namespace in the document must be those of the object it is for."""
    if kind.namespaced:
        namespace = metadata.setdefault("namespace", current.namespace) or current.namespace
        if namespace != current.namespace:
            raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    else:
        metadata.pop("namespace", None)
    if metadata.setdefault("name", current.name) != current.name:
        raise BadRequest(
            f"the name of the object ({metadata['name']}) does not match the name on the URL ({current.name})"
        )


def check_precondition(kind: Kind, metadata: Document, old: Document) -> None:
    """Optimistic concurrency: the document must come from the latest revision, and from this very object."""
    uid = metadata.get("uid")
    if uid and uid != old["uid"]:
        raise conflict(kind, old["name"], uid_mismatch(kind, old.get("namespace", ""), old["name"], uid, old["uid"]))
    revision = metadata.get("resourceVersion")
    if not revision or revision == "0":
        if strategy_of(kind).needs_resource_version:
            cause = Cause("metadata.resourceVersion", "Invalid value: 0: must be specified for an update")
            text = f'{kind.resource} "{old["name"]}" is invalid: {cause.field}: {cause.message}'
            raise Invalid(text, group=kind.group, kind=kind.plural, name=old["name"], causes=[cause])
        metadata["resourceVersion"] = old["resourceVersion"]
    elif revision != old["resourceVersion"]:
        raise conflict(kind, old["name"])


def prepare(kind: Kind, document: Document, old: Document, subresource: str, now: int) -> Document:
    """The document to store: what this subresource may not change is taken from the old one."""
    metadata, old_metadata = document["metadata"], old["metadata"]
    for key in _IMMUTABLE:
        if key in old_metadata:
            metadata[key] = old_metadata[key]
        else:
            metadata.pop(key, None)
    metadata["resourceVersion"] = old_metadata["resourceVersion"]
    document = ordered(kind, narrow(kind, document, old, subresource))
    prepare_update(kind, document, old, subresource, now)
    strategy = strategy_of(kind)
    if strategy.has_generation and subresource != "status" and _desired(document, strategy) != _desired(old, strategy):
        document["metadata"]["generation"] = old_metadata.get("generation", 0) + 1
    return document


def _desired(document: Document, strategy: Strategy) -> Document:
    counted = {key: value for key, value in document.items() if key not in ("metadata", "status")}
    if strategy.generation_counts:
        counted["metadata"] = {key: document["metadata"].get(key) for key in strategy.generation_counts}
    return counted
