"""One revision counter over all objects: the layer that knows indexes and history but nothing of Kubernetes.

Every commit takes the next revision, is encoded once, put into the index of its kind, appended to the history and
passed to the listeners in the order of subscription. When a listener writes, that write is passed on after all
listeners have received the first one, so all listeners see the same order.
"""

from collections import deque
from collections.abc import Callable, Iterable
from sys import intern

from seatrial.model.documents import Document, encode_to_keep
from seatrial.model.kinds import Kind
from seatrial.store.fragments import Parts, encode_with_parts
from seatrial.store.mvcc.history import History
from seatrial.store.mvcc.index import KeyIndex
from seatrial.store.objects import Change, ChangeType, Facets, Stored

Listener = Callable[[Change], None]
GroupKind = tuple[str, str]


class Revisions:
    """Objects, their history and the subscribed listeners."""

    def __init__(self, history: History | None = None) -> None:
        self.revision = 0
        self.history = History() if history is None else history
        self.indexes: dict[GroupKind, KeyIndex] = {}
        self.writes: dict[GroupKind, int] = {}
        """How many changes each kind has had; equal numbers mean equal objects."""
        self.journal: Listener | None = None
        """Called first for each commit; it makes them durable."""
        self._listeners: list[tuple[Listener, frozenset[GroupKind] | None]] = []
        self._interested: dict[GroupKind, tuple[Listener, ...]] = {}
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
        parts: Parts | None = None,
    ) -> Stored:
        """Commit a new state of an object, which gets its resourceVersion here."""
        metadata = document["metadata"]
        metadata["resourceVersion"] = str(self.revision + 1)
        if previous is None:
            namespace, name = intern(metadata.get("namespace", "")), metadata["name"]
        else:
            namespace, name = previous.namespace, previous.name
        content = encode_to_keep(document) if parts is None else encode_with_parts(document, parts)
        stored = Stored(kind, namespace, name, self.revision + 1, content)
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
        stored = Stored(previous.kind, previous.namespace, previous.name, revision, content, facets)
        self._commit(Change("MODIFIED", stored, previous, writer, at, subresource))
        return stored

    def remove(self, previous: Stored, document: Document, *, writer: str, at: int) -> Stored:
        """Commit the end of an object; `document` is its last state."""
        document["metadata"]["resourceVersion"] = str(self.revision + 1)
        kind = previous.kind
        stored = Stored(kind, previous.namespace, previous.name, self.revision + 1, encode_to_keep(document))
        self._commit(Change("DELETED", stored, previous, writer, at))
        return stored

    def restore(self, stored: Stored | None, previous: Stored | None) -> None:
        """Put back what is on disk, without calling the listeners."""
        changed = stored or previous
        if changed is not None:
            self._count(changed.kind.group_kind)
        if stored is not None:
            self.index(stored.kind.group_kind).put(stored)
        elif previous is not None:
            self.index(previous.kind.group_kind).remove(previous.namespace, previous.name)

    def begin_at(self, revision: int) -> None:
        """Go on counting from a revision; nothing before it is known."""
        self.revision = max(self.revision, revision)
        self.history.compact(self.revision)

    def subscribe(self, listener: Listener, kinds: Iterable[Kind] | None = None) -> Callable[[], None]:
        """Call `listener` after each commit (of these kinds); returns how to stop it."""
        entry = listener, frozenset(kind.group_kind for kind in kinds) if kinds is not None else None
        self._listeners.append(entry)
        self._interested.clear()

        def unsubscribe() -> None:
            if entry in self._listeners:
                self._listeners.remove(entry)
                self._interested.clear()

        return unsubscribe

    def _commit(self, change: Change) -> None:
        stored = change.stored
        if self.journal is not None:
            # Before anything else: a journal that takes no more writes refuses, and then nothing has changed.
            self.journal(change)
        group_kind = stored.kind.group_kind
        self._count(group_kind)
        index = self.indexes.get(group_kind) or self.index(group_kind)
        if change.type == "DELETED":
            index.remove(stored.namespace, stored.name)
        else:
            index.put(stored)
        self.revision = stored.revision
        self.history.append(change)
        if self._telling or self._untold:
            self._untold.append(change)
        if self._telling:
            return
        self._telling = True
        try:
            if not self._untold:
                for listener in self._interested.get(group_kind) or self._audience(group_kind):
                    listener(change)
            while self._untold:
                change = self._untold.popleft()
                for listener in self._audience(change.stored.kind.group_kind):
                    listener(change)
        finally:
            self._telling = False

    def _count(self, group_kind: GroupKind) -> None:
        self.writes[group_kind] = self.writes.get(group_kind, 0) + 1

    def _audience(self, group_kind: GroupKind) -> tuple[Listener, ...]:
        audience = self._interested.get(group_kind)
        if audience is None:
            audience = tuple(listener for listener, kinds in self._listeners if kinds is None or group_kind in kinds)
            self._interested[group_kind] = audience
        return audience


__all__ = ["ChangeType", "GroupKind", "Listener", "Revisions"]
