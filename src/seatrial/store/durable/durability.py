"""Durability with group commit: a write is acknowledged when the transaction that holds it is on disk.

Taking a change costs next to nothing; one transaction in a thread then covers all changes that were taken meanwhile.
Code that answers a client awaits `committed(revision)` first, for reads as for writes, so that no state is served that
is not on disk. In-process code may call `sync`.

A write that cannot be made durable ends the store: every later write and every wait fails with the cause. What is in
memory may then be ahead of the disk, and only a restart from disk is safe.
"""

import asyncio
import sqlite3
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from seatrial.model.errors import ConfigError, StorageFailed
from seatrial.store.durable import wal
from seatrial.store.durable.commit_mark import CommitMark, Mark
from seatrial.store.durable.database import REMEDY, Database
from seatrial.store.durable.directory import Directory, cannot_use
from seatrial.store.durable.restoring import restore
from seatrial.store.objects import Change
from seatrial.store.store import Store


class Durability:
    """Keeps a store on disk."""

    def __init__(self, store: Store, path: Path) -> None:
        """Fill `store` from the folder `path`; ConfigError, with the file and the remedy, where it is damaged."""
        self._store = store
        self._waiting: deque[Change] = deque()
        self._synced = 0
        self._writing = threading.Lock()
        self._failure: StorageFailed | None = None
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._transaction: asyncio.Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, "seatrial-store")
        self._directory = Directory(path)
        self._mark = CommitMark(self._directory.mark)
        try:
            self._database = self._open()
        except BaseException as error:
            self._directory.close()
            if isinstance(error, OSError):
                raise cannot_use(path, error) from error
            raise
        store.attach_journal(self)

    @property
    def synced(self) -> int:
        """The revision up to which everything is on disk."""
        return self._synced

    @property
    def failure(self) -> StorageFailed | None:
        """The error after which nothing can be written; None while there is none."""
        return self._failure

    def append(self, change: Change) -> None:
        """Take a change; it is not durable yet."""
        if self._failure is not None:
            raise self._failure
        self._waiting.append(change)

    def sync(self) -> None:
        """Bring everything to disk; returns when it is there."""
        with self._writing:
            if self._failure is not None:
                raise self._failure
            changes = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if not changes:
                return
            try:
                self._database.write(changes, self._history.compacted)
                self._mark.write(changes[-1].revision)
            except Exception as error:
                # Whatever it is (memory may be used up, too): the changes are off the queue and not on disk.
                self._failure = _failed(self._database.path, error)
                raise self._failure from error
            self._synced = changes[-1].revision

    async def committed(self, revision: int) -> None:
        """Return when the write of this revision is on disk."""
        if self._failure is not None:
            raise self._failure
        if revision <= self._synced:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append((revision, waiter))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        await waiter

    async def written(self) -> None:
        """Return when no transaction is in progress."""
        if self._transaction is not None:
            await asyncio.wait([self._transaction])

    def close(self) -> None:
        """Bring everything to disk and record that the end was a clean one; after a failure only close the files."""
        try:
            if self._failure is None:
                self.sync()
                self._database.close()
                self._mark.close(self._synced)
                self._store.attach_journal(None)
        except (sqlite3.Error, OSError) as error:
            self._failure = _failed(self._database.path, error)
            raise self._failure from error
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close all files without recording a clean end."""
        self._thread.shutdown()
        self._database.abandon()
        self._mark.abandon()
        self._directory.close()

    async def _flush(self) -> None:
        """Sync as long as something waits."""
        loop = asyncio.get_running_loop()
        try:
            while self._waiters:
                self._transaction = loop.run_in_executor(self._thread, self.sync)
                await self._transaction
                self._answer()
        except StorageFailed:
            self._answer()
        finally:
            self._flushing = self._transaction = None

    def _answer(self) -> None:
        """Resume the callers whose write is on disk, or all of them after a failure."""
        waiters, self._waiters = self._waiters, []
        for revision, waiter in waiters:
            if waiter.done():
                continue
            if revision <= self._synced:
                waiter.set_result(None)
            elif self._failure is not None:
                waiter.set_exception(self._failure)
            else:
                self._waiters.append((revision, waiter))

    def _open(self) -> Database:
        directory = self._directory
        mark = self._mark.read()
        if not directory.database.exists():
            if mark is not None and mark.revision:
                why = f"the file is missing, and writes up to revision {mark.revision} were acknowledged; {REMEDY}"
                raise ConfigError(str(directory.database), "", why)
            if directory.log.exists() and directory.log.stat().st_size:
                why = f"the file is missing, and {directory.log.name} holds writes to it; {REMEDY}"
                raise ConfigError(str(directory.database), "", why)
        directory.report_odd_files()
        with directory.keeping_log():
            return self._fill(mark)

    def _fill(self, mark: Mark | None) -> Database:
        """Open the database and fill the store from it."""
        directory = self._directory
        _check_log(directory.log, mark)
        database = Database(directory.database, may_be_new=mark is None or not mark.revision)
        try:
            _check_mark(database, mark)
            changes, floor = restore(self._store, *database.read())
            self._mark.open(database.revision)
            directory.sync()
        except BaseException:
            database.abandon()
            raise
        self._synced = database.revision
        self._history = self._store.resume(database.revision, changes, floor)
        return database


def _check_log(log: Path, mark: Mark | None) -> None:
    """Refuse a log that SQLite would read in part only."""
    if mark is not None and mark.is_closed and log.exists() and log.stat().st_size:
        why = "the store was closed at revision {}, after which there is no such file; {}"
        raise ConfigError(str(log), "", why.format(mark.revision, REMEDY))
    if wal.is_damaged(log):
        raise ConfigError(str(log), "", f"the file is damaged: whole writes follow a damaged one; {REMEDY}")


def _check_mark(database: Database, mark: Mark | None) -> None:
    """Refuse a database that does not reach what was acknowledged."""
    found = database.revision
    if mark is None or found == mark.revision or (found > mark.revision and not mark.is_closed):
        return
    what = "was closed at" if mark.is_closed else "had acknowledged all writes up to"
    why = f"writes are missing: the store {what} revision {mark.revision}, and the file ends at {found}"
    raise ConfigError(str(database.path), "", f"{why}; {REMEDY}")


def _failed(path: Path, error: Exception) -> StorageFailed:
    return StorageFailed(
        f"{path}: the write could not be made durable: {error}; nothing is written any more. Free the disk and start "
        "the server again: every write that was acknowledged is kept"
    )
