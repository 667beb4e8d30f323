"""History: changes since a revision, listeners, and what is no longer known."""

from collections.abc import Iterable

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import Gone
from seatrial.model.kinds import Kind
from seatrial.store.mvcc.history import History
from seatrial.store.objects import Change
from seatrial.store.store import Store
from tests.known_kinds import known_kind
from tests.store.stock import config_map, pod


def names(changes: Iterable[Change]) -> list[tuple[str, str]]:
    return [(change.type, change.stored.name) for change in changes]


def test_changes_come_in_the_order_of_their_revisions(store: Store, pods: Kind, maps: Kind) -> None:
    store.create(maps, config_map("a"), writer="test")
    store.create(pods, pod("b"), writer="test")
    store.delete(maps, "a", namespace="default", writer="test")
    assert names(store.changes(0)) == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]
    assert names(store.changes(1)) == [("ADDED", "b"), ("DELETED", "a")]
    assert names(store.changes(0, maps)) == [("ADDED", "a"), ("DELETED", "a")]


def test_a_change_knows_who_made_it_when_and_what_was_before(store: Store, pods: Kind) -> None:
    before = store.create(pods, pod("a"), writer="user:ann")
    store.clock.advance(store.clock.now() + 1)
    store.bind("default", "a", "n", writer="scheduler")
    (change,) = store.changes(1)
    assert (change.type, change.writer, change.subresource) == ("MODIFIED", "scheduler", "binding")
    assert change.previous is before
    assert change.at == store.clock.now()


def test_the_window_is_bounded_in_revisions() -> None:
    store = Store(builtin_kinds(), Clock(), history=History(revisions_kept=3))
    maps = known_kind(store.kinds, "v1", "ConfigMap")
    for number in range(5):
        store.create(maps, config_map(f"m{number}"), writer="test")
    assert names(store.changes(2)) == [("ADDED", "m2"), ("ADDED", "m3"), ("ADDED", "m4")]
    with pytest.raises(Gone) as raised:
        store.changes(1)
    assert raised.value.message == "too old resource version: 1 (2)"
    assert raised.value.status()["reason"] == "Expired"


def test_the_window_is_bounded_in_bytes() -> None:
    history = History(bytes_kept=10_000)
    store = Store(builtin_kinds(), Clock(), history=history)
    maps = known_kind(store.kinds, "v1", "ConfigMap")
    for number in range(100):
        store.create(maps, config_map(f"m{number}", x="y" * 1000), writer="test")
    assert 5 < len(history) < 10


def test_a_long_history_is_forgotten_without_keeping_it_all() -> None:
    history = History(revisions_kept=10)
    store = Store(builtin_kinds(), Clock(), history=history)
    maps = known_kind(store.kinds, "v1", "ConfigMap")
    for number in range(5_000):
        store.create(maps, config_map(f"m{number}"), writer="test")
    assert len(list(store.changes(4_990))) == len(history) == 10


def test_compaction_forgets_on_request(store: Store, maps: Kind) -> None:
    for number in range(5):
        store.create(maps, config_map(f"m{number}"), writer="test")
    store.compact(4)
    assert names(store.changes(4)) == [("ADDED", "m4")]
    with pytest.raises(Gone):
        store.changes(3)


def test_listeners_are_called_in_the_order_they_came(store: Store, maps: Kind) -> None:
    heard: list[str] = []
    store.subscribe(lambda change: heard.append("first"))
    store.subscribe(lambda change: heard.append("second"), [maps])
    store.create(maps, config_map("a"), writer="test")
    assert heard == ["first", "second"]


def test_a_listener_hears_only_of_the_kinds_it_asked_for(store: Store, pods: Kind, maps: Kind) -> None:
    heard: list[Change] = []
    store.subscribe(heard.append, [pods])
    store.create(maps, config_map("a"), writer="test")
    store.create(pods, pod("b"), writer="test")
    assert names(heard) == [("ADDED", "b")]


def test_a_listener_hears_only_of_the_types_and_subresources_it_asked_for(store: Store, pods: Kind) -> None:
    created: list[Change] = []
    without_binding: list[Change] = []
    store.subscribe(created.append, [pods], types=["ADDED"])
    store.subscribe(without_binding.append, without=["binding"])
    store.create(pods, pod("a"), writer="test")
    store.bind("default", "a", "n", writer="test")
    assert names(created) == [("ADDED", "a")]
    assert names(without_binding) == [("ADDED", "a")]
    store.modify(pods, "a", lambda found: found["metadata"].update(labels={"a": "b"}), namespace="default", writer="t")
    assert names(without_binding) == [("ADDED", "a"), ("MODIFIED", "a")]


def test_a_listener_that_left_hears_no_more(store: Store, maps: Kind) -> None:
    heard: list[Change] = []
    leave = store.subscribe(heard.append)
    store.create(maps, config_map("a"), writer="test")
    leave()
    store.create(maps, config_map("b"), writer="test")
    assert names(heard) == [("ADDED", "a")]


def test_all_listeners_see_one_order_even_if_one_of_them_writes(store: Store, maps: Kind) -> None:
    heard: list[Change] = []

    def echo(change: Change) -> None:
        if change.stored.name == "a":
            store.create(maps, config_map("b"), writer="echo")

    store.subscribe(echo)
    store.subscribe(heard.append)
    store.create(maps, config_map("a"), writer="test")
    assert names(heard) == [("ADDED", "a"), ("ADDED", "b")]
