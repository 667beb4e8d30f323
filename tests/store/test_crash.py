"""Killed at random moments under write load, a store loses nothing that it acknowledged, and opens again."""

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.store.durable import Durability
from seatrial.store.store import Store

WRITER = Path(__file__).with_name("crashing.py")


GONE = -1


def killed_after(delay: float, *arguments: str) -> list[tuple[str, str, int, int]]:
    """Run the writer, kill it that many seconds after it has opened the store; what it said."""
    process = subprocess.Popen([sys.executable, str(WRITER), *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    opened = process.stdout.readline()
    assert opened.startswith("open"), "the store did not open"
    timer = threading.Timer(delay, process.kill)
    timer.start()
    lines = [opened, *process.stdout]
    process.wait()
    timer.join()
    process.stdout.close()
    said = [line.split() for line in lines if line.endswith("\n")]
    return [(verb, name, int(revision), int(size)) for verb, name, revision, size in said]


def crash(directory: Path, times: int, seed: int) -> int:
    """Kill the writer many times over one directory, and look at what is left each time."""
    dice, expected, acknowledged, latest = random.Random(seed), {}, 0, 0
    for number in range(times):
        tried = {}
        for verb, name, revision, size in killed_after(dice.uniform(0.0, 0.25), str(directory), str(number), str(seed)):
            assert verb != "open" or revision >= latest, "a revision was given twice"
            latest = max(latest, revision)
            if verb == "try":
                tried[name] = size
            elif verb == "done":
                expected[name] = tried.pop(name)
                acknowledged += 1
        store = Store(builtin_kinds(), Clock())
        durability = Durability(store, directory)
        maps = store.kinds.named("v1", "ConfigMap")
        found = {stored.name: len(stored.document()["data"]["value"]) for stored in store.list(maps)}
        for name in found.keys() | expected.keys() | tried.keys():
            # Of a write that was tried but not acknowledged, both outcomes are right.
            allowed = {expected.get(name, GONE), tried.get(name, expected.get(name, GONE))}
            assert found.get(name, GONE) in allowed, f"kill {number}: {name}"
        assert store.revision > latest
        expected, latest = found, store.revision
        durability.close()
    return acknowledged


def test_twenty_kills_lose_nothing(tmp_path):
    assert crash(tmp_path, 20, seed=1) > 100


@pytest.mark.long
def test_two_hundred_kills_lose_nothing(tmp_path):
    assert crash(tmp_path, 200, seed=2) > 1000
