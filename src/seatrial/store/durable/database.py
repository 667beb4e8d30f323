"""The SQLite database of a store: one row per object, keyed by its revision, its history, and one row of totals.

An update deletes the row of the old revision and inserts one of the new, so the table needs no index, grows at its end
and is read in the order of writing. What the object was before goes to the history, keyed by the revision of the
change, from where a watch can continue after a restart; it is cut where the history in memory is. A large object that
is kept in pieces leaves no such state behind: the history then begins after its change.

SQLite runs with a write-ahead log and `synchronous=FULL`. The connection locks the file for itself, which also keeps
the index of the log in memory: a full disk cannot cut off a memory-mapped file.

Reading checks three things: SQLite's own structure, the checksum of each row, and the totals over all rows.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from seatrial.model.errors import ConfigError
from seatrial.store.durable.rows import (
    HistoryRow,
    ObjectRow,
    PieceRow,
    Totals,
    compacted_row,
    history_checksum,
    history_row,
    object_checksum,
    object_row,
    piece_checksum,
    piece_row,
)
from seatrial.store.fragments import shared_pieces
from seatrial.store.objects import Change, Stored

CHECKPOINT_BYTES = 8 * 1024 * 1024
"""A log longer than this is brought into the database."""
_TRIM = 1000
"""Revisions that the history on disk may begin before that in memory."""
_FORMAT = 2
_HISTORY = (
    "CREATE TABLE history (until INTEGER PRIMARY KEY, revision INTEGER NOT NULL, kind TEXT NOT NULL,"
    " namespace TEXT NOT NULL, name TEXT NOT NULL, checksum INTEGER NOT NULL, head BLOB, last BLOB)"
)
_FIRST_TABLES = (
    "CREATE TABLE objects (revision INTEGER PRIMARY KEY, kind TEXT NOT NULL, namespace TEXT NOT NULL,"
    " name TEXT NOT NULL, list INTEGER, checksum INTEGER NOT NULL, head BLOB NOT NULL, tail BLOB)",
    "CREATE TABLE pieces (list INTEGER NOT NULL, place INTEGER NOT NULL, checksum INTEGER NOT NULL,"
    " data BLOB NOT NULL, PRIMARY KEY (list, place))",
    "CREATE TABLE totals (revision INTEGER NOT NULL, rows INTEGER NOT NULL, sum INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL)",
)
"""Those of format 1, which had no history."""
_TABLES = (*_FIRST_TABLES, _HISTORY)
_SETTINGS = (
    "PRAGMA locking_mode = EXCLUSIVE",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA secure_delete = OFF",
    "PRAGMA cache_size = -16384",
)
_OUTSIDE = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    )
)
"""Errors whose cause is outside the file."""
_INSERT_HISTORY = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
REMEDY = "put the data directory back from a copy, or move it away to begin with an empty cluster"


class Database:
    """One open database; what is read is checked, what is written is durable when `write` returns."""

    def __init__(self, path: Path, *, may_be_new: bool = True) -> None:
        """Open the file, or make it where that may be; ConfigError where it cannot be used."""
        self.path = path
        self.log = path.with_name(path.name + "-wal")
        self._totals = Totals()
        self._floor = 0
        """The revision that the history begins after."""
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._failure(error) from error
        try:
            self._begin(may_be_new=may_be_new)
        except sqlite3.Error as error:
            self.abandon()
            raise self._failure(error) from error
        except ConfigError:
            self.abandon()
            raise

    @property
    def revision(self) -> int:
        """The revision of the last transaction."""
        return self._totals.revision

    def read(self) -> tuple[list[ObjectRow], dict[int, list[bytes]], list[HistoryRow]]:
        """All objects in the order of their revisions, the pieces of each list, and the history; ConfigError: damage.

        The first row of the history names the revision after which it is whole.
        """
        found = Totals(self._totals.revision)
        try:
            self._check_structure()
            pieces: dict[int, list[bytes]] = {}
            for piece in self._pieces():
                found.add(piece.checksum)
                pieces.setdefault(piece.list, []).append(piece.data)
            objects = list(self._objects())
            history = list(self._history()) if self._has_history else []
        except sqlite3.Error as error:
            raise self._failure(error) from error
        for checksum in (*(row.checksum for row in objects), *(row.checksum for row in history)):
            found.add(checksum)
        if found != self._totals:
            why = f"{self._totals.rows} rows were written and {found.rows} are there, or others than were written"
            raise self._refusal(f"the file is damaged: {why}")
        if not self._has_history:
            self._add_history()
            history = [compacted_row(self._floor)]
        elif not history or history[0].head is not None:
            raise self._refusal("the file is damaged: its history has no beginning")
        self._floor = history[0].until
        return objects, pieces, history

    def write(self, changes: Sequence[Change], compacted: int = 0) -> None:
        """Make changes durable in one transaction; sqlite3.Error where that cannot be done.

        `compacted` is the revision up to which the history in memory is forgotten.
        """
        self._commit(changes, compacted if compacted >= self._floor + _TRIM else 0)
        if self.log.stat().st_size > CHECKPOINT_BYTES:
            self._checkpoint()

    def close(self) -> None:
        """Bring the log into the database and close it."""
        self._checkpoint()
        self._connection.close()

    def abandon(self) -> None:
        """Close the files, writing no more than SQLite must."""
        try:
            self._connection.close()
        except sqlite3.Error:
            return

    def _commit(self, changes: Sequence[Change], floor: int) -> None:
        batch = _Batch(self._connection, self._totals)
        self._connection.execute("BEGIN IMMEDIATE")
        for change in changes:
            batch.add(change)
        batch.flush()
        if (floor := max(floor, batch.unknown)) > self._floor:
            self._trim(floor)
        self._totals.revision = changes[-1].revision
        self._write_totals()
        self._connection.execute("COMMIT")

    def _begin(self, *, may_be_new: bool) -> None:
        for setting in _SETTINGS:
            self._connection.execute(setting).fetchall()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        self._has_history = version != 1
        if version == 0 and not self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            if not may_be_new:
                return
            self._create()
        elif version not in (1, _FORMAT):
            raise self._refusal(f"expected format {_FORMAT}, got {version}: a newer version wrote it, or it is damaged")
        tables = self._connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
        if tuple(sql for (sql,) in tables) != (_TABLES if self._has_history else _FIRST_TABLES):
            raise self._refusal("the file is damaged: its tables are not those of a store")
        totals = self._connection.execute("SELECT revision, rows, sum, checksum FROM totals").fetchall()
        if len(totals) != 1 or Totals(*totals[0][:3]).checksum() != totals[0][3]:
            raise self._refusal("the file is damaged: its totals fail their checksum")
        self._totals = Totals(*totals[0][:3])

    def _create(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        for statement in (*_TABLES, "INSERT INTO totals VALUES (0, 0, 0, 0)", f"PRAGMA user_version = {_FORMAT}"):
            self._connection.execute(statement)
        self._trim(0)
        self._write_totals()
        self._connection.execute("COMMIT")

    def _add_history(self) -> None:
        """Bring a database of format 1 to this one; what happened in it before is not known."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(_HISTORY)
        self._connection.execute(f"PRAGMA user_version = {_FORMAT}")
        self._trim(self._totals.revision)
        self._write_totals()
        self._connection.execute("COMMIT")

    def _trim(self, revision: int) -> None:
        """Let the history begin after a revision."""
        where = "FROM history WHERE until <= ?"
        number, checksums = self._connection.execute(
            f"SELECT count(*), coalesce(sum(checksum), 0) {where}", (revision,)
        ).fetchone()
        self._totals.subtract(checksums, number)
        self._connection.execute(f"DELETE {where}", (revision,))
        row = compacted_row(revision)
        self._connection.execute(_INSERT_HISTORY, row)
        self._totals.add(row.checksum)
        self._floor = revision

    def _write_totals(self) -> None:
        totals = self._totals
        row = totals.revision, totals.rows, totals.sum, totals.checksum()
        self._connection.execute("UPDATE totals SET revision = ?, rows = ?, sum = ?, checksum = ?", row)

    def _check_structure(self) -> None:
        (answer, *_) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise self._refusal(f"the file is damaged: {answer}")

    def _objects(self) -> Iterator[ObjectRow]:
        for columns in self._connection.execute(
            "SELECT revision, kind, namespace, name, list, checksum, head, tail FROM objects ORDER BY revision"
        ):
            revision, kind, namespace, name, list, checksum, head, tail = columns
            is_typed = isinstance(head, bytes) and (tail is None or isinstance(tail, bytes))
            if not is_typed or object_checksum(revision, kind, namespace, name, list, head, tail) != checksum:
                raise self._refusal(f"the file is damaged: the object of revision {revision} fails its checksum")
            yield ObjectRow(*columns)

    def _history(self) -> Iterator[HistoryRow]:
        for columns in self._connection.execute(
            "SELECT until, revision, kind, namespace, name, checksum, head, last FROM history ORDER BY until"
        ):
            row = HistoryRow(*columns)
            is_typed = all(state is None or isinstance(state, bytes) for state in (row.head, row.last))
            if not is_typed or history_checksum(*row[:5], row.head, row.last) != row.checksum:
                raise self._refusal(f"the file is damaged: the change of revision {row.until} fails its checksum")
            yield row

    def _pieces(self) -> Iterator[PieceRow]:
        for columns in self._connection.execute("SELECT list, place, checksum, data FROM pieces ORDER BY list, place"):
            piece = PieceRow(*columns)
            if (
                not isinstance(piece.data, bytes)
                or piece_checksum(piece.list, piece.place, piece.data) != piece.checksum
            ):
                raise self._refusal(f"the file is damaged: piece {piece.place} of {piece.list} fails its checksum")
            yield piece

    def _checkpoint(self) -> None:
        (is_busy, *_) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            raise sqlite3.OperationalError("the log could not be brought into the database")

    def _failure(self, error: sqlite3.Error) -> ConfigError:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OUTSIDE:
            return ConfigError(str(self.path), "", f"{error}; make room or grant access, and start again")
        return self._refusal(f"the file is damaged: {error}")

    def _refusal(self, why: str) -> ConfigError:
        return ConfigError(str(self.path), "", f"{why}; {REMEDY}")


