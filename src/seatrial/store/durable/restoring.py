"""Puts the rows of a database back into a store, whatever they contain.

Objects of kinds that are not served are kept under the kind their row names. A CustomResourceDefinition that can no
longer be decoded is kept and reported, and defines no kind.
"""

import logging
from collections.abc import Mapping, Sequence
from sys import intern

from seatrial.model.errors import SeatrialError
from seatrial.model.kinds import Kind
from seatrial.store.crd import DEFINITIONS
from seatrial.store.durable.rows import ObjectRow, read_kind
from seatrial.store.objects import Stored
from seatrial.store.store import Store

log = logging.getLogger("seatrial.store")


def restore(store: Store, rows: Sequence[ObjectRow], pieces: Mapping[int, Sequence[bytes]]) -> None:
    """Fill an empty store; definitions come first, since they decide which kinds are served."""
    for row in rows:
        kind = _served(store, row.kind)
        if kind.group_kind == DEFINITIONS:
            stored = _stored(row, kind, pieces)
            store.restore(stored, None)
            define(store, stored)
    kinds: dict[str, Kind] = {}
    for row in rows:
        found = kinds.get(row.kind)
        if found is None:
            found = kinds[row.kind] = _served(store, row.kind)
        if found.group_kind != DEFINITIONS:
            store.restore(_stored(row, found, pieces), None)


def _served(store: Store, text: str) -> Kind:
    named = read_kind(text)
    return store.kinds.named(named.api_version, named.kind) or named


def define(store: Store, stored: Stored) -> None:
    """Serve the kind that a stored definition describes; an invalid definition is reported."""
    try:
        store.definitions.changed(stored.document(), stored.revision)
    except (SeatrialError, LookupError, TypeError, ValueError, AttributeError) as error:
        log.warning("CustomResourceDefinition %s is ignored: %s", stored.name, error)


def _stored(row: ObjectRow, kind: Kind, pieces: Mapping[int, Sequence[bytes]]) -> Stored:
    content = row.head if row.tail is None else (row.head, *pieces.get(row.list or 0, ()), row.tail)
    return Stored(kind, intern(row.namespace), row.name, row.revision, content)
