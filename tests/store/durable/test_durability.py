"""Durability: what a data directory keeps, and when a write counts as durable.

Tests: store/durable/*.py
"""

import asyncio
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from seatrial.model.errors import ConfigError, StorageFailed
from seatrial.model.kinds import Kind
from seatrial.store.durable.database import Database
from seatrial.store.objects import Change
from seatrial.store.store import Store
from tests.known_kinds import known_kind
from tests.store.durable.opening import filled, killed, maps_of, names, opened
from tests.store.stock import Document, config_map, definition, members_of, pod, widget, write_members


def test_everything_is_there_again_after_a_clean_end(tmp_path: Path) -> None:
    store, durability = opened(tmp_path)
    store.create(maps_of(store), config_map("a", x="1"), writer="test")
    store.create(maps_of(store), config_map("b"), writer="test")
    store.delete(maps_of(store), "b", namespace="default", writer="test")
    before = store.export()
    durability.close()
    again, durability = opened(tmp_path)
    assert again.export() == before
    assert again.revision == store.revision == 3
    durability.close()


def test_what_was_synced_survives_an_unclean_end(tmp_path: Path) -> None:
    store, durability = opened(tmp_path)
    store.create(maps_of(store), config_map("a"), writer="test")
    durability.sync()
    store.create(maps_of(store), config_map("b"), writer="test")
    killed(durability)
    again, durability = opened(tmp_path)
    assert names(again) == ["a"]
    durability.close()


def test_the_revision_never_goes_back_however_often_it_is_opened(tmp_path: Path) -> None:
    store, durability = opened(tmp_path)
    store.create(maps_of(store), config_map("a"), writer="test")
    store.delete(maps_of(store), "a", namespace="default", writer="test")
    durability.sync()
    killed(durability)
    for _ in range(3):
        store, durability = opened(tmp_path)
        assert store.revision == 2
        durability.close()


def test_definitions_and_their_objects_come_back(tmp_path: Path) -> None:
    store, durability = opened(tmp_path)
    definitions = known_kind(store.kinds, "apiextensions.k8s.io/v1", "CustomResourceDefinition")
    store.create(definitions, definition(), writer="test")
    store.create(known_kind(store.kinds, "example.com/v1", "Widget"), widget("a"), writer="test")
    durability.close()
    again, durability = opened(tmp_path)
    widgets = known_kind(again.kinds, "example.com/v1", "Widget")
    assert [stored.name for stored in again.list(widgets)] == ["a"]
    durability.close()


def set_data(document: Document, **data: str) -> None:
    document["data"] = data


def test_an_object_that_changes_many_times_is_kept_once(tmp_path: Path) -> None:
    store, durability = opened(tmp_path)
    store.create(maps_of(store), config_map("a"), writer="test")
    for number in range(300):
        change = partial(set_data, n=str(number))
        store.modify(maps_of(store), "a", change, namespace="default", writer="test")
        if number % 7 == 0:
            durability.sync()
    durability.close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        assert connection.execute("SELECT revision, name FROM objects").fetchall() == [(301, "a")]
    again, durability = opened(tmp_path)
    assert again.get(maps_of(again), "a", "default").document()["data"] == {"n": "299"}
    durability.close()


def test_pieces_of_a_large_object_are_written_once(tmp_path: Path) -> None:
    store, durability = opened(tmp_path)
    maps = maps_of(store)
    stored = store.create(maps, config_map("a"), writer="test")
    members = members_of({str(step): "x" * 10_000 for step in range(20)})
    for step in range(20):
        stored = write_members(store, stored, members[: step + 1])
        durability.sync()
    size = durability._database.log.stat().st_size
    assert size < 800_000, "20 objects of up to 200 kB, written whole, are 2 MB"
    before = store.export()
    killed(durability)
    again, durability = opened(tmp_path)
    assert again.export() == before
    durability.close()


@pytest.mark.parametrize("keep", [0, 3])
def test_pieces_that_an_object_no_longer_has_are_gone(tmp_path: Path, keep: int) -> None:
    store, durability = opened(tmp_path)
    maps = maps_of(store)
    members = members_of({str(step): "x" for step in range(5)})
    stored = write_members(store, store.create(maps, config_map("a"), writer="test"), members)
    durability.sync()
    write_members(store, stored, members[:keep])
    durability.close()
    again, durability = opened(tmp_path)
    assert len(again.get(maps, "a", "default").document()["data"]) == keep
    again.delete(maps, "a", namespace="default", writer="test")
    durability.close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        assert connection.execute("SELECT count(*) FROM pieces").fetchone() == (0,)
    opened(tmp_path)[1].close()


