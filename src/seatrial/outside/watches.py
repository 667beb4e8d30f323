"""The open watches of one outside controller: held back while it is paused, flushed in order when its turn begins.

A watch has no acknowledgement. A reflector of client-go however opens a watch again when the server ends it, and
names the revision of the last event it has stored (tools/cache/reflector.go). So a watch that has sent its events is
ended, and the next one tells that the program has them. That way nodes are known before the pods that need them.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from seatrial.model.integers import int64_of
from seatrial.server.extension_points import OpenWatch
from seatrial.server.messages import Request
from seatrial.store import Change, Stored
from seatrial.timeline.writes import QUIET_KINDS

GroupKind = tuple[str, str]
PODS, NODES = ("", "Pod"), ("", "Node")
PATIENCE = 2.0
"""Seconds that an acknowledgement is waited for."""
MARGIN, MARGIN_PER_EVENT, LONGEST_MARGIN = 0.002, 50e-6, 0.5
"""Seconds that the handlers of a program get for events it has stored."""
UNACKNOWLEDGED = 0.1
"""Seconds that a program gets for events that were sent to a watch without an acknowledgement."""


@dataclass(eq=False, slots=True)
class Tracked:
    """One watch, and the future on which its next events wait."""

    request: Request
    watch: OpenWatch
    opened: "asyncio.Future[None] | None" = None

    @property
    def kind(self) -> GroupKind:
        return self.watch.kind.group_kind

    @property
    def is_reflector(self) -> bool:
        """Whether the client opens the watch again when it ends; all reflectors of client-go ask for bookmarks."""
        return self.request.flag("allowWatchBookmarks")

    @property
    def revision(self) -> int:
        text = self.request.query.get("resourceVersion", "")
        return int64_of(text)


@dataclass(slots=True)
class _Unseen:
    """Changes of one kind that may decide where a pod goes, since they were last acknowledged."""

    revision: int = 0
    events: int = 0


@dataclass(slots=True)
class Flush:
    """The acknowledgements that are waited for."""

    missing: dict[GroupKind, int] = field(default_factory=dict)
    events: int = 0
    plain: list[Tracked] = field(default_factory=list)
    """Watches that are not opened again: their events count as seen a while after they were sent."""


class WatchSet:
    """The watches of one controller. `changed` is called when one begins, ends, or has sent everything."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._watches: dict[int, Tracked] = {}
        self._unseen: dict[GroupKind, _Unseen] = {}
        self._flush: Flush | None = None
        self._passes: Callable[[GroupKind], bool] = lambda kind: True

    @property
    def kinds(self) -> set[GroupKind]:
        return {tracked.kind for tracked in self._watches.values()}

    def is_delivered(self) -> bool:
        """Whether everything that has happened was sent to every watch."""
        return all(tracked.watch.is_delivered for tracked in self._watches.values())

    def add(self, request: Request, watch: OpenWatch) -> None:
        tracked = self._watches[id(request)] = Tracked(request, watch)
        watch.observer = lambda: self._observe(tracked)
        flush = self._flush
        if flush is not None and tracked.revision >= flush.missing.get(tracked.kind, 1 << 62):
            del flush.missing[tracked.kind]
        self._changed()

    async def deliver(self, request: Request) -> None:
        """Wait until the events of a watch may be sent."""
        tracked = self._watches.get(id(request))
        while tracked is not None and tracked.watch.is_open and not self._passes(tracked.kind):
            tracked.opened = asyncio.get_running_loop().create_future()
            await tracked.opened

    def let_pass(self, passes: Callable[[GroupKind], bool]) -> None:
        """Send the events of these kinds from now on, and hold back the others."""
        self._passes = passes
        for tracked in self._watches.values():
            self._wake(tracked)

    def note(self, change: Change) -> None:
        """A write to the store: one that may decide where a pod goes must be seen before the pod is."""
        kind = change.stored.kind.group_kind
        if kind == PODS or kind in QUIET_KINDS or (change.subresource == "status" and kind != NODES):
            return
        unseen = self._unseen.setdefault(kind, _Unseen())
        unseen.revision = change.stored.revision
        unseen.events += 1

    def begin_flush(self) -> bool:
        """Send everything but pods first; False where there is nothing to wait for."""
        flush = self._flush = Flush()
        for tracked in self._watches.values():
            unseen = self._unseen.get(tracked.kind)
            if unseen is None:
                continue
            flush.events += unseen.events
            if tracked.is_reflector:
                flush.missing[tracked.kind] = unseen.revision
            else:
                flush.plain.append(tracked)
        if not flush.missing and not flush.plain:
            self.end_flush()
            return False
        for tracked in list(self._watches.values()):
            self._observe(tracked)
        return True

    @property
    def is_flushed(self) -> bool:
        flush = self._flush
        if flush is None:
            return True
        return not flush.missing and all(each.watch.is_delivered or not each.watch.is_open for each in flush.plain)

    @property
    def margin(self) -> float:
        """Seconds that the program needs to take in what it has acknowledged."""
        flush = self._flush or Flush()
        return min(LONGEST_MARGIN, MARGIN + UNACKNOWLEDGED * bool(flush.plain) + MARGIN_PER_EVENT * flush.events)

    def end_flush(self) -> None:
        self._flush = None
        self._unseen.clear()

    def resend(self, stored: Stored, again: Stored) -> None:
        """Tell every watch of a kind that an object has gone and come back."""
        for tracked in self._watches.values():
            if tracked.watch.kind.group_kind == stored.kind.group_kind:
                tracked.watch.resend("DELETED", stored)
                tracked.watch.resend("ADDED", again)

    def _observe(self, tracked: Tracked) -> None:
        if not tracked.watch.is_open:
            self._watches.pop(id(tracked.request), None)
            self._wake(tracked)
        elif self._flush is not None and tracked.kind in self._flush.missing and tracked.watch.is_delivered:
            tracked.watch.close()
        self._changed()

    @staticmethod
    def _wake(tracked: Tracked) -> None:
        if tracked.opened is not None and not tracked.opened.done():
            tracked.opened.set_result(None)
