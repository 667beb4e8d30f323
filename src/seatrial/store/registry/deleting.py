"""Deletes an object: preconditions, grace period, finalizers, and dependents that must be deleted first.

An object with finalizers, and a bound pod with a grace period, is only marked (deletionTimestamp); the last
finalizer to leave, or the pod's lifecycle with grace 0, ends it. Dependents are the garbage collector's work: here
they only decide which finalizer the owner gets. Where upstream writes a mark and deletes in the same call, one
DELETED change is made whose last state has the mark.

Upstream: k8s.io/apiserver/pkg/registry/rest/delete.go, generic/registry/store.go, pkg/registry/core/pod/strategy.go.
"""

from typing import TYPE_CHECKING

from seatrial.model.documents import Document
from seatrial.model.errors import Conflict
from seatrial.model.kinds import Kind
from seatrial.model.times import SECOND, parse_time, to_time
from seatrial.store.crd import DEFINITIONS
from seatrial.store.deferral import large_object
from seatrial.store.metadata import conflict
from seatrial.store.objects import Stored
from seatrial.store.options import DeleteOptions
from seatrial.store.registry.kinds import strategy_of
from seatrial.store.requests import Request

if TYPE_CHECKING:
    from seatrial.store.store import Store

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"

_DEFINITION = Kind(DEFINITIONS[0], "v1", DEFINITIONS[1], "customresourcedefinitions", namespaced=False)


def delete(
    store: "Store", current: Stored, writer: str, options: DeleteOptions, asked: Kind | None = None
) -> Stored | None:
    """Delete an object, or mark it where a finalizer or a grace period delays the deletion.

    `asked` is the kind of the request: a custom resource is admitted in its version.
    """
    kind, revision = current.kind, str(current.revision).encode()
    document = large_object("old", lambda: revision, lambda _: current.document(), None)
    metadata = document["metadata"]
    check_preconditions(kind, metadata, options)
    seen = store.versions.read(asked, current) if asked is not None and kind.custom else current
    old = document if seen is current else seen.document()
    request = Request(
        store, "DELETE", seen.kind, current.namespace, current.name, old, old, "", writer,
        options.user, options.dry_run,
    )  # fmt: skip
    store.admission.admit(request)
    store.admission.validate(request)
    if kind.group_kind == DEFINITIONS:
        return _delete_definition(store, current, writer, options)
    is_repeated = "deletionTimestamp" in metadata
    grace = _grace(document, kind, options)
    if grace is not None and not _shortens(metadata, grace, options):
        return current
    _set_finalizers(kind, metadata, options)
    waits = bool(metadata.get("finalizers")) or bool(grace) or _awaits_namespace(kind, document)
    _mark(metadata, grace or 0, store.clock.now())
    if kind.group_kind == ("", "Namespace") and waits:
        document["status"] = {**document.get("status", {}), "phase": "Terminating"}
        del metadata["deletionGracePeriodSeconds"]
    if options.dry_run:
        return store.unsaved(kind, document) if waits else None
    if not waits:
        store.remove(current, document, writer=writer)
        return None
    if is_repeated and document == current.document():
        return current
    return store.put(kind, document, current, writer=writer)


def _delete_definition(store: "Store", current: Stored, writer: str, options: DeleteOptions) -> Stored | None:
    """A definition goes when the last object of its kind is gone; those without finalizers go with it."""
    document = current.document()
    _mark(document["metadata"], 0, store.clock.now())
    _set_finalizers(current.kind, document["metadata"], options)
    definition = store.definitions.named(current.name)
    if options.dry_run:
        return None
    if definition is not None and not definition.terminating:
        document["metadata"]["finalizers"] = [*document["metadata"].get("finalizers", ()), CLEANUP]
        store.put(current.kind, document, current, writer=writer)
        for instance in store.index(definition.storage.kind).all():
            delete(store, instance, writer, DeleteOptions())
        finish_definition(store, definition.storage.kind, writer)
    return store.index(current.kind).find("", current.name)


def finish_definition(store: "Store", kind: Kind, writer: str) -> None:
    """End the definition of a kind that is being deleted, once no object of the kind is left."""
    definition = store.definitions.of_kind(kind)
    if definition is None or not definition.terminating or len(store.index(kind)):
        return
    current = store.current(_DEFINITION, definition.name, "")
    document = current.document()
    metadata = document["metadata"]
    metadata["finalizers"] = [finalizer for finalizer in metadata.get("finalizers") or () if finalizer != CLEANUP]
    if metadata["finalizers"]:
        store.put(current.kind, document, current, writer=writer)
    else:
        del metadata["finalizers"]
        store.remove(current, document, writer=writer)


