"""One revision counter over all objects: the layer that knows indexes and history but nothing of Kubernetes.

Every commit takes the next revision, is encoded once, put into the index of its kind, appended to the history and
passed to the listeners in the order of subscription. When a listener writes, that write is passed on after all
listeners have received the first one, so all listeners see the same order.
"""

from collections import deque
from collections.abc import Callable, Iterable
from sys import intern
from typing import NamedTuple, TypedDict, Unpack

import msgspec

from seatrial.model.documents import Document, encode_to_keep
from seatrial.model.kinds import Kind
from seatrial.store.mvcc.history import History
from seatrial.store.mvcc.index import KeyIndex
from seatrial.store.mvcc.packing import Packing
from seatrial.store.objects import Change, ChangeType, Facets, Shape, Stored, facets_of
from seatrial.store.views.view import Views

Listener = Callable[[Change], None]
GroupKind = tuple[str, str]
Sort = tuple[GroupKind, ChangeType, str]
"""A sort of changes: the kind of the object, the type of the change and the subresource that was written."""


class SortsOfChanges(TypedDict, total=False):
    """The changes that a listener is called for, where it is not called for all."""

    types: Iterable[ChangeType]
    without: Iterable[str]
    """Subresources: changes of an object through them are left out."""


class Subscription(NamedTuple):
    """A listener and the changes that it is called for."""

    listener: Listener
    kinds: frozenset[GroupKind] | None
    types: frozenset[ChangeType] | None
    without: frozenset[str]

    def wants(self, sort: Sort) -> bool:
        group_kind, change_type, subresource = sort
        if self.types is not None and change_type not in self.types:
            return False
        if change_type == "MODIFIED" and subresource in self.without:
            return False
        return self.kinds is None or group_kind in self.kinds


