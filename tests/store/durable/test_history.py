"""The history of a durable store: what a watch asks for after a restart is what it would have got without one."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from seatrial.model.errors import ConfigError, Gone
from seatrial.store.durable import database
from seatrial.store.durable.rows import Totals, compacted_row
from seatrial.store.objects import Change
from seatrial.store.store import Store
from tests.store.durable.opening import filled, killed, maps_of, names, opened
from tests.store.stock import config_map


def write(store: Store, name: str, value: str = "") -> None:
    """Create, change (a value) or delete (none) a ConfigMap."""
    maps = maps_of(store)
    if store.find(maps, name, "default") is None:
        store.create(maps, config_map(name, value=value), writer="test")
    elif value:
        store.modify(maps, name, lambda found: found["data"].update(value=value), namespace="default", writer="test")
    else:
        store.delete(maps, name, namespace="default", writer="test")


def seen(store: Store, since: int) -> list[tuple[str, int, bytes, bytes | None]]:
    """The changes after a revision, as far as a watch shows them."""

    def line(change: Change) -> tuple[str, int, bytes, bytes | None]:
        previous = change.previous
        return change.type, change.revision, change.stored.data, previous.data if previous is not None else None

    return list(map(line, store.changes(since)))


def test_a_watch_continues_after_a_restart_from_any_revision(tmp_path: Path) -> None:
    store, durability = opened(tmp_path)
    for number, (name, value) in enumerate([("a", "1"), ("b", "1"), ("a", "2"), ("a", "3"), ("b", ""), ("b", "4")]):
        write(store, name, value)
        if number % 2:
            durability.sync()
    before = {revision: seen(store, revision) for revision in range(store.revision + 1)}
    for end in (killed, lambda found: found.close()):
        end(durability)
        store, durability = opened(tmp_path)
        assert {revision: seen(store, revision) for revision in range(store.revision + 1)} == before
    assert [(kind, revision) for kind, revision, *_ in before[2]] == [
        ("MODIFIED", 3), ("MODIFIED", 4), ("DELETED", 5), ("ADDED", 6),
    ]  # fmt: skip
    durability.close()


def test_what_was_compacted_stays_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_TRIM", 1)
    store, durability = opened(tmp_path)
    for number in range(10):
        write(store, "a", str(number))
    durability.sync()
    store.compact(6)
    write(store, "b", "1")
    durability.close()
    store, durability = opened(tmp_path)
    with pytest.raises(Gone):
        seen(store, 5)
    assert [revision for _, revision, *_ in seen(store, 6)] == [7, 8, 9, 10, 11]
    durability.close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        assert [row[0] for row in connection.execute("SELECT until FROM history ORDER BY until")] == [6, 7, 8, 9, 10]


def test_a_database_without_history_gets_one_that_begins_at_its_end(tmp_path: Path) -> None:
    filled(tmp_path, 3, is_closed=True)
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as connection:
        connection.execute("DROP TABLE history")
        totals = Totals(*connection.execute("SELECT revision, rows, sum FROM totals").fetchone())
        totals.subtract(compacted_row(0).checksum)
        row = totals.rows, totals.sum, totals.checksum()
        connection.execute("UPDATE totals SET rows = ?, sum = ?, checksum = ?", row)
        connection.execute("PRAGMA user_version = 1")
    for _ in range(2):
        store, durability = opened(tmp_path)
        assert len(names(store)) == 3
        with pytest.raises(Gone):
            seen(store, 2)
        durability.close()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM history WHERE until = 3", r"rows were written and \d+ are there"),
        ("UPDATE history SET name = 'other' WHERE until = 3", "the change of revision 3 fails its checksum"),
        ("UPDATE history SET last = head WHERE until = 3", "the change of revision 3 fails its checksum"),
    ],
)
def test_damage_of_the_history_is_noticed(tmp_path: Path, statement: str, said: str) -> None:
    store, durability = opened(tmp_path)
    for number in range(4):
        write(store, "a", str(number))
    durability.close()
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as connection:
        connection.execute(statement)
    with pytest.raises(ConfigError, match=said):
        opened(tmp_path)
