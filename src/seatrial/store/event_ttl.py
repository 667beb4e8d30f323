"""Deletes Events after a fixed time, as kube-apiserver's --event-ttl does; otherwise a server would fill with them.

Events expire in the order in which they were last written, so one timer for the oldest is enough.
"""

from collections import deque
from typing import TYPE_CHECKING

from seatrial.model.times import HOUR
from seatrial.store.objects import Change

if TYPE_CHECKING:
    from seatrial.store.store import Store

WRITER = "event-ttl"


class EventExpiry:
    """Deletes Events that were last written an hour ago."""

    def __init__(self, store: "Store", lifetime: int = HOUR) -> None:
        self._store = store
        self._lifetime = lifetime
        self._due: deque[tuple[int, str, str, int]] = deque()
        kind = store.kinds.served("v1", "Event")
        self._kind = kind
        for stored in store.list(kind):
            self._due.append((store.clock.now() + lifetime, stored.namespace, stored.name, stored.revision))
        self.stop = store.subscribe(self._written, [kind])
        if self._due:
            self._wait()

    def _written(self, change: Change) -> None:
        if change.type == "DELETED":
            return
        stored = change.stored
        self._due.append((change.at + self._lifetime, stored.namespace, stored.name, stored.revision))
        if len(self._due) == 1:
            self._wait()

    def _wait(self) -> None:
        self._store.clock.at(self._due[0][0], self._expire, outer=True)

    def _expire(self) -> None:
        now = self._store.clock.now()
        while self._due and self._due[0][0] <= now:
            _, namespace, name, revision = self._due.popleft()
            stored = self._store.find(self._kind, name, namespace)
            if stored is not None and stored.revision == revision:
                self._store.delete(self._kind, name, namespace=namespace, writer=WRITER)
        if self._due:
            self._wait()
