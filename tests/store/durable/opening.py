"""Stores on disk for tests: opened, filled, and ended as a killed process ends."""

from pathlib import Path

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.kinds import Kind
from seatrial.store.durable import Durability
from seatrial.store.store import Store
from tests.known_kinds import known_kind
from tests.store.stock import config_map


def opened(path: Path) -> tuple[Store, Durability]:
    """A store that is kept in a folder."""
    store = Store(builtin_kinds(), Clock())
    return store, Durability(store, path)


def maps_of(store: Store) -> Kind:
    return known_kind(store.kinds, "v1", "ConfigMap")


def names(store: Store) -> list[str]:
    """The names of all ConfigMaps."""
    return [stored.name for stored in store.list(maps_of(store))]


def killed(durability: Durability) -> None:
    """End as a killed process does: the files stay exactly as they are."""
    log, database = durability._database.log, durability._database.path
    kept = {path: path.read_bytes() for path in (log, database) if path.exists()}
    durability.abandon()
    for path, data in kept.items():
        path.write_bytes(data)


def filled(path: Path, *batches: int, is_closed: bool = False) -> None:
    """Make a folder with some ConfigMaps, each batch in a transaction of its own."""
    store, durability = opened(path)
    number = 0
    for size in batches:
        for _ in range(size):
            store.create(maps_of(store), config_map(f"m{number:04}", value="x" * 500), writer="test")
            number += 1
        durability.sync()
    if is_closed:
        durability.close()
    else:
        killed(durability)
