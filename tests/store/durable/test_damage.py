"""Damage that SQLite alone would not notice: a damaged log, a missing row, a database older than its commit mark."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from seatrial.model.errors import ConfigError
from seatrial.store.durable import wal
from tests.store.durable.opening import filled, names, opened

FRAME = 24 + 4096


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The log of a store that was killed after ten transactions."""
    filled(tmp_path, *[2] * 10)
    return tmp_path / "store.db-wal"


def test_a_whole_log_is_not_damaged(log: Path) -> None:
    assert not wal.is_damaged(log)
    store, durability = opened(log.parent)
    assert len(names(store)) == 20
    durability.close()


def test_a_log_that_is_cut_off_anywhere_looks_like_a_last_write_that_was_cut_off(log: Path) -> None:
    data = log.read_bytes()
    for size in range(0, len(data), 997):
        log.write_bytes(data[:size])
        assert not wal.is_damaged(log)


def test_bytes_after_the_end_of_the_log_do_not_count(log: Path) -> None:
    log.write_bytes(log.read_bytes() + b"\0" * 8 * FRAME)
    assert not wal.is_damaged(log)
    store, durability = opened(log.parent)
    assert len(names(store)) == 20
    durability.close()


@pytest.mark.parametrize("place", [4, 100, FRAME - 1])
def test_sound_writes_after_a_bad_one_are_refused_even_without_a_mark(log: Path, place: int) -> None:
    (log.parent / "committed").unlink()
    flip(log, 32 + FRAME + place)
    with pytest.raises(
        ConfigError, match=r"store\.db-wal: the file is damaged: whole writes follow a damaged one; put"
    ):
        opened(log.parent)


def test_a_damaged_last_write_that_was_never_acknowledged_is_dropped(tmp_path: Path) -> None:
    """What a power failure leaves: the mark is older than the log, whose last write is not whole."""
    filled(tmp_path / "a", 3)
    filled(tmp_path / "b", 3, 2)
    shutil.copy(tmp_path / "a" / "committed", tmp_path / "b" / "committed")
    log = tmp_path / "b" / "store.db-wal"
    cut(log, log.stat().st_size - 100)
    store, durability = opened(tmp_path / "b")
    assert len(names(store)) == 3
    durability.close()


@pytest.mark.parametrize("size", [0, 20, -1, -FRAME])
def test_a_log_without_acknowledged_writes_is_refused(log: Path, size: int) -> None:
    cut(log, size)
    with pytest.raises(ConfigError, match=r"store\.db: writes are missing: .* revision 20, and the file ends at"):
        opened(log.parent)


def test_a_log_after_a_clean_end_is_refused(tmp_path: Path) -> None:
    filled(tmp_path / "a", 3)
    filled(tmp_path / "b", 3, is_closed=True)
    shutil.copy(tmp_path / "a" / "store.db-wal", tmp_path / "b" / "store.db-wal")
    with pytest.raises(ConfigError, match=r"store\.db-wal: the store was closed at revision 3"):
        opened(tmp_path / "b")


def test_a_database_that_is_older_than_its_mark_is_refused(tmp_path: Path) -> None:
    filled(tmp_path / "old", 3, is_closed=True)
    filled(tmp_path / "new", 5, is_closed=True)
    shutil.copy(tmp_path / "old" / "store.db", tmp_path / "new" / "store.db")
    with pytest.raises(ConfigError, match=r"store\.db: writes are missing: the store was closed at revision 5"):
        opened(tmp_path / "new")


def test_a_missing_database_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, 3, is_closed=True)
    (tmp_path / "store.db").unlink()
    with pytest.raises(ConfigError, match=r"store\.db: the file is missing, and writes up to revision 3"):
        opened(tmp_path)


def test_a_missing_database_whose_log_is_there_is_refused_even_without_a_mark(log: Path) -> None:
    (log.parent / "store.db").unlink()
    (log.parent / "committed").unlink()
    data = log.read_bytes()
    with pytest.raises(ConfigError, match=r"store\.db: the file is missing, and store\.db-wal holds writes to it; put"):
        opened(log.parent)
    assert log.read_bytes() == data


@pytest.mark.parametrize("place", [2, 20, -100])
def test_a_refused_start_leaves_the_log_so_that_it_can_be_mended(log: Path, place: int) -> None:
    flip(log, place)
    data = log.read_bytes()
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"store\.db: writes are missing"):
            opened(log.parent)
        assert log.read_bytes() == data
    flip(log, place)
    store, durability = opened(log.parent)
    assert len(names(store)) == 20
    durability.close()
    assert sorted(path.name for path in log.parent.iterdir()) == ["committed", "lock", "store.db"]


def test_a_log_that_a_killed_start_did_not_put_back_is_put_back(log: Path) -> None:
    log.rename(log.with_name("store.db-wal.kept"))
    store, durability = opened(log.parent)
    assert len(names(store)) == 20
    durability.close()


def test_a_row_that_vanished_is_noticed(tmp_path: Path) -> None:
    filled(tmp_path, 3, is_closed=True)
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as connection:
        connection.execute("DELETE FROM objects WHERE revision = 2")
    with pytest.raises(ConfigError, match=r"store\.db: the file is damaged: 4 rows were written and 3 are there"):
        opened(tmp_path)


def test_a_row_that_changed_is_noticed(tmp_path: Path) -> None:
    filled(tmp_path, 3, is_closed=True)
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as connection:
        connection.execute("UPDATE objects SET name = 'other' WHERE revision = 2")
    with pytest.raises(ConfigError, match="the object of revision 2 fails its checksum"):
        opened(tmp_path)


def test_a_damaged_mark_is_refused_and_may_be_removed(tmp_path: Path) -> None:
    filled(tmp_path, 3, is_closed=True)
    mark = tmp_path / "committed"
    for place in range(mark.stat().st_size):
        flip(mark, place)
        with pytest.raises(ConfigError, match=r"committed: the file is damaged.* remove this file"):
            opened(tmp_path)
        flip(mark, place)
    cut(mark, 0)
    with pytest.raises(ConfigError, match="committed: the file is damaged"):
        opened(tmp_path)
    mark.unlink()
    store, durability = opened(tmp_path)
    assert len(names(store)) == 3
    durability.close()
