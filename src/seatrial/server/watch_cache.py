"""Watches: each watcher is a cursor on the shared feed of its kind.

The feed keeps the latest changes and, for each rendering and selection in use, the frame that was encoded once, so a
hundred equal watchers cost one encoding. A watcher that is too slow falls off the end of the feed and gets 410
Expired; it never delays the others, since nothing is kept for it alone.

A large object that is changed again and again, as a Scenario with its result is, would be sent whole each time. A
watcher gets its latest state instead, after a pause that is as long as the object is large, so that watching
costs the same share of the server's time however large the object grows.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from seatrial.model.errors import Gone, StatusError
from seatrial.model.kinds import Kind
from seatrial.server.encoding.rendering import Rendering
from seatrial.server.selection import Selection
from seatrial.store import Change, Memo, Store, Stored, new_bytes
from seatrial.store.deferral import Deferred, Turn, short_turns

ENTRIES_KEPT = 65_536
BYTES_KEPT = 64 * 1024 * 1024
BATCH = 256 * 1024
"""Bytes sent to one watcher before others get their turn."""
TURN = 0.01
"""Seconds of work before others get their turn."""
LARGE = 1024 * 1024
"""Bytes from which on only the latest state of an object is sent."""
PAUSE_PER_BYTE = 20e-9
"""Seconds that a watcher rests for each byte of the large objects it was sent; to send one takes a tenth of that."""
BOOKMARK_EVERY = 60.0
CONVERSIONS = 8
"""Webhooks that are called at once for watches."""
PACE_PER_WATCHER = 20e-6
"""Seconds by which each further watcher lengthens the shortest pause between two wake-ups, so that many watchers get
their events in batches rather than one packet each."""

Pass = Callable[[], Awaitable[None]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class View:
    """A way of looking at a feed; the number makes equal ones share their frames."""

    number: int
    rendering: Rendering
    selection: Selection


class Entry:
    """One change and the frames made of it so far."""

    __slots__ = ("change", "frames", "held", "size")

    def __init__(self, change: Change) -> None:
        self.change = change
        self.size = change.stored.size
        self.held = new_bytes(change.stored, change.previous)
        """How much is kept for this change alone: revisions of a large object share what did not change."""
        self.frames: dict[int, bytes | None] = {}

    def frame(self, view: View) -> bytes | None:
        """The event as this view shows it; None where it is outside the selection."""
        try:
            return self.frames[view.number]
        except KeyError:
            frame = self.frames[view.number] = frame_of(self.change, view)
            return frame


def frame_of(change: Change, view: View) -> bytes | None:
    """An event as seen through a selection: leaving it is DELETED, entering it is ADDED."""
    selection, stored, previous = view.selection, change.stored, change.previous
    if selection.namespace and stored.namespace != selection.namespace:
        return None
    if selection.is_everything:
        return view.rendering.event(change.type, stored)
    stored = view.rendering.in_version(stored)
    previous = view.rendering.in_version(previous) if previous is not None else None
    is_in = change.type != "DELETED" and selection.admits(stored)
    was_in = previous is not None and selection.admits(previous)
    if is_in:
        return view.rendering.event("MODIFIED" if was_in else "ADDED", stored)
    if not was_in or previous is None:
        return None
    if change.type == "DELETED":
        return view.rendering.event("DELETED", stored)
    return view.rendering.event("DELETED", previous, revision=stored.revision)


class Feed:
    """The latest changes of one kind."""

    def __init__(self, store: Store, kind: Kind, conversions: ThreadPoolExecutor) -> None:
        self.store = store
        self.kind = kind
        self.conversions = conversions
        """Threads on which objects are converted by webhooks."""
        self.watchers: set[Watch] = set()
        self._entries: list[Entry] = []
        self._first = 0
        self._bytes = 0
        self._latest: dict[tuple[str, str], int] = {}
        """The position of the latest change of each large object."""
        self._views: Memo[object, View] = Memo(1024)
        self._sleepers: list[asyncio.Future[None]] = []
        self._awake_at = 0.0
        self._wake_planned = False
        self._unsubscribe: Callable[[], None] | None = None

    @property
    def end(self) -> int:
        return self._first + len(self._entries)

    def view(self, rendering: Rendering, selection: Selection) -> View:
        """The view for this rendering and selection, shared by all watchers with the same ones."""
        key = rendering.key, selection.key
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = View(next(_numbers), rendering, selection)
        return view

    def join(self, watch: "Watch") -> None:
        self.watchers.add(watch)
        if self._unsubscribe is None:
            self._unsubscribe = self.store.subscribe(self._append, [self.kind])

    def leave(self, watch: "Watch") -> None:
        self.watchers.discard(watch)
        if not self.watchers and self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
            self._first, self._entries, self._bytes = self.end, [], 0
            self._latest.clear()

    def read(self, cursor: int, view: View, batch: int = BATCH) -> tuple[int, list[bytes], float]:
        """The new cursor, the next frames (about `batch` bytes of them), how long to rest then; Gone if too late."""
        if cursor < self._first:
            raise Gone("too old resource version: the watch fell behind")
        frames: list[bytes] = []
        size = large = 0
        index, entries = cursor - self._first, self._entries
        while index < len(entries) and size < batch:
            entry = entries[index]
            frame = entry.frame(view) if not self._is_outdated(entry, self._first + index, view) else None
            if frame is not None:
                frames.append(frame)
                size += len(frame)
                large += entry.size if entry.size > LARGE else 0
            index += 1
        return self._first + index, frames, large * PAUSE_PER_BYTE

    def _is_outdated(self, entry: Entry, place: int, view: View) -> bool:
        """Whether a large object has changed again since, and is as much in or out of the view as it was."""
        if entry.size <= LARGE or entry.change.type != "MODIFIED" or not view.selection.is_by_place:
            return False
        return self._latest.get((entry.change.stored.namespace, entry.change.stored.name), 0) > place

    def sleep(self) -> "asyncio.Future[None]":
        """A future that is done when something new is there."""
        future = asyncio.get_running_loop().create_future()
        self._sleepers.append(future)
        return future

    def _append(self, change: Change) -> None:
        entry = Entry(change)
        if entry.size > LARGE:
            self._latest[change.stored.namespace, change.stored.name] = self.end
        self._entries.append(entry)
        self._bytes += entry.held
        if len(self._entries) > ENTRIES_KEPT or self._bytes > BYTES_KEPT:
            self._drop(len(self._entries) // 2)
        if self._sleepers and not self._wake_planned:
            self._wake_planned = True
            # The thread of an attempt with extenders writes while the loop waits for it.
            loop = self._sleepers[0].get_loop()
            loop.call_at(max(loop.time(), self._awake_at + PACE_PER_WATCHER * len(self.watchers)), self._wake)

    def _drop(self, number: int) -> None:
        """Drop the oldest entries: a watcher that has not sent them yet is too slow."""
        if number <= 0:
            return
        for place, entry in enumerate(self._entries[:number], self._first):
            self._bytes -= entry.held
            if entry.size > LARGE:
                key = entry.change.stored.namespace, entry.change.stored.name
                if self._latest.get(key) == place:
                    del self._latest[key]
        del self._entries[:number]
        self._first += number

    def _wake(self) -> None:
        self._wake_planned = False
        self._awake_at = asyncio.get_running_loop().time()
        self._drop(min((watch.cursor for watch in self.watchers), default=self.end) - self._first)
        sleepers, self._sleepers = self._sleepers, []
        for future in sleepers:
            if not future.done():
                future.set_result(None)


_numbers = iter(range(2**63))


class Watch:
    """One client's watch."""

    def __init__(
        self, feed: Feed, view: View, *, first: "Beginning", bookmarks: bool, seconds: float, gates: Pass
    ) -> None:
        self._feed = feed
        self._view = view
        self._beginning = first
        self._gates = gates
        self._closed = False
        self._bookmark_due = False
        self._sleep: asyncio.Future[None] | None = None
        self._resent: list[bytes] = []
        self._is_idle = False
        self.observer: Callable[[], None] = lambda: None
        """Called each time everything was sent, and when the watch ends."""
        self.cursor = feed.end
        loop = asyncio.get_running_loop()
        self._timers = [loop.call_later(seconds, self.close)]
        if bookmarks:
            self._timers.append(loop.call_later(BOOKMARK_EVERY, self._ask_bookmark))
        feed.join(self)

    @property
    def kind(self) -> Kind:
        return self._feed.kind

    @property
    def is_open(self) -> bool:
        return not self._closed

    @property
    def is_delivered(self) -> bool:
        """Whether every event so far was handed to the connection."""
        return self._is_idle and self.cursor == self._feed.end and not self._resent

    def resend(self, type: str, stored: Stored) -> None:
        """Send an event to this watch alone, after those that are on their way."""
        if self._view.selection.admits(stored):
            self._resent.append(self._view.rendering.event(type, stored))
            self._stir()

    def close(self) -> None:
        """End the watch: its time is over, its client has gone, or the server stops."""
        self._closed = True
        self._stir()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The frames of this watch, some at a time."""
        try:
            async for chunk in self._first_chunks():
                yield chunk
            while not self._closed:
                self.cursor, frames, rest = await self._converted(self._read)
                if frames:
                    self._sent()
                    await self._feed.store.committed(self._feed.store.revision)
                    await self._gates()
                    yield frames[0] if len(frames) == 1 else b"".join(frames)
                    frames.clear()
                    await self._rest(rest)
                elif self.cursor == self._feed.end:
                    if self._resent:
                        frames, self._resent = self._resent, []
                        await self._gates()
                        yield b"".join(frames)
                        continue
                    if self._bookmark_due:
                        self._bookmark_due = False
                        revision = self._feed.store.revision
                        await self._feed.store.committed(revision)
                        yield self._view.rendering.bookmark(revision)
                        self._sent()
                    await self._wait()
                    continue
                await asyncio.sleep(0)
        except StatusError as error:
            yield self._view.rendering.error(error)
        finally:
            for timer in self._timers:
                timer.cancel()
            self._feed.leave(self)
            self._closed = True
            self.observer()

    async def _first_chunks(self) -> AsyncIterator[bytes]:
        parts: list[bytes] = []
        size = 0
        end = time.monotonic() + TURN
        for make in self._beginning.frames():
            frame = await self._converted(partial(make, self._view))
            if frame is not None:
                self._sent()
                parts.append(frame)
                size += len(frame)
            if size < BATCH and time.monotonic() > end:
                await asyncio.sleep(0)
                end = time.monotonic() + TURN
            if size >= BATCH:
                await self._gates()
                yield b"".join(parts)
                parts, size = [], 0
                await asyncio.sleep(0)
                if self._closed:
                    return
        if self._beginning.end_revision is not None:
            parts.append(self._view.rendering.bookmark(self._beginning.end_revision, initial_events_end=True))
            self._sent()
        if parts:
            await self._gates()
            yield b"".join(parts)
        self._beginning = Beginning()

    def _read(self) -> tuple[int, list[bytes], float]:
        """The next frames; the first one alone where those after it look different."""
        first = self._view.rendering.changes_after_first
        return self._feed.read(self.cursor, self._view, 1 if first else BATCH)

    def _sent(self) -> None:
        """Note that an event was sent: the next ones may look different."""
        rendering = self._view.rendering
        if rendering.changes_after_first:
            self._view = self._feed.view(rendering.after_first(), self._view.selection)

    async def _converted(self, make: Callable[[], T]) -> T:
        """The result of `make`; objects that a webhook has to convert for it are converted on another thread."""
        if not self._view.rendering.kind.custom:
            return make()
        turn = Turn()
        while True:
            try:
                with short_turns(turn):
                    return make()
            except Deferred as deferred:
                await asyncio.get_running_loop().run_in_executor(self._feed.conversions, deferred.work)

    async def _wait(self) -> None:
        if self._closed or self._bookmark_due:
            return
        self._sleep = self._feed.sleep()
        self._is_idle = True
        self.observer()
        await self._sleep
        self._is_idle = False

    async def _rest(self, seconds: float) -> None:
        """Let time pass, unless the watch is closed."""
        if seconds <= 0 or self._closed:
            return
        loop = asyncio.get_running_loop()
        self._sleep = loop.create_future()
        timer = loop.call_later(seconds, self._stir)
        await self._sleep
        timer.cancel()

    def _stir(self) -> None:
        if self._sleep is not None and not self._sleep.done():
            self._sleep.set_result(None)

    def _ask_bookmark(self) -> None:
        self._bookmark_due = True
        self._timers.append(asyncio.get_running_loop().call_later(BOOKMARK_EVERY, self._ask_bookmark))
        del self._timers[1]
        self._stir()


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a watch starts with: objects that exist, or changes that already happened."""

    objects: Sequence[Stored] = ()
    changes: Sequence[Change] = ()
    end_revision: int | None = None
    """The position of the bookmark that ends the initial events; None if no bookmark ends them."""

    def frames(self) -> Iterable[Callable[[View], bytes | None]]:
        """Functions that make the events one by one; None for an object or a change that is outside the selection."""
        for stored in self.objects:
            yield partial(_added, stored)
        for change in self.changes:
            yield partial(frame_of, change)


def _added(stored: Stored, view: View) -> bytes | None:
    is_in = view.selection.is_everything or view.selection.admits(view.rendering.in_version(stored))
    return view.rendering.event("ADDED", stored) if is_in else None


class Feeds:
    """The feeds of all kinds that are being watched."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._feeds: dict[tuple[str, str], Feed] = {}
        self._conversions = ThreadPoolExecutor(CONVERSIONS, thread_name_prefix="watch-conversion")

    def of(self, kind: Kind) -> Feed:
        feed = self._feeds.get(kind.group_kind)
        if feed is None:
            feed = self._feeds[kind.group_kind] = Feed(self._store, kind, self._conversions)
        return feed

    @property
    def watchers(self) -> int:
        return sum(len(feed.watchers) for feed in self._feeds.values())

    def close(self) -> None:
        """End all watches: the server stops."""
        for feed in self._feeds.values():
            for watch in tuple(feed.watchers):
                watch.close()
