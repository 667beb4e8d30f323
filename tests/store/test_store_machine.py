"""The store against a plain dictionary: random operations give the same objects, revisions and history."""

from typing import Any

import orjson
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.errors import AlreadyExists, Conflict, NotFound
from seatrial.store.options import DeleteOptions, Patch
from seatrial.store.store import Store
from tests.known_kinds import known_kind
from tests.store.stock import config_map

NAMES = st.sampled_from(["a", "b", "c", "d"])
SPACES = st.sampled_from(["default", "other"])
VALUES = st.sampled_from(["", "1", "2", "ü"])
KEYS = st.sampled_from(["x", "y"])
Key = tuple[str, str]


class StoreMachine(RuleBasedStateMachine):
    """Creates, updates, patches and deletes config maps; a dict of data and finalizers is the model."""

    handles = Bundle("handles")

    def __init__(self) -> None:
        super().__init__()
        self.store = Store(builtin_kinds(), Clock())
        self.kind = known_kind(self.store.kinds, "v1", "ConfigMap")
        self.data: dict[Key, dict[str, str]] = {}
        self.held: set[Key] = set()
        self.deleting: set[Key] = set()
        self.writes = 0
        self.heard: list[tuple[str, Key]] = []
        self.store.subscribe(lambda change: self.heard.append((change.type, self.key_of(change.stored))))

    @staticmethod
    def key_of(stored: Any) -> Key:
        return stored.namespace, stored.name

    @rule(target=handles, name=NAMES, namespace=SPACES, value=VALUES, held=st.booleans())
    def create(self, name: str, namespace: str, value: str, held: bool) -> Any:
        document, key = config_map(name, namespace, x=value), (namespace, name)
        if held:
            document["metadata"]["finalizers"] = ["example.com/hold"]
        try:
            stored = self.store.create(self.kind, document, writer="test")
        except AlreadyExists:
            assert key in self.data
            return multiple()
        assert key not in self.data
        self.data[key] = {"x": value}
        self.writes += 1
        if held:
            self.held.add(key)
        return stored

    @rule(handle=handles, key=KEYS, value=VALUES)
    def update_from_a_handle(self, handle: Any, key: str, value: str) -> None:
        document, place = handle.document(), self.key_of(handle)
        document["data"][key] = value
        latest = self.store.find(self.kind, handle.name, handle.namespace)
        try:
            stored = self.store.update(self.kind, document, writer="test")
        except NotFound:
            assert place not in self.data
        except Conflict:
            assert latest is not None and latest.revision != handle.revision
        else:
            assert latest is not None and latest.revision == handle.revision
            self.writes += stored.revision != handle.revision
            self.data[place] = document["data"]

    @rule(name=NAMES, namespace=SPACES, key=KEYS, value=st.none() | VALUES)
    def patch(self, name: str, namespace: str, key: str, value: str | None) -> None:
        place = namespace, name
        try:
            before = self.store.revision
            self.store.patch(
                self.kind, name, Patch("merge", {"data": {key: value}}), namespace=namespace, writer="test"
            )
        except NotFound:
            assert place not in self.data
            return
        changed = dict(self.data[place])
        if value is None:
            changed.pop(key, None)
        else:
            changed[key] = value
        assert (self.store.revision > before) == (changed != self.data[place])
        self.writes += self.store.revision - before
        self.data[place] = changed

    @rule(name=NAMES, namespace=SPACES)
    def delete(self, name: str, namespace: str) -> None:
        place = namespace, name
        try:
            left = self.store.delete(self.kind, name, namespace=namespace, writer="test", options=DeleteOptions())
        except NotFound:
            assert place not in self.data
            return
        if place in self.held:
            assert left is not None and "deletionTimestamp" in left.document()["metadata"]
            self.writes += place not in self.deleting
            self.deleting.add(place)
        else:
            assert left is None
            self.writes += 1
            del self.data[place]

    @rule(name=NAMES, namespace=SPACES)
    def release(self, name: str, namespace: str) -> None:
        place = namespace, name
        if place not in self.held:
            return
        self.store.modify(
            self.kind, name, lambda document: document["metadata"].pop("finalizers"), namespace=namespace, writer="test"
        )
        self.writes += 1
        self.held.discard(place)
        if place in self.deleting:
            self.deleting.discard(place)
            del self.data[place]

    @rule(handle=consumes(handles))
    def forget_a_handle(self, handle: Any) -> None:
        """Handles grow old and are dropped."""

    @invariant()
    def objects_are_those_of_the_model_in_order(self) -> None:
        listed = self.store.list(self.kind)
        assert [self.key_of(stored) for stored in listed] == sorted(self.data)
        assert [stored.document().get("data") or {} for stored in listed] == [
            self.data[place] for place in sorted(self.data)
        ]

    @invariant()
    def each_write_took_one_revision(self) -> None:
        assert self.store.revision == self.writes == len(self.heard)

    @invariant()
    def history_replayed_gives_the_present(self) -> None:
        present: dict[Key, bytes] = {}
        for change in self.store.changes(0):
            place = self.key_of(change.stored)
            assert (change.previous is not None) == (place in present)
            if change.type == "DELETED":
                del present[place]
            else:
                present[place] = change.stored.data
            assert orjson.loads(change.stored.data)["metadata"]["resourceVersion"] == str(change.revision)
        assert present == {self.key_of(stored): stored.data for stored in self.store.list(self.kind)}


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=200, stateful_step_count=30, deadline=None, derandomize=True)
