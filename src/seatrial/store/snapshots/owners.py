"""Owners that a snapshot leaves out: their dependents stay, since the old cluster had them at rest.

Garbage collection deletes objects whose owners do not exist. A dump of some kinds only, or an export of
kube-scheduler-simulator, has pods without their owners; such a pod carries the uids of those owners in an annotation,
which the garbage collector reads.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from seatrial.model.documents import Document
from seatrial.store.objects import Stored

if TYPE_CHECKING:
    from seatrial.store.store import Store

ABSENT_OWNERS = "simulation.kube-scheduler-simulator.x-k8s.io/absent-owners"
"""The uids of owners that were absent when the object was loaded, by comma."""
OWNED = b'"ownerReferences"'


class _Owner(msgspec.Struct):
    uid: str = ""


class _Metadata(msgspec.Struct, rename="camel"):
    owner_references: list[_Owner] = []


class _Owned(msgspec.Struct):
    metadata: _Metadata


_owned = msgspec.json.Decoder(_Owned)


def owners_of(document: Document) -> list[dict[str, Any]]:
    """The owner references of an object."""
    references = document["metadata"].get("ownerReferences")
    if not isinstance(references, list):
        return []
    return [each for each in references if isinstance(each, dict) and isinstance(each.get("uid"), str)]


def controller_of(document: Document) -> dict[str, Any] | None:
    """The reference to the controller of an object."""
    return next((reference for reference in owners_of(document) if reference.get("controller")), None)


def note_absent_owners(store: "Store", loaded: Iterable[Stored], writer: str) -> None:
    """Note on each loaded object which of its owners do not exist."""
    present = _uids(store)
    for stored in loaded:
        if OWNED not in stored.data and ABSENT_OWNERS.encode() not in stored.data:
            continue
        owners = _owned.decode(stored.data).metadata.owner_references
        absent = [owner.uid for owner in owners if owner.uid not in present]
        if not absent and ABSENT_OWNERS.encode() not in stored.data:
            continue
        current = store.find(stored.kind, stored.name, stored.namespace)
        if current is not None:
            _note(store, current, ",".join(absent), writer)


def _note(store: "Store", stored: Stored, absent: str, writer: str) -> None:
    document = stored.document()
    annotations = dict(document["metadata"].get("annotations") or {})
    if annotations.get(ABSENT_OWNERS, "") == absent:
        return
    annotations.pop(ABSENT_OWNERS, None)
    if absent:
        annotations[ABSENT_OWNERS] = absent
    metadata = {**document["metadata"], "annotations": annotations}
    store.put(stored.kind, {**document, "metadata": metadata}, stored, writer=writer)


def has_absent_owner(stored: Stored) -> bool:
    """Whether an owner of the object was absent when it was loaded."""
    return ABSENT_OWNERS.encode() in stored.data


def _uids(store: "Store") -> set[str]:
    """The uids of all objects."""
    found: set[str] = set()
    for kind in {store.versions.storage_kind(kind).group_kind: kind for kind in store.kinds}.values():
        found.update(stored.uid for stored in store.index(kind).all(""))
    return found
