"""Takes a finalizer away from an object; from pods that are alike without decoding each of them.

A Job takes its tracking finalizer from every pod that has ended. The first pod of a template takes the whole way of an
update; how its bytes changed is remembered, and put into the bytes of the others.
"""

from typing import TYPE_CHECKING

import orjson

from seatrial.model.documents import Document
from seatrial.store.objects import Facets, Shape, Stored
from seatrial.store.registry.templates import Splice

if TYPE_CHECKING:
    from seatrial.store.store import Store

_REVISION = b'"resourceVersion":"%d"'


def drop_finalizer(document: Document, finalizer: str) -> None:
    """Take a finalizer away; an empty list is left out."""
    metadata = document["metadata"]
    if kept := [other for other in metadata.pop("finalizers", []) if other != finalizer]:
        metadata["finalizers"] = kept


def remove_finalizer(store: "Store", stored: Stored, finalizer: str, writer: str) -> Stored:
    """Write an object without a finalizer."""
    facets = stored.facets
    inputs = store.admission.inputs(store, stored.kind, stored.namespace) if facets is not None else None
    key = (facets.shape, finalizer, store.admission, *inputs) if facets is not None and inputs is not None else None
    splice = store.templates.splices.get(key) if key is not None else None
    if facets is not None and splice is not None:
        return _spliced(store, stored, facets, splice, writer)
    written = store.modify(
        stored.kind,
        stored.name,
        lambda document: drop_finalizer(document, finalizer),
        namespace=stored.namespace,
        writer=writer,
    )
    if key is not None and (learnt := _learnt(stored, written, finalizer)) is not None:
        store.templates.remember(key, learnt)
    return written


def _spliced(store: "Store", stored: Stored, facets: Facets, splice: Splice, writer: str) -> Stored:
    head = stored.data.replace(splice.old, splice.new, 1)
    old = _REVISION % stored.revision
    alike = Facets(splice.shape, facets.uid, facets.status, facets.node, facets.tail)
    return store.write_pieces(
        stored,
        lambda revision: (head.replace(old, _REVISION % revision, 1),),
        writer=writer,
        subresource="",
        facets=alike,
    )


def _learnt(before: Stored, after: Stored, finalizer: str) -> Splice | None:
    """How the bytes changed where it was the only finalizer; None where they changed in another way, too."""
    old = b',"finalizers":' + orjson.dumps([finalizer])
    made = before.data.replace(old, b"", 1).replace(_REVISION % before.revision, _REVISION % after.revision, 1)
    return Splice(old, b"", Shape()) if old in before.data and made == after.data else None
