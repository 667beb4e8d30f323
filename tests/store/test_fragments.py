"""Large documents in pieces: revisions share them, and they are joined when the document is read."""

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.model.kinds import Kind
from seatrial.store.fragments import shared_pieces
from seatrial.store.mvcc.history import History
from seatrial.store.objects import Stored
from seatrial.store.store import Store
from tests.known_kinds import known_kind
from tests.store.stock import config_map, members_of, write_members


def grow(store: Store, maps: Kind, steps: int, size: int = 10) -> Stored:
    stored = store.create(maps, config_map("a", small="1"), writer="test")
    members = members_of({f"step-{step}": "x" * size for step in range(steps)})
    for step in range(steps):
        stored = write_members(store, stored, members[: step + 1])
    return stored


def test_a_document_in_pieces_reads_as_a_whole(store: Store, maps: Kind) -> None:
    document = grow(store, maps, 3).document()
    assert document["data"] == {f"step-{step}": "x" * 10 for step in range(3)}
    assert document["metadata"]["resourceVersion"] == "4"


def test_revisions_share_the_pieces_they_did_not_change(store: Store, maps: Kind) -> None:
    grow(store, maps, 3)
    before, after = [change.stored for change in store.changes(2)]
    assert shared_pieces(after, before) == 2


def test_history_counts_shared_pieces_once() -> None:
    history = History(bytes_kept=100_000)
    store = Store(builtin_kinds(), Clock(), history=history)
    grow(store, known_kind(store.kinds, "v1", "ConfigMap"), 50, size=1000)
    assert len(history) == 51


def test_an_ordinary_write_joins_the_pieces(store: Store, maps: Kind) -> None:
    grow(store, maps, 2)
    stored = store.modify(maps, "a", lambda d: d["data"].update(more="y"), namespace="default", writer="test")
    assert stored.document()["data"] == {"step-0": "x" * 10, "step-1": "x" * 10, "more": "y"}
