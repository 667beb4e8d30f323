"""A data directory of version 0.1.0 is converted once; its journals are read with more care than 0.1.0 did."""

import json
import resource
import struct
import zlib
from pathlib import Path

import msgspec
import pytest

from seatrial.model.errors import ConfigError
from seatrial.store.durable.journal_0_1 import GAP, Footer, Record
from tests.store.durable.opening import maps_of, names, opened

MAPS = ("", "v1", "ConfigMap", "configmaps", True, False)


def frame(body: Record | Footer) -> bytes:
    data = msgspec.msgpack.encode(body)
    return struct.pack("<II", len(data), zlib.crc32(data)) + data


def record(revision: int, name: str, *pieces: bytes, shared: int = 0) -> Record:
    """The write of a ConfigMap; without pieces the whole object, as 0.1.0 wrote it."""
    metadata = {"name": name, "namespace": "default", "uid": name, "resourceVersion": str(revision)}
    whole = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {}}).encode()
    return Record(revision, MAPS, "default", name, 0, "test", shared, list(pieces) or [whole])


def deletion(revision: int, name: str) -> Record:
    return Record(revision, MAPS, "default", name, 0, "test", 0, [])


def journal(folder: Path, after: int, *records: Record, tail: bytes = b"") -> Path:
    path = folder / f"{after:020d}.journal"
    path.write_bytes(b"".join(map(frame, records)) + tail)
    return path


def snapshot(folder: Path, revision: int, *records: Record) -> Path:
    path = folder / f"{revision:020d}.snapshot"
    path.write_bytes(b"".join(map(frame, records)) + frame(Footer(len(records), revision)))
    return path


def test_snapshot_and_journals_become_a_database_once(tmp_path: Path) -> None:
    snapshot(tmp_path, 5, record(2, "a"), record(5, "b"))
    journal(tmp_path, 5, deletion(6, "a"), record(7, "c"))
    (tmp_path / "clean").write_text("7")
    for _ in range(2):
        store, durability = opened(tmp_path)
        assert names(store) == ["b", "c"]
        assert store.revision == 7
        durability.close()
    kept = sorted(path.name for path in (tmp_path / "converted-0.1.0").iterdir())
    assert kept == [f"{5:020d}.journal", f"{5:020d}.snapshot", "clean"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["committed", "converted-0.1.0", "lock", "store.db"]


def test_a_disk_that_is_too_small_for_the_database_is_reported_and_no_journal_is_moved(tmp_path: Path) -> None:
    path = journal(tmp_path, 0, *(record(number, f"m{number}") for number in range(1, 200)))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, limits[1]))
    try:
        with pytest.raises(ConfigError, match=r"store\.db\.draft: disk I/O error; make room"):
            opened(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.exists()
    store, durability = opened(tmp_path)
    assert len(names(store)) == 199
    durability.close()


def test_after_an_unclean_end_of_0_1_0_no_revision_is_given_twice(tmp_path: Path) -> None:
    journal(tmp_path, 0, record(1, "a"))
    store, durability = opened(tmp_path)
    assert store.revision == 1 + GAP
    durability.close()


def test_pieces_that_records_share_are_put_together(tmp_path: Path) -> None:
    head, tail = b'{"metadata":{"name":"a","namespace":"default"},"data":{', b"}}"
    journal(
        tmp_path,
        0,
        record(1, "a", head, b'"x":"1"', tail),
        record(2, "a", head, b',"y":"2"', tail, shared=1),
    )
    store, durability = opened(tmp_path)
    assert store.get(maps_of(store), "a", "default").document()["data"] == {"x": "1", "y": "2"}
    durability.close()


@pytest.mark.parametrize("tail", [b"\0" * 8, b"\0" * 4096, frame(record(3, "c"))[:-5], b"\x07", b"\xff" * 20])
def test_a_last_record_that_was_cut_off_is_dropped(tmp_path: Path, tail: bytes) -> None:
    journal(tmp_path, 0, record(1, "a"), record(2, "b"), tail=tail)
    store, durability = opened(tmp_path)
    assert names(store) == ["a", "b"]
    durability.close()


def test_a_flipped_byte_before_other_writes_is_refused_by_name(tmp_path: Path) -> None:
    path = journal(tmp_path, 0, record(1, "a"), record(2, "b"), record(3, "c"))
    data = path.read_bytes()
    end = 2 * len(frame(record(1, "a")))
    for place in range(end):
        damaged = bytearray(data)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(ConfigError, match=rf"{path.name}: the journal is damaged at byte \d+; put"):
            opened(tmp_path)
        assert path.exists()
    path.write_bytes(data)
    opened(tmp_path)[1].close()


def test_a_journal_that_ends_before_its_clean_end_is_refused(tmp_path: Path) -> None:
    path = journal(tmp_path, 0, record(1, "a"))
    (tmp_path / "clean").write_text("2")
    with pytest.raises(ConfigError, match=rf"{path.name}: writes are missing"):
        opened(tmp_path)


def test_a_damaged_snapshot_is_refused_by_name(tmp_path: Path) -> None:
    path = snapshot(tmp_path, 5, record(2, "a"))
    for data in (b"", path.read_bytes()[:-1], path.read_bytes().replace(b"default", b"defaulT")):
        path.write_bytes(data)
        with pytest.raises(ConfigError, match=rf"{path.name}: the snapshot is damaged"):
            opened(tmp_path)
