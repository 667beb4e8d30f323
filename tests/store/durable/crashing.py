"""Processes that write to a data directory until they are killed or cannot write any more, and say what they do.

Run by test_crash. Each line `DIRECTORY ROUND SEED FILE_SIZE` on standard input starts one writer, as a fork of this
process, which saves the time to import everything again. It prints a line `pid`, a line `open`, for each write a line
`try` and, once it is durable, a line `done`; a line `end` follows when it is gone. FILE_SIZE is the largest file, in
bytes, that the writer may write: a substitute for a full disk where none can be mounted; 0 sets no limit.
"""

import asyncio
import os
import random
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import SeatrialError
from seatrial.store.durable import Durability, database
from seatrial.store.store import Store


def say(*words: object) -> None:
    """Write one line at once, so that a kill leaves no part of it."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


async def step(store: Store, name: str, size: int, write: Callable[[], object]) -> None:
    """Announce a write, do it, and acknowledge it when it is durable. Size -1 means gone."""
    say("try", name, 0, size)
    write()
    revision = store.revision
    await store.committed(revision)
    say("done", name, revision, size)


async def live(store: Store, name: str, dice: random.Random) -> None:
    """Create one object, perhaps change it, perhaps delete it."""
    maps = store.kinds.named("v1", "ConfigMap")
    assert maps is not None
    size, other = dice.randrange(1, 3000), dice.randrange(1, 3000)
    document = {"metadata": {"name": name, "namespace": "default"}, "data": {"value": "0" * size}}
    await step(store, name, size, lambda: store.create(maps, document, writer="test"))
    if dice.random() < 0.5:
        await step(
            store,
            name,
            other,
            lambda: store.modify(
                maps, name, lambda found: found["data"].update(value="1" * other), namespace="default", writer="test"
            ),
        )
    if dice.random() < 0.3:
        await step(store, name, -1, lambda: store.delete(maps, name, namespace="default", writer="test"))


async def write(directory: str, number: str, seed: str, file_size: str) -> None:
    if int(file_size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(file_size), resource.RLIM_INFINITY))
    # Small, so that many kills come while the log is brought into the database.
    database.CHECKPOINT_BYTES = 200_000
    store = Store(builtin_kinds(), Clock())
    durability = Durability(store, Path(directory))
    dice = random.Random(f"{seed}/{number}")
    say("open", "-", store.revision, 0)
    counter = 0
    try:
        while True:
            counter += 8
            await asyncio.gather(*(live(store, f"r{number}-{counter + n}", dice) for n in range(8)))
    finally:
        durability.close()


def run(arguments: list[str]) -> None:
    """Be one writer; its complaint is a line `error`, with the word Traceback if it is none of ours."""
    say("pid", "-", os.getpid(), 0)
    try:
        asyncio.run(write(*arguments))
    except SeatrialError as error:
        say("error", str(error))
    except BaseException:  # noqa: BLE001 - a fork must not go on as its parent
        say("error", repr(traceback.format_exc()))
    os._exit(0)


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            run(line.split())
        os.waitpid(child, 0)
        say("end")


if __name__ == "__main__":
    main()
