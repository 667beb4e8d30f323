"""Durability: what a data directory remembers, and what it makes of damaged files."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import ConfigError, Gone
from seatrial.store.durable import Durability
from seatrial.store.durable.durability import GAP
from seatrial.store.fragments import Parts
from seatrial.store.store import Store
from tests.store.stock import config_map, definition, pod, widget


def opened(path: Path, **options) -> tuple[Store, Durability]:
    store = Store(builtin_kinds(), Clock())
    return store, Durability(store, path, **options)


def maps_of(store: Store):
    return store.kinds.named("v1", "ConfigMap")


def abandon(durability: Durability) -> None:
    """End as a killed process does: the lock goes, nothing is brought to disk."""
    durability._journal.close()
    durability._directory.close()
    durability._thread.shutdown()


def test_everything_is_there_again_after_a_clean_end(tmp_path):
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


def test_what_was_synced_survives_an_unclean_end(tmp_path):
    store, durability = opened(tmp_path)
    store.create(maps_of(store), config_map("a"), writer="test")
    durability.sync()
    store.create(maps_of(store), config_map("b"), writer="test")
    abandon(durability)
    again, durability = opened(tmp_path)
    assert [stored.name for stored in again.list(maps_of(again))] == ["a"]
    durability.close()


def test_no_revision_is_given_twice_after_an_unclean_end(tmp_path):
    store, durability = opened(tmp_path)
    store.create(maps_of(store), config_map("a"), writer="test")
    durability.sync()
    seen = store.create(maps_of(store), config_map("b"), writer="test").revision
    abandon(durability)
    again, durability = opened(tmp_path)
    assert again.revision == 1 + GAP
    with pytest.raises(Gone):
        again.changes(seen)
    durability.close()


def test_the_revision_never_goes_back_however_often_it_is_opened(tmp_path):
    store, durability = opened(tmp_path)
    store.create(maps_of(store), config_map("a"), writer="test")
    durability.sync()
    abandon(durability)
    revisions = []
    for _ in range(3):
        store, durability = opened(tmp_path)
        revisions.append(store.revision)
        durability.close()
    assert revisions == [1 + GAP] * 3
    assert len(list(tmp_path.glob("*.journal"))) == 2


def test_definitions_and_their_objects_come_back(tmp_path):
    store, durability = opened(tmp_path)
    definitions = store.kinds.named("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    store.create(definitions, definition(), writer="test")
    store.create(store.kinds.named("example.com/v1", "Widget"), widget("a"), writer="test")
    durability.close()
    again, durability = opened(tmp_path)
    widgets = again.kinds.named("example.com/v1", "Widget")
    assert [stored.name for stored in again.list(widgets)] == ["a"]
    durability.close()


def test_parts_are_journalled_once(tmp_path):
    store, durability = opened(tmp_path)
    maps = maps_of(store)
    store.create(maps, config_map("a"), writer="test")
    parts = Parts(("data",))
    for step in range(20):
        parts = parts.with_member(str(step), "x" * 10_000)
        store.write_parts(maps, "a", parts, namespace="default", writer="test", subresource="")
    durability.sync()
    (journal,) = tmp_path.glob("*.journal")
    assert journal.stat().st_size < 300_000
    before = store.export()
    abandon(durability)
    again, durability = opened(tmp_path)
    assert again.export() == before
    durability.close()


def test_a_long_journal_becomes_a_snapshot(tmp_path):
    store, durability = opened(tmp_path, snapshot_bytes=20_000)
    maps = maps_of(store)
    store.create(maps, config_map("a"), writer="test")
    for number in range(300):
        store.modify(maps, "a", lambda d, n=number: d.update(data={"n": str(n)}), namespace="default", writer="test")
    durability.close()
    assert len(list(tmp_path.glob("*.snapshot"))) == 1
    assert not (tmp_path / f"{0:020d}.journal").exists()
    again, durability = opened(tmp_path)
    assert again.get(maps, "a", "default").document()["data"] == {"n": "299"}
    assert again.revision == 301
    durability.close()


def test_a_half_written_snapshot_is_ignored(tmp_path):
    store, durability = opened(tmp_path)
    store.create(maps_of(store), config_map("a"), writer="test")
    durability.close()
    (tmp_path / "00000000000000000009.draft").write_bytes(b"half")
    again, durability = opened(tmp_path)
    assert len(again.list(maps_of(again))) == 1
    durability.close()


def test_a_torn_last_record_is_cut_off_wherever_it_is_torn(tmp_path):
    store, durability = opened(tmp_path / "whole")
    store.create(maps_of(store), config_map("a"), writer="test")
    durability.sync()
    (journal,) = (tmp_path / "whole").glob("*.journal")
    kept = journal.stat().st_size
    store.create(maps_of(store), config_map("b"), writer="test")
    durability.sync()
    data = journal.read_bytes()
    abandon(durability)
    for length in range(kept, len(data), 7):
        torn = tmp_path / str(length)
        torn.mkdir()
        (torn / journal.name).write_bytes(data[:length])
        again, durability = opened(torn)
        assert [stored.name for stored in again.list(maps_of(again))] == ["a"]
        again.create(maps_of(again), config_map("c"), writer="test")
        durability.sync()
        abandon(durability)
        third, durability = opened(torn)
        assert [stored.name for stored in third.list(maps_of(third))] == ["a", "c"]
        durability.close()


def test_damage_inside_an_older_journal_is_refused_by_name(tmp_path):
    store, durability = opened(tmp_path)
    store.create(maps_of(store), config_map("a"), writer="test")
    durability.sync()
    abandon(durability)
    _, durability = opened(tmp_path)
    durability.close()
    first = min(tmp_path.glob("*.journal"))
    first.write_bytes(first.read_bytes()[:-3])
    with pytest.raises(ConfigError, match="the journal is damaged at byte"):
        opened(tmp_path)


def test_a_directory_serves_one_process_at_a_time(tmp_path):
    _, durability = opened(tmp_path)
    with pytest.raises(ConfigError, match="in use by another process"):
        opened(tmp_path)
    durability.close()


def test_a_commit_is_awaited_until_it_is_on_disk(tmp_path):
    async def play() -> None:
        store, durability = opened(tmp_path)
        revisions = [store.create(maps_of(store), config_map(f"m{n}"), writer="test").revision for n in range(50)]
        assert durability.synced == 0
        await asyncio.gather(*(store.committed(revision) for revision in revisions))
        assert durability.synced == 50
        await store.committed(50)
        durability.close()

    asyncio.run(play())


def test_a_store_without_a_directory_has_nothing_to_wait_for(store, pods):
    stored = store.create(pods, pod("a"), writer="test")
    asyncio.run(store.committed(stored.revision))


def test_a_full_disk_fails_those_who_wait_and_every_later_write(tmp_path, monkeypatch):
    async def play() -> None:
        store, durability = opened(tmp_path)

        def refuse(descriptor: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        revision = store.create(maps_of(store), config_map("a"), writer="test").revision
        monkeypatch.setattr(os, "fdatasync", refuse)
        with pytest.raises(OSError, match="No space left"):
            await store.committed(revision)
        with pytest.raises(OSError, match="No space left"):
            store.create(maps_of(store), config_map("b"), writer="test")
        abandon(durability)

    asyncio.run(play())
