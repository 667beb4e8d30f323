"""Files that a run writes: whole or not at all, and where the user says.

Tests: simulation/output_folder.py, simulation/run_folder.py
"""

import os
import stat
import threading
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from seatrial.scenario.output_files import FilePages, write_whole


def test_a_new_file_can_be_read_by_all(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", [b"x", b"y"])
    assert (tmp_path / "a").read_bytes() == b"xy"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o600)
    write_whole(tmp_path / "a", [b"new"])
    assert (tmp_path / "a").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to("a")
    write_whole(tmp_path / "link", [b"new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, [b"x", b"y"])
    reader.join(10)
    assert found == [b"xy"]
    assert pipe.is_fifo()


def test_a_write_that_fails_leaves_nothing_and_names_its_file(tmp_path: Path) -> None:
    def parts() -> list[bytes]:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left on device") as caught:
        write_whole(tmp_path / "a", (part for _ in range(1) for part in parts()))
    assert caught.value.filename == str(tmp_path / "a")
    assert not [*tmp_path.iterdir()]


class FullDisk:
    """A file on a disk without room."""

    def seek(self, place: int) -> int:
        return place

    def write(self, data: bytes) -> int:
        raise OSError(28, "No space left on device")


def test_pages_that_do_not_fit_name_the_temporary_file() -> None:
    with pytest.raises(OSError, match="temporary file in") as caught:
        FilePages(cast(BinaryIO, FullDisk())).append([b"x"])
    assert caught.value.errno == 28
