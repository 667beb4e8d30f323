"""Records the writes and syncs of a store's files, and builds the states that a loss of power can leave.

Run as a program under strace, it writes to a store and prints which revisions it acknowledged.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from seatrial.store.durable import database
from tests.store.durable.opening import maps_of, opened
from tests.store.stock import config_map

TRACED = "openat,close,write,pwrite64,ftruncate,fsync,fdatasync,unlink"
CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+)")
Write = tuple[str, int | None, bytes]
"""A file, an offset (None: cut or extend it to the length of the bytes), and bytes."""
Files = dict[str, bytearray]


def main(folder: str, seed: int) -> None:
    """Write some batches, each acknowledged on standard output when it is durable."""
    database.CHECKPOINT_BYTES = 60_000
    store, durability = opened(Path(folder))
    maps = maps_of(store)
    for batch in range(8):
        for number in range(1 + (seed + batch) % 3):
            store.create(maps, config_map(f"m{batch}-{number}", value="x" * (seed * 37 % 900 + 1)), writer="test")
        if batch % 2:
            store.modify(
                maps,
                "m0-0",
                lambda found: found["data"].update(value=found["data"]["value"] + "y"),
                namespace="default",
                writer="t",
            )
        durability.sync()
        os.write(1, f"acknowledged {store.revision}\n".encode())
    if seed % 2:
        durability.close()


class Replay:
    """The files of one folder as a trace of system calls makes them: what is synced, and the writes after that."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.synced: Files = {}
        self.pending: list[Write] = []
        self.acknowledged = 0
        self._names: dict[int, str] = {}

    def states(self, trace: str) -> Iterator[tuple[Files, int]]:
        """After each prefix of the writes that are not synced: the files, and the revision acknowledged by then."""
        for line in trace.splitlines():
            found = CALL.match(line)
            if found is None or found[3].startswith("-"):
                continue
            call, arguments = found[1], found[2].split(", ")
            if call in ("fsync", "fdatasync") and int(arguments[0]) in self._names:
                yield from self._prefixes()
                self._sync(self._names[int(arguments[0])])
            else:
                self._take(call, arguments, int(found[3]))
        yield from self._prefixes()

    def _take(self, call: str, arguments: list[str], result: int) -> None:
        if call == "openat":
            path = Path(os.fsdecode(_decoded(arguments[1])))
            if path.parent == self.folder:
                self._names[result] = path.name
        elif call == "close":
            self._names.pop(int(arguments[0]), None)
        elif call == "unlink":
            path = Path(os.fsdecode(_decoded(arguments[0])))
            if path.parent == self.folder:
                self._sync(path.name)
                self.synced.pop(path.name, None)
        elif call == "write" and arguments[0] == "1":
            self.acknowledged = int(_decoded(arguments[1]).split()[1])
        elif call == "pwrite64" and (name := self._names.get(int(arguments[0]))):
            self.pending.append((name, int(arguments[3]), _decoded(arguments[1])))
        elif call == "ftruncate" and (name := self._names.get(int(arguments[0]))):
            self.pending.append((name, None, b"\0" * int(arguments[1])))

    def _sync(self, name: str) -> None:
        for write in self.pending:
            if write[0] == name:
                _apply(self.synced, write)
        self.pending = [write for write in self.pending if write[0] != name]

    def _prefixes(self) -> Iterator[tuple[Files, int]]:
        files = {name: bytearray(data) for name, data in self.synced.items()}
        yield files, self.acknowledged
        for write in self.pending:
            _apply(files, write)
            yield files, self.acknowledged


def _apply(files: Files, write: Write) -> None:
    name, place, data = write
    content = files.setdefault(name, bytearray())
    if place is None:
        del content[len(data) :]
        content.extend(b"\0" * (len(data) - len(content)))
    else:
        content.extend(b"\0" * (place - len(content)))
        content[place : place + len(data)] = data


def _decoded(text: str) -> bytes:
    return bytes.fromhex(text.strip('"').replace("\\x", ""))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
