"""`seatrial serve --data-dir` through kills, full disks and damage: what was acknowledged is there, or a start says so.

A few here; 300 kills, 200 full disks and 1,000 damaged directories in `make test-long`.
"""

import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

import pytest

from tests.server.hardening import forking
from tests.server.hardening.test_hardening import MAPS, config_map
from tests.store.durable.test_crash import damage, small_disk

CONTENT = {"content-type": "application/json"}
BROKEN = (OSError, http.client.HTTPException, ValueError)
REFUSED = 2
"""The exit code of a start that finds damage."""


class Command:
    """One `seatrial serve` on a data directory."""

    def __init__(self, orders: IO[str], answers: IO[str], home: Path, data: Path) -> None:
        self._answers, self.output = answers, home / "output"
        self.output.unlink(missing_ok=True)
        arguments = ["serve", "--no-scheduler", "--controllers", "", "--port", "0", "--insecure"]
        arguments += ["--data-dir", str(data), "--kubeconfig", str(home / "kubeconfig")]
        print(json.dumps({"arguments": arguments, "output": str(self.output)}), file=orders, flush=True)
        self.pid = int(answers.readline())
        self.status: int | None = None
        self._waiting = threading.Thread(target=self._wait)
        self._waiting.start()
        self.port = self._ready()

    def _wait(self) -> None:
        self.status = os.waitstatus_to_exitcode(int(self._answers.readline()))

    def _ready(self) -> int:
        """The port; 0 where the start was refused."""
        while self.status is None:
            for line in self.said().splitlines(keepends=True):
                if line.startswith("ready: ") and line.endswith("\n"):
                    return int(line.rpartition(":")[2])
            time.sleep(0.02)
        return 0

    def said(self) -> str:
        return self.output.read_text() if self.output.exists() else ""

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def sizes(self) -> dict[str, int]:
        """How long the value of each ConfigMap of the test is."""
        with closing(self.connection()) as connection:
            connection.request("GET", MAPS)
            found = json.loads(connection.getresponse().read())
        return {
            item["metadata"]["name"]: len(item["data"]["value"]) for item in found["items"] if "value" in item["data"]
        }

    def write(
        self, number: int, dice: random.Random, known: dict[str, int], tried: dict[str, int], largest: int = 3_000
    ) -> bool:
        """Create objects until the server is gone or refuses; whether it refused."""
        with suppress(*BROKEN), closing(self.connection()) as connection:
            for count in range(10_000):
                name, size = f"m{number}-{count}", dice.randrange(1, largest)
                tried[name] = size
                connection.request("POST", MAPS, config_map(name, size), CONTENT)
                answer = connection.getresponse()
                answer.read()
                if answer.status != 201:
                    return True
                known[name] = tried.pop(name)
        return False

    def ended_after(self, number: int, seconds: float, known: dict[str, int]) -> threading.Thread:
        """Kill the server a while after so many objects are known, however fast the machine is."""

        def wait() -> None:
            while len(known) < number and self.status is None:
                time.sleep(0.002)
            time.sleep(seconds)
            self.end()

        killer = threading.Thread(target=wait)
        killer.start()
        return killer

    def end(self, number: int = signal.SIGKILL) -> int:
        if self.status is None:
            # It may have ended already, killed by another thread, before its status was read.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)
        self._waiting.join(120)
        assert self.status is not None
        return self.status


