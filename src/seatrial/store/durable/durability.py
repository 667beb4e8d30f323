"""Durability with group commit: a write is acknowledged when its journal record is on disk.

Appending costs a few microseconds; a single sync then covers all records that were appended meanwhile. It runs in a
thread, since a disk may take its time. Whoever answers a client awaits `committed(revision)`; in-process code may call
`sync`. A clean end is noted, so that after any other one the revision counter leaves a gap: a revision that some
watcher had seen but that never reached the disk must not be given to another write.
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from seatrial.model.documents import decode
from seatrial.store.crd import DEFINITIONS
from seatrial.store.durable.files import Directory, revision_of
from seatrial.store.durable.records import Record, content_of, frame, kind_from, record_of
from seatrial.store.objects import Change, Stored
from seatrial.store.store import Store

GAP = 100_000
"""Revisions that are skipped after an unclean end; more cannot be between two syncs."""

SNAPSHOT_BYTES = 128 * 1024 * 1024
"""A journal longer than this, and than twice what is alive, is replaced by a snapshot."""


class Durability:
    """Keeps a store on disk."""

    def __init__(self, store: Store, path: Path, *, snapshot_bytes: int = SNAPSHOT_BYTES) -> None:
        self._store = store
        self._directory = Directory(path)
        self._clean = path / "clean"
        self._snapshot_bytes = self._enough = snapshot_bytes
        self._buffer: deque[bytes] = deque()
        self._appended = self._synced = 0
        self._journal_bytes = 0
        self._writing = threading.Lock()
        self._snapshot: threading.Thread | None = None
        self._failure: OSError | None = None
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "seatrial-journal")
        try:
            self._journal = self._open()
        except BaseException:
            self._directory.close()
            raise
        store.attach_journal(self)

    @property
    def synced(self) -> int:
        """The revision up to which everything is on disk."""
        return self._synced

    def append(self, change: Change) -> None:
        """Take a change into the journal; it is not durable yet."""
        if self._failure is not None:
            raise self._failure
        data = frame(record_of(change))
        # The order matters: a sync in the other thread covers what was in the buffer when it read the revision.
        self._buffer.append(data)
        self._appended = change.stored.revision
        self._journal_bytes += len(data)
        if self._journal_bytes > self._enough:
            self._start_snapshot()

    def sync(self) -> None:
        """Bring everything to disk; returns when it is there."""
        with self._writing:
            appended = self._appended
            waiting = [self._buffer.popleft() for _ in range(len(self._buffer))]
            try:
                if waiting:
                    _write_all(self._journal, b"".join(waiting))
                    os.fdatasync(self._journal.fileno())
            except OSError as error:
                self._failure = error
                raise
            self._synced = max(self._synced, appended)

    async def committed(self, revision: int) -> None:
        """Return when the write of this revision is on disk."""
        if revision <= self._synced:
            return
        if self._failure is not None:
            raise self._failure
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append((revision, waiter))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        await waiter

    def close(self) -> None:
        """Bring everything to disk and note that the end was a clean one."""
        self.sync()
        if self._snapshot is not None:
            self._snapshot.join()
        self._thread.shutdown()
        self._store.attach_journal(None)
        self._journal.close()
        self._clean.write_text(str(self._synced))
        self._directory.sync()
        self._directory.close()

    async def _flush(self) -> None:
        """Sync as long as somebody waits."""
        loop = asyncio.get_running_loop()
        try:
            while self._waiters:
                await loop.run_in_executor(self._thread, self.sync)
                self._answer(lambda waiter: waiter.set_result(None), upto=self._synced)
        except OSError as error:
            failure = error
            self._answer(lambda waiter: waiter.set_exception(failure), upto=self._appended)
        finally:
            self._flushing = None

    def _answer(self, answer: Callable[["asyncio.Future[None]"], None], upto: int) -> None:
        waiters, self._waiters = self._waiters, []
        for revision, waiter in waiters:
            if revision > upto:
                self._waiters.append((revision, waiter))
            elif not waiter.done():
                answer(waiter)

    def _open(self) -> BinaryIO:
        reached = self._directory.read(self._restore)
        noted = int(self._clean.read_text() or 0) if self._clean.exists() else -1
        self._clean.unlink(missing_ok=True)
        is_clean = noted >= reached or not (reached or self._directory.journals())
        last = max(reached, noted, *(revision_of(path) for path in self._directory.journals()), 0)
        self._appended = self._synced = last if is_clean else last + GAP
        self._store.resume(self._synced)
        self._journal_bytes = sum(path.stat().st_size for path in self._directory.journals())
        return self._directory.new_journal(self._synced)

    def _restore(self, record: Record) -> None:
        """Put one record back into the store."""
        group, version, name, *_ = record.kind
        kind = self._store.kinds.named(f"{group}/{version}" if group else version, name) or kind_from(record.kind)
        previous = self._store.shelf(kind).find(record.namespace, record.name)
        if not record.pieces:
            if previous is not None:
                self._store.restore(None, previous)
                if kind.group_kind == DEFINITIONS:
                    self._store.definitions.removed(record.name)
            return
        stored = Stored(kind, record.namespace, record.name, record.revision, content_of(record, previous))
        self._store.restore(stored, previous)
        if kind.group_kind == DEFINITIONS:
            self._store.definitions.changed(decode(stored.data))

    def _start_snapshot(self) -> None:
        """Begin a new journal, and write everything there is to a snapshot beside it."""
        if self._snapshot is not None and self._snapshot.is_alive():
            return
        objects = self._store.everything()
        self._enough = max(self._snapshot_bytes, 2 * sum(stored.size for stored in objects))
        if self._journal_bytes < self._enough:
            return
        self.sync()
        revision = self._appended
        with self._writing:
            self._journal.close()
            self._journal = self._directory.new_journal(revision)
        self._journal_bytes = 0
        self._snapshot = threading.Thread(target=self._write_snapshot, args=(list(objects), revision), daemon=True)
        self._snapshot.start()

    def _write_snapshot(self, objects: list[Stored], revision: int) -> None:
        # Without room for a snapshot the journals stay, and the next one is tried when they have grown again.
        with suppress(OSError):
            self._directory.write_snapshot(objects, revision)
            self._directory.forget_before(revision)


def _write_all(file: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