class Revisions:
    """Objects, their history and the subscribed listeners."""

    def __init__(self, history: History | None = None, packing: Packing | None = None) -> None:
        self.revision = 0
        self.views = Views()
        """What is kept of the views of the objects."""
        self.history = History() if history is None else history
        self.indexes: dict[GroupKind, KeyIndex] = {}
        self.writes: dict[GroupKind, int] = {}
        """How many changes each kind has had; equal numbers mean equal objects."""
        self.journal: Listener | None = None
        """Called first for each commit; it makes them durable."""
        self.packing = packing
        """Keeps once what objects have in common; None: each is kept as it is encoded."""
        self._subscriptions: list[Subscription] = []
        self._interested: dict[Sort, tuple[Listener, ...]] = {}
        self._untold: deque[Change] = deque()
        self._telling = False

    def index(self, group_kind: GroupKind) -> KeyIndex:
        index = self.indexes.get(group_kind)
        if index is None:
            index = self.indexes[group_kind] = KeyIndex()
        return index

    def put(
        self,
        kind: Kind,
        document: Document,
        previous: Stored | None,
        *,
        writer: str,
        at: int,
        subresource: str = "",
        keep_facets: bool = False,
        shape: Shape | None = None,
    ) -> Stored:
        """Commit a new state of an object, which gets its resourceVersion here.

        `keep_facets`: it is read faster and takes more memory. `shape`: that of the objects it is known to be like.
        """
        metadata = document["metadata"]
        metadata["resourceVersion"] = str(self.revision + 1)
        if previous is None:
            namespace, name = intern(metadata.get("namespace", "")), metadata["name"]
        else:
            namespace, name = previous.namespace, previous.name
        content = encode_to_keep(document)
        facets = facets_of(kind, document, shape) if keep_facets else None
        stored = Stored(kind, namespace, name, self.revision + 1, content, facets, self.views)
        self._commit(Change("MODIFIED" if previous else "ADDED", stored, previous, writer, at, subresource))
        return stored

    def put_encoded(self, made: Callable[[int], Stored], *, writer: str, at: int) -> Stored:
        """Commit a new object that the caller encodes; `made` receives its revision."""
        stored = made(self.revision + 1)
        self._commit(Change("ADDED", stored, None, writer, at))
        return stored

    def put_pieces(
        self,
        previous: Stored,
        pieces: Callable[[int], tuple[bytes, ...]],
        *,
        writer: str,
        at: int,
        subresource: str,
        facets: Facets | None = None,
    ) -> Stored:
        """Commit a new state of an object that the caller keeps encoded; `pieces` receives the revision to write."""
        revision = self.revision + 1
        made = pieces(revision)
        content = made[0] if len(made) == 1 else made
        stored = Stored(previous.kind, previous.namespace, previous.name, revision, content, facets, self.views)
        self._commit(Change("MODIFIED", stored, previous, writer, at, subresource))
        return stored

    def remove(self, previous: Stored, document: Document, *, writer: str, at: int) -> Stored:
        """Commit the end of an object; `document` is its last state."""
        document["metadata"]["resourceVersion"] = str(self.revision + 1)
        kind, revision, content = previous.kind, self.revision + 1, encode_to_keep(document)
        stored = Stored(kind, previous.namespace, previous.name, revision, content, None, self.views)
        self._commit(Change("DELETED", stored, previous, writer, at))
        return stored

    def restore(self, stored: Stored | None, previous: Stored | None) -> None:
        """Put back what is on disk, without calling the listeners."""
        changed = stored or previous
        if changed is not None:
            group_kind = changed.kind.group_kind
            self.writes[group_kind] = self.writes.get(group_kind, 0) + 1
        if stored is not None:
            # One that takes the place of another at the same revision must not be read from what is kept of that.
            known = stored if previous is not None else msgspec.structs.replace(stored, views=self.views)
            self.index(stored.kind.group_kind).put(known)
        elif previous is not None:
            self.index(previous.kind.group_kind).remove(previous.namespace, previous.name)

    def begin_at(self, revision: int, changes: Iterable[Change], compacted: int) -> History:
        """Go on counting from a revision; of what was before, the changes after `compacted` are known."""
        self.revision = max(self.revision, revision)
        self.history.compact(compacted)
        for change in changes:
            self.history.append(change)
        return self.history

    def subscribe(
        self, listener: Listener, kinds: Iterable[Kind] | None = None, **sorts: Unpack[SortsOfChanges]
    ) -> Callable[[], None]:
        """Call `listener` after each commit (of these kinds); returns how to stop it."""
        types = sorts.get("types")
        entry = Subscription(
            listener,
            frozenset(kind.group_kind for kind in kinds) if kinds is not None else None,
            frozenset(types) if types is not None else None,
            frozenset(sorts.get("without", ())),
        )
        self._subscriptions.append(entry)
        self._interested.clear()

        def unsubscribe() -> None:
            if entry in self._subscriptions:
                self._subscriptions.remove(entry)
                self._interested.clear()

        return unsubscribe

    def _commit(self, change: Change) -> None:
        stored = change.stored
        if self.journal is not None:
            # Before anything else: a journal that takes no more writes refuses, and then nothing has changed.
            self.journal(change)
        group_kind = stored.kind.group_kind
        self.writes[group_kind] = self.writes.get(group_kind, 0) + 1
        index = self.indexes.get(group_kind)
        if index is None:
            index = self.index(group_kind)
        if change.type == "DELETED":
            index.remove(stored.namespace, stored.name)
        else:
            index.put(stored)
        self.revision = stored.revision
        self.history.append(change)
        if self.packing is not None:
            self.packing.add(stored)
        if self._telling or self._untold:
            self._untold.append(change)
        if self._telling:
            return
        self._telling = True
        try:
            if not self._untold:
                sort = group_kind, change.type, change.subresource
                for listener in self._interested.get(sort) or self._audience(change):
                    listener(change)
            while self._untold:
                change = self._untold.popleft()
                for listener in self._audience(change):
                    listener(change)
        finally:
            self._telling = False

    def _audience(self, change: Change) -> tuple[Listener, ...]:
        sort = change.stored.kind.group_kind, change.type, change.subresource
        audience = self._interested.get(sort)
        if audience is None:
            audience = tuple(entry.listener for entry in self._subscriptions if entry.wants(sort))
            self._interested[sort] = audience
        return audience


__all__ = ["ChangeType", "GroupKind", "Listener", "Revisions", "SortsOfChanges"]