class Commands:
    """Starts commands one after the other, and kills what a failed test leaves."""

    def __init__(self, process: "subprocess.Popen[str]", home: Path) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._orders, self._answers, self.home = process.stdin, process.stdout, home
        self._last: Command | None = None

    def start(self, data: Path) -> Command:
        if self._last is not None:
            self._last.end()
        self._last = Command(self._orders, self._answers, self.home, data)
        return self._last

    def close(self) -> None:
        if self._last is not None:
            self._last.end()
        self._orders.close()


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    home = tmp_path_factory.mktemp("commands")
    command = [sys.executable, "-m", forking.__name__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        commands = Commands(process, home)
        yield commands
        commands.close()


def check(found: dict[str, int], known: dict[str, int], tried: dict[str, int]) -> None:
    """All that was acknowledged is there, and nothing else but what may have been on its way."""
    assert {name: found.get(name) for name in known} == known
    assert all(tried.get(name) == size for name, size in found.items() if name not in known)


def kills(commands: Commands, data: Path, times: int, seed: int) -> int:
    dice, known = random.Random(seed), dict[str, int]()
    tried: dict[str, int] = {}
    for number in range(times):
        server = commands.start(data)
        assert server.port, server.said()
        found = server.sizes()
        check(found, known, tried)
        known, tried = found, {}
        killer = server.ended_after(len(known) + dice.randrange(2, 30), dice.uniform(0, 0.05), known)
        server.write(number, dice, known, tried)
        killer.join()
    server = commands.start(data)
    check(server.sizes(), known, tried)
    return len(known)


def full_disks(commands: Commands, folder: Path, times: int, seed: int) -> int:
    dice, acknowledged = random.Random(seed), 0
    for number in range(times):
        place, room = folder / f"disk-{number}", folder / f"room-{number}"
        known, tried = dict[str, int](), dict[str, int]()
        with small_disk(place, dice.randrange(900_000, 3_000_000)) as mounted:
            if not mounted:
                pytest.skip("only root may mount a small disk")
            server = commands.start(place / "data")
            if server.port:
                # Large values fill it with few requests.
                assert server.write(number, dice, known, tried, largest=15_000), "the disk was never full"
            else:
                assert "Traceback" not in server.said(), server.said()
            server.end()
            if (place / "data").exists():
                shutil.copytree(place / "data", room)
        server = commands.start(room)
        assert server.port, server.said()
        check(server.sizes(), known, tried)
        server.end()
        shutil.rmtree(room)
        acknowledged += len(known)
    return acknowledged


def damaged(commands: Commands, folder: Path, times: int, seed: int) -> int:
    """Damage copies of a directory that was killed and of one that ended cleanly; how many starts were refused."""
    dice, refused, known, tried = random.Random(seed), 0, dict[str, int](), dict[str, int]()
    server = commands.start(folder / "killed")
    killer = server.ended_after(50, 0, known)
    server.write(0, dice, known, tried)
    killer.join()
    shutil.copytree(folder / "killed", folder / "clean")
    server = commands.start(folder / "clean")
    assert server.end(signal.SIGTERM) == 0
    for number in range(times):
        copy, end = folder / "copy", ("killed", "clean")[number % 2]
        shutil.copytree(folder / end, copy)
        what = damage(copy / "store", dice)
        server = commands.start(copy)
        if server.port:
            check(server.sizes(), known, tried)
            server.end()
        else:
            refused += 1
            assert server.status == REFUSED, f"{what}: {server.said()}"
            assert str(copy) in server.said(), f"{what}: {server.said()}"
            assert "Traceback" not in server.said(), f"{what}: {server.said()}"
        shutil.rmtree(copy)
    return refused


def test_kills_lose_nothing(commands: Commands, tmp_path: Path) -> None:
    assert kills(commands, tmp_path / "data", 4, seed=1) > 5


def test_full_disks_lose_nothing(commands: Commands, tmp_path: Path) -> None:
    assert full_disks(commands, tmp_path, 2, seed=1) > 5


def test_damaged_directories_are_refused_or_whole(commands: Commands, tmp_path: Path) -> None:
    assert damaged(commands, tmp_path, 6, seed=1) > 0


@pytest.mark.long
def test_three_hundred_kills_lose_nothing(commands: Commands, tmp_path: Path) -> None:
    print(f"\n300 kills, {kills(commands, tmp_path / 'data', 300, seed=2)} acknowledged writes, all there")


@pytest.mark.long
def test_two_hundred_full_disks_lose_nothing(commands: Commands, tmp_path: Path) -> None:
    print(f"\n200 full disks, {full_disks(commands, tmp_path, 200, seed=2)} acknowledged writes, all there")


@pytest.mark.long
def test_a_thousand_damaged_directories_are_refused_or_whole(commands: Commands, tmp_path: Path) -> None:
    print(f"\n1,000 damaged directories, {damaged(commands, tmp_path, 1_000, seed=2)} refused, the others whole")
