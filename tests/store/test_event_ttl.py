"""Events are forgotten an hour after they were last written."""

import pytest

from seatrial.model.kinds import Kind
from seatrial.model.times import HOUR, MINUTE
from seatrial.store.event_ttl import EventExpiry
from seatrial.store.store import Store
from tests.store.conftest import FindKind
from tests.store.stock import Document


@pytest.fixture
def events(kind: FindKind) -> Kind:
    return kind("v1", "Event")


def event(name: str) -> Document:
    about = {"kind": "Pod", "name": "p", "namespace": "default"}
    return {"metadata": {"name": name, "namespace": "default"}, "involvedObject": about, "reason": "Scheduled"}


def let_pass(store: Store, duration: int) -> None:
    until = store.clock.now() + duration
    while (due := store.clock.next_outer()) is not None and due <= until:
        store.clock.fire_next(outer=True)
    store.clock.advance(until)


def test_an_event_lives_for_an_hour(store: Store, events: Kind) -> None:
    EventExpiry(store)
    store.create(events, event("a"), writer="test")
    let_pass(store, HOUR - 1)
    assert store.find(events, "a", "default") is not None
    let_pass(store, 1)
    assert store.find(events, "a", "default") is None


def test_an_event_that_is_written_again_lives_on(store: Store, events: Kind) -> None:
    EventExpiry(store)
    store.create(events, event("a"), writer="test")
    let_pass(store, 30 * MINUTE)
    store.modify(events, "a", lambda document: document.update(count=2), namespace="default", writer="test")
    let_pass(store, 45 * MINUTE)
    assert store.find(events, "a", "default") is not None
    let_pass(store, 15 * MINUTE)
    assert store.find(events, "a", "default") is None


def test_events_that_were_there_before_expire_too(store: Store, events: Kind) -> None:
    store.create(events, event("a"), writer="test")
    EventExpiry(store)
    let_pass(store, HOUR)
    assert store.list(events) == []