class _Batch:
    """The rows of one transaction. What is written and replaced within it never reaches a table."""

    def __init__(self, connection: sqlite3.Connection, totals: Totals) -> None:
        self._connection = connection
        self._totals = totals
        self._added: dict[int, ObjectRow] = {}
        self._removed: list[tuple[int]] = []
        self._replaced: list[HistoryRow] = []
        self.unknown = 0
        """The last revision whose change the history does not have."""

    def add(self, change: Change) -> None:
        """Add a change."""
        stored, previous = change.stored, change.previous
        if previous is not None:
            self._keep(change, previous)
        list = self._remove(previous.revision) if previous is not None else None
        content = stored.pieces
        if change.type == "DELETED" or isinstance(content, bytes):
            if list is not None:
                self._cut(list, 0)
            list = None
        elif list is None:
            list = stored.revision
            self._append_pieces(list, 0, content[1:-1])
        else:
            shared = shared_pieces(stored, previous)
            self._cut(list, shared)
            self._append_pieces(list, shared, content[1 + shared : -1])
        if change.type != "DELETED":
            row = self._added[stored.revision] = object_row(stored, list)
            self._totals.add(row.checksum)

    def flush(self) -> None:
        """Write the rows to the tables."""
        if self._removed:
            self._connection.executemany("DELETE FROM objects WHERE revision = ?", self._removed)
        if self._added:
            self._connection.executemany("INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._added.values())
        if self._replaced:
            self._connection.executemany(_INSERT_HISTORY, self._replaced)

    def _keep(self, change: Change, previous: Stored) -> None:
        """Take the state before a change to the history; one in pieces is too large for that."""
        if isinstance(previous.pieces, bytes):
            row = history_row(change, previous)
            self._replaced.append(row)
            self._totals.add(row.checksum)
        else:
            self.unknown = change.revision

    def _remove(self, revision: int) -> int | None:
        """Remove the object of a revision; its list of pieces."""
        row = self._added.pop(revision, None)
        if row is not None:
            self._totals.subtract(row.checksum)
            return row.list
        found = self._connection.execute(
            "SELECT checksum, list FROM objects WHERE revision = ?", (revision,)
        ).fetchone()
        if found is None:
            raise sqlite3.IntegrityError(f"the object of revision {revision} is not in the database")
        self._removed.append((revision,))
        self._totals.subtract(found[0])
        list: int | None = found[1]
        return list

    def _cut(self, list: int, place: int) -> None:
        """Remove the pieces of a list from a place on."""
        where = "FROM pieces WHERE list = ? AND place >= ?"
        number, checksums = self._connection.execute(
            f"SELECT count(*), coalesce(sum(checksum), 0) {where}", (list, place)
        ).fetchone()
        if number:
            self._totals.subtract(checksums, number)
            self._connection.execute(f"DELETE {where}", (list, place))

    def _append_pieces(self, list: int, place: int, pieces: Sequence[bytes]) -> None:
        rows = [piece_row(list, number, data) for number, data in enumerate(pieces, place)]
        for row in rows:
            self._totals.add(row.checksum)
        self._connection.executemany("INSERT INTO pieces VALUES (?, ?, ?, ?)", rows)
