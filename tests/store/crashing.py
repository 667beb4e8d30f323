"""A process that writes to a data directory until it is killed, and says what it does.

Run by test_crash: `python crashing.py DIRECTORY ROUND SEED`. A write is announced by a line `try` and, once it is
durable, acknowledged by a line `done`.
"""

import asyncio
import random
import sys
from collections.abc import Callable
from pathlib import Path

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.store.durable import Durability
from seatrial.store.store import Store


async def step(store: Store, name: str, size: int, write: Callable[[], object]) -> None:
    """Announce a write, do it, and acknowledge it when it is durable. Size -1 means gone."""
    print("try", name, store.revision, size, flush=True)
    write()
    revision = store.revision
    await store.committed(revision)
    print("done", name, revision, size, flush=True)


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


async def main(directory: str, number: str, seed: str) -> None:
    store = Store(builtin_kinds(), Clock())
    Durability(store, Path(directory), snapshot_bytes=200_000)
    dice = random.Random(f"{seed}/{number}")
    print("open", "-", store.revision, 0, flush=True)
    counter = 0
    while True:
        counter += 8
        await asyncio.gather(*(live(store, f"r{number}-{counter + n}", dice) for n in range(8)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
