"""No acknowledged write is lost by kills, full disks or damaged files: it is there, or the start is refused.

20 of each here, 200 kills, 200 full disks and 500 damaged directories in `make test-long`.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from seatrial.model.errors import ConfigError
from seatrial.store.store import Store
from tests.store.durable.opening import maps_of, opened

WRITER = Path(__file__).with_name("crashing.py")
GONE = -1
Sizes = dict[str, int]


def sizes(store: Store) -> Sizes:
    """How long the value of each ConfigMap is."""
    return {stored.name: len(stored.document()["data"]["value"]) for stored in store.list(maps_of(store))}


class Ledger:
    """What writers said they did to one directory, and what may be in it therefore."""

    def __init__(self) -> None:
        self.known: Sizes = {}
        self.tried: Sizes = {}
        self.acknowledged = 0
        self.latest = 0

    def hear(self, lines: list[str]) -> None:
        """Take in the lines of one writer."""
        assert not any("Traceback" in line for line in lines), lines[-1]
        for verb, name, revision, size in (line.split() for line in lines if not line.startswith("error")):
            if verb == "try":
                self.tried[name] = int(size)
                continue
            assert int(revision) >= self.latest, "the revision went back"
            self.latest = int(revision) if verb == "open" else max(self.latest, int(revision))
            if verb == "done":
                self.known[name] = self.tried.pop(name)
                self.acknowledged += 1

    def wrong(self, found: Sizes) -> set[str]:
        """The names of the objects that are not as they must be."""
        names = found.keys() | self.known.keys() | self.tried.keys()
        known, tried = self.known, self.tried
        return {
            name
            for name in names
            if found.get(name, GONE) not in {known.get(name, GONE), tried.get(name, known.get(name, GONE))}
        }

    def check(self, directory: Path) -> None:
        """Open the directory and compare; of a write that was tried but not acknowledged both outcomes are right."""
        store, durability = opened(directory)
        found = sizes(store)
        assert not self.wrong(found)
        assert store.revision >= self.latest
        self.known, self.tried, self.latest = found, {}, store.revision
        durability.close()


class Writers:
    """Starts writers one after the other."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._orders, self._lines = process.stdin, process.stdout

    def run(self, directory: Path, number: int, seed: int, *, size: int = 0, seconds: float = 60) -> list[str]:
        """Run one and kill it that long after it has opened the store; its lines."""
        print(directory, number, seed, size, file=self._orders, flush=True)
        pid = int(self._lines.readline().split()[2])
        lines = [self._lines.readline()]
        timer = threading.Timer(seconds, os.kill, (pid, signal.SIGKILL))
        timer.start()
        while not lines[-1].startswith("end"):
            lines.append(self._lines.readline())
        timer.cancel()
        return lines[:-1]


@pytest.fixture(scope="module")
def writers() -> Iterator[Writers]:
    command = [sys.executable, str(WRITER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Writers(process)
        assert process.stdin is not None
        process.stdin.close()


def kill_many(writers: Writers, directory: Path, times: int, seed: int) -> int:
    dice, ledger = random.Random(seed), Ledger()
    for number in range(times):
        lines = writers.run(directory, number, seed, seconds=dice.uniform(0.0, 0.25))
        assert lines[0].startswith("open"), lines[0]
        ledger.hear(lines)
        ledger.check(directory)
    return ledger.acknowledged


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[bool]:
    """A file system of some bytes at `place`; False where only root may mount one."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(place)], check=True)


def fill_many(writers: Writers, directory: Path, times: int, seed: int) -> int:
    """Let the writer run into a full disk of a random size, and look at what is there once it has room."""
    dice, acknowledged = random.Random(seed), 0
    for number in range(times):
        size, ledger = dice.randrange(60_000, 900_000), Ledger()
        room = directory / f"room-{number}"
        with small_disk(directory / f"disk-{number}", size) as mounted:
            place = directory / f"disk-{number}" / "store"
            lines = writers.run(place, number, seed, size=0 if mounted else size)
            assert lines[-1].startswith("error"), "the disk was never full"
            assert str(place) in lines[-1], f"no file named: {lines[-1]}"
            ledger.hear(lines)
            shutil.copytree(place, room)
        ledger.check(room)
        shutil.rmtree(room)
        acknowledged += ledger.acknowledged
    return acknowledged


def damage(directory: Path, dice: random.Random) -> str:
    """Flip one bit of one byte of a file, or cut a file off; what was done."""
    files = sorted(path for path in directory.iterdir() if path.stat().st_size)
    path = dice.choices(files, [path.stat().st_size + 5_000 for path in files])[0]
    data = bytearray(path.read_bytes())
    place = dice.randrange(len(data))
    if dice.random() < 0.3:
        path.write_bytes(data[:place])
        return f"{path.name} cut at {place} of {len(data)}"
    data[place] ^= 1 << dice.randrange(8)
    path.write_bytes(data)
    return f"{path.name}, byte {place} of {len(data)} flipped"


def damage_many(writers: Writers, directory: Path, times: int, seed: int) -> int:
    """Damage copies of a directory that ended cleanly and of one that did not; how many starts were refused."""
    dice, refused = random.Random(seed), 0
    ledgers = {"unclean": Ledger(), "clean": Ledger()}
    lines = writers.run(directory / "unclean", 0, seed, seconds=0.6)
    shutil.copytree(directory / "unclean", directory / "clean")
    for name, ledger in ledgers.items():
        ledger.hear(lines)
        if name == "clean":
            ledger.check(directory / name)
    for number in range(times):
        copy, end = directory / "copy", ("unclean", "clean")[number % 2]
        shutil.copytree(directory / end, copy)
        what = damage(copy, dice)
        try:
            store, durability = opened(copy)
        except ConfigError as error:
            refused += 1
            assert str(copy) in str(error), what
            assert ";" in str(error), f"{what}: no remedy: {error}"
        else:
            assert not ledgers[end].wrong(sizes(store)), f"silent loss after an {end} end: {what}"
            durability.close()
        shutil.rmtree(copy)
    return refused


def test_twenty_kills_lose_nothing(writers: Writers, tmp_path: Path) -> None:
    assert kill_many(writers, tmp_path, 20, seed=1) > 100


def test_twenty_full_disks_lose_nothing(writers: Writers, tmp_path: Path) -> None:
    assert fill_many(writers, tmp_path, 20, seed=1) > 100


def test_twenty_damaged_directories_are_refused_or_whole(writers: Writers, tmp_path: Path) -> None:
    assert damage_many(writers, tmp_path, 40, seed=1) > 10


@pytest.mark.long
def test_two_hundred_kills_lose_nothing(writers: Writers, tmp_path: Path) -> None:
    assert kill_many(writers, tmp_path, 200, seed=2) > 1000


@pytest.mark.long
def test_two_hundred_full_disks_lose_nothing(writers: Writers, tmp_path: Path) -> None:
    assert fill_many(writers, tmp_path, 200, seed=2) > 1000


@pytest.mark.long
def test_five_hundred_damaged_directories_are_refused_or_whole(writers: Writers, tmp_path: Path) -> None:
    assert damage_many(writers, tmp_path, 500, seed=2) > 200