def test_a_long_log_is_brought_into_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seatrial.store.durable.database.CHECKPOINT_BYTES", 100_000)
    store, durability = opened(tmp_path)
    for number in range(100):
        store.create(maps_of(store), config_map(f"m{number}", value="x" * 5000), writer="test")
        durability.sync()
        assert durability._database.log.stat().st_size < 150_000
    killed(durability)
    again, durability = opened(tmp_path)
    assert len(names(again)) == 100
    durability.close()


def test_a_directory_serves_one_process_at_a_time(tmp_path: Path) -> None:
    _, durability = opened(tmp_path)
    with pytest.raises(ConfigError, match="in use by another process"):
        opened(tmp_path)
    durability.close()


def test_a_commit_is_awaited_until_it_is_on_disk(tmp_path: Path) -> None:
    async def play() -> None:
        store, durability = opened(tmp_path)
        revisions = [store.create(maps_of(store), config_map(f"m{n}"), writer="test").revision for n in range(50)]
        assert durability.synced == 0
        await asyncio.gather(*(store.committed(revision) for revision in revisions))
        assert durability.synced == 50
        await store.committed(50)
        durability.close()

    asyncio.run(play())


def test_a_store_without_a_directory_has_nothing_to_wait_for(store: Store, pods: Kind) -> None:
    stored = store.create(pods, pod("a"), writer="test")
    asyncio.run(store.committed(stored.revision))
    asyncio.run(store.written())


def test_the_end_of_the_write_in_progress_can_be_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        store, durability = opened(tmp_path)
        go = threading.Event()
        write = durability._database.write
        monkeypatch.setattr(durability._database, "write", lambda *given: (go.wait(10), write(*given)))
        await store.written()
        store.create(maps_of(store), config_map("m"), writer="test")
        committed = asyncio.ensure_future(store.committed(1))
        await asyncio.sleep(0)
        written = asyncio.ensure_future(store.written())
        await asyncio.sleep(0.01)
        assert not written.done()
        go.set()
        await written
        assert durability.synced == 1
        await committed
        durability.close()

    asyncio.run(play())


@pytest.mark.parametrize(
    "error", [sqlite3.OperationalError("database or disk is full"), MemoryError("no memory")], ids=["disk", "memory"]
)
def test_a_write_that_cannot_be_made_durable_fails_every_wait_and_every_later_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def play() -> None:
        store, durability = opened(tmp_path)
        store.create(maps_of(store), config_map("before"), writer="test")
        durability.sync()

        def refuse(database: Database, changes: Iterable[Change], compacted: int) -> None:
            raise error

        monkeypatch.setattr(Database, "write", refuse)
        lost = store.create(maps_of(store), config_map("lost"), writer="test").revision
        for revision in (lost, 1):
            with pytest.raises(StorageFailed, match=rf"store\.db: the write could not be made durable: {error}"):
                await store.committed(revision)
        assert store.failure is not None
        with pytest.raises(StorageFailed):
            store.create(maps_of(store), config_map("later"), writer="test")
        assert names(store) == ["before", "lost"], "a refused write changes nothing"
        durability.close()

    asyncio.run(play())
    monkeypatch.undo()
    again, durability = opened(tmp_path)
    assert names(again) == ["before"]
    durability.close()


def test_odd_files_are_named_and_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    filled(tmp_path, 1)
    odd = ("notes.txt", "x.journal", "-1.journal", "7.draft", "store.db.bak")
    for name in odd:
        (tmp_path / name).write_bytes(b"\0" * 8)
    (tmp_path / "folder.snapshot").mkdir()
    store, durability = opened(tmp_path)
    assert names(store) == ["m0000"]
    for name in (*odd, "folder.snapshot"):
        assert f"{tmp_path / name} is no file of the store and is ignored" in caplog.text
        assert (tmp_path / name).exists()
    durability.close()


@pytest.mark.parametrize("name", ["store.db", "committed", "lock", "store.db-wal"])
def test_a_folder_in_the_place_of_a_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    filled(tmp_path, 1, is_closed=True)
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).mkdir()
    with pytest.raises(ConfigError, match=str(tmp_path / name)):
        opened(tmp_path)


def test_a_definition_that_makes_no_sense_does_not_stop_a_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, durability = opened(tmp_path)
    definitions = known_kind(store.kinds, "apiextensions.k8s.io/v1", "CustomResourceDefinition")
    stored = store.create(definitions, definition(), writer="test")
    store.write_pieces(stored, lambda revision: (b'{"metadata":{"name":"widgets.example.com"}}',), writer="test")
    durability.close()
    again, durability = opened(tmp_path)
    assert "CustomResourceDefinition widgets.example.com is ignored" in caplog.text
    assert len(again.list(definitions)) == 1
    durability.close()
