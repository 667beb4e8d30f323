"""The history window: the latest changes in one ring, bounded in number and in bytes.

A watcher is a cursor, that is the last revision it has seen; `since` gives what came after. Asking for more than
is kept is 410 Gone, as with a compacted etcd. Every change has its own revision, so the place of a revision in
the ring is found by bisection.
"""

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter

from seatrial.model.errors import Gone
from seatrial.store.fragments import new_bytes
from seatrial.store.objects import Change

REVISIONS_KEPT = 200_000
BYTES_KEPT = 128 * 1024 * 1024
_REVISION = attrgetter("stored.revision")


class History:
    """Changes in the order of their revisions, the oldest forgotten first; with 0 `revisions_kept` none is kept."""

    def __init__(self, revisions_kept: int = REVISIONS_KEPT, bytes_kept: int = BYTES_KEPT) -> None:
        self.compacted = 0
        self._changes: list[Change] = []
        self._first = 0
        self._bytes = 0
        self._revisions_kept = revisions_kept
        self._bytes_kept = bytes_kept

    def append(self, change: Change) -> None:
        if not self._revisions_kept:
            self.compacted = change.stored.revision
            return
        changes, content = self._changes, change.stored.content
        changes.append(change)
        self._bytes += len(content) if isinstance(content, bytes) else new_bytes(change.stored, change.previous)
        if len(changes) - self._first > self._revisions_kept or self._bytes > self._bytes_kept:
            self._shorten()

    def since(self, revision: int) -> list[Change]:
        """The changes after `revision`; Gone where some of them are forgotten."""
        if revision < self.compacted:
            raise Gone(f"too old resource version: {revision} ({self.compacted})")
        return self._changes[bisect_right(self._changes, revision, lo=self._first, key=_REVISION) :]

    def compact(self, revision: int) -> None:
        """Forget everything up to `revision`."""
        while len(self) and self._changes[self._first].stored.revision <= revision:
            self._forget_oldest()
        self.compacted = max(self.compacted, revision)

    def __len__(self) -> int:
        return len(self._changes) - self._first

    def __iter__(self) -> Iterator[Change]:
        return iter(self._changes[self._first :])

    def _shorten(self) -> None:
        while (kept := len(self)) > self._revisions_kept or (self._bytes > self._bytes_kept and kept > 1):
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        oldest = self._changes[self._first]
        self.compacted = oldest.stored.revision
        self._bytes -= new_bytes(oldest.stored, oldest.previous)
        self._changes[self._first] = _FORGOTTEN
        self._first += 1
        if self._first > 1024 and self._first * 2 > len(self._changes):
            del self._changes[: self._first]
            self._first = 0


_FORGOTTEN: Change = None  # type: ignore[assignment]
