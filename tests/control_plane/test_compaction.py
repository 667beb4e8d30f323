"""History is forgotten after five to ten minutes."""

import pytest

from seatrial.clock import Clock
from seatrial.control_plane.compaction import EVERY, Compactor
from seatrial.model.errors import Gone
from seatrial.scenario.cluster import fresh_store
from tests.known_kinds import known_kind


def test_changes_before_the_last_but_one_tick_are_gone() -> None:
    clock = Clock()
    store = fresh_store(clock)
    kind = known_kind(store.kinds, "v1", "ConfigMap")
    compactor = Compactor(store, clock)
    compactor.start()
    for name in "ab":
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
        store.create(kind, body, namespace="default", writer="user:test")
    first = store.revision
    clock.advance(clock.now() + EVERY - 1)
    assert [change.stored.name for change in store.changes(first - 1)] == ["b"]
    for _ in range(2):
        clock.fire_next(outer=True)
    with pytest.raises(Gone):
        list(store.changes(first - 1))
    assert list(store.changes(first)) == []
    compactor.stop()
    assert clock.next_outer() is None