def finishes(document: Document) -> bool:
    """Whether an update has taken away the last thing a deleted object was waiting for."""
    metadata = document["metadata"]
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("finalizers")
        and not metadata.get("deletionGracePeriodSeconds")
        and not (document["kind"] == "Namespace" and (document.get("spec") or {}).get("finalizers"))
    )


_CHECKED_FIRST = (("", "Namespace"), ("apiextensions.k8s.io", "CustomResourceDefinition"))
"""Kinds whose own storage compares the uid before the common rules do."""


def check_preconditions(kind: Kind, metadata: Document, options: DeleteOptions) -> None:
    """The uid and the revision that a delete names must be those of the object."""
    uid, revision = options.preconditions_uid, options.preconditions_resource_version
    why = ""
    if uid and uid != metadata["uid"]:
        why = (
            f"the UID in the precondition ({uid}) does not match the UID in record ({metadata['uid']}). "
            "The object might have been deleted and then recreated"
        )
    elif revision and revision != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({revision}) does not match the ResourceVersion in record "
            f"({metadata['resourceVersion']}). The object might have been modified"
        )
    if uid and uid != metadata["uid"] and kind.group_kind in _CHECKED_FIRST:
        text = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {metadata['uid']}"
        raise conflict(kind, metadata["name"], text)
    if why:
        # Upstream names the kind here, not the resource.
        what = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
        text = f'Operation cannot be fulfilled on {what} "{metadata["name"]}": {why}'
        raise Conflict(text, group=kind.group, kind=kind.kind, name=metadata["name"])


def _grace(document: Document, kind: Kind, options: DeleteOptions) -> int | None:
    """The grace period in seconds; None for kinds without one."""
    if not strategy_of(kind).deletes_gracefully:
        return None
    spec, status = document.get("spec") or {}, document.get("status") or {}
    if options.grace_period_seconds is not None:
        period = options.grace_period_seconds
    else:
        period = int(spec.get("terminationGracePeriodSeconds") or 0)
    already = document["metadata"].get("deletionGracePeriodSeconds")
    if already is not None and options.grace_period_seconds is None:
        return int(already)
    if already is None and (not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed")):
        return 0
    return 1 if period < 0 else period


def _shortens(metadata: Document, grace: int, options: DeleteOptions) -> bool:
    """Whether this delete changes a deletion in progress: a grace period can only be shortened."""
    already = metadata.get("deletionGracePeriodSeconds")
    if "deletionTimestamp" not in metadata or not already:
        return True
    return options.grace_period_seconds is not None and grace < already


def _set_finalizers(kind: Kind, metadata: Document, options: DeleteOptions) -> None:
    """Leave the garbage collector the finalizer that the propagation policy calls for."""
    strategy = strategy_of(kind)
    if not strategy.garbage_collected:
        return
    finalizers = metadata.get("finalizers") or []
    policy: str = options.propagation_policy
    if not policy:
        named = [finalizer for finalizer in finalizers if finalizer in (ORPHAN, FOREGROUND)]
        default = "Orphan" if strategy.orphans_dependents else "Background"
        policy = {ORPHAN: "Orphan", FOREGROUND: "Foreground"}[named[0]] if named else default
    kept = [finalizer for finalizer in finalizers if finalizer not in (ORPHAN, FOREGROUND)]
    if policy in ("Orphan", "Foreground"):
        kept.append(ORPHAN if policy == "Orphan" else FOREGROUND)
    if sorted(kept) == sorted(finalizers):
        return
    if kept:
        metadata["finalizers"] = kept
    else:
        metadata.pop("finalizers", None)


def _awaits_namespace(kind: Kind, document: Document) -> bool:
    return kind.group_kind == ("", "Namespace") and bool((document.get("spec") or {}).get("finalizers"))


def _mark(metadata: Document, grace: int, now: int) -> None:
    """Set deletionTimestamp and grace; the first mark also counts as a change of what is desired."""
    marked = metadata.get("deletionTimestamp")
    if marked is None:
        if metadata.get("generation"):
            metadata["generation"] += 1
        when = now + grace * SECOND
    else:
        began = parse_time(marked) - (metadata.get("deletionGracePeriodSeconds") or 0) * SECOND
        when = min(parse_time(marked), max(began + grace * SECOND, now))
    metadata["deletionTimestamp"] = to_time(when)
    metadata["deletionGracePeriodSeconds"] = grace
