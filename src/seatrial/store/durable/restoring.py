"""Puts the rows of a database back into a store, whatever they contain.

Objects of kinds that are not served are kept under the kind their row names. A CustomResourceDefinition that can no
longer be decoded is kept and reported, and defines no kind.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from sys import intern

from seatrial.model.errors import SeatrialError
from seatrial.model.kinds import Kind
from seatrial.store.crd import DEFINITIONS
from seatrial.store.durable.rows import HistoryRow, ObjectRow, read_kind
from seatrial.store.objects import Change, Stored
from seatrial.store.store import Store

log = logging.getLogger("seatrial.store")


def restore(
    store: Store, rows: Sequence[ObjectRow], pieces: Mapping[int, Sequence[bytes]], history: Sequence[HistoryRow]
) -> tuple[list[Change], int]:
    """Fill an empty store; definitions come first, since they decide which kinds are served.

    Gives the changes that are known in the order of their revisions, and the revision that they begin after.
    """
    for row in rows:
        kind = _served(store, row.kind)
        if kind.group_kind == DEFINITIONS:
            stored = _stored(row, kind, pieces)
            store.restore(stored, None)
            define(store, stored)
    served = lru_cache(None)(partial(_served, store))
    for row in rows:
        kind = served(row.kind)
        if kind.group_kind != DEFINITIONS:
            store.restore(_stored(row, kind, pieces), None)
    floor, *replaced = history
    return _changes(store.everything(), replaced, floor.until, served), floor.until


def _changes(
    objects: Sequence[Stored], history: Sequence[HistoryRow], floor: int, served: Callable[[str], Kind]
) -> list[Change]:
    """The changes after a revision, from the states that they led to: those that are there, and those replaced."""
    states, changes = list(objects), []
    before: dict[int, Stored] = {}
    for row in history:
        kind, place = served(row.kind), (intern(row.namespace), row.name)
        before[row.until] = replaced = Stored(kind, *place, row.revision, row.head or b"")
        states.append(replaced)
        if row.last is not None:
            changes.append(Change("DELETED", Stored(kind, *place, row.until, row.last), replaced, "", 0))
    for stored in states:
        if stored.revision > floor:
            previous = before.get(stored.revision)
            changes.append(Change("MODIFIED" if previous else "ADDED", stored, previous, "", 0))
    return sorted(changes, key=attrgetter("stored.revision"))


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
