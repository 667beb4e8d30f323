"""Packed objects: the same bytes in less memory."""

import random
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from seatrial.clock import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.store import Store
from seatrial.store.mvcc import Packing
from seatrial.store.mvcc.packing import LONGEST, LONGEST_CUT
from seatrial.store.objects import Compressed, Facets, Packed, Shape, Stored

KINDS = builtin_kinds()
POD, MAP = KINDS.served("v1", "Pod"), KINDS.served("v1", "ConfigMap")
FILLING = {f"key-{number}": "x" * 30 for number in range(20)}
TEXTS = st.text(max_size=4)
VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def stored(document: Any) -> Stored:
    return Stored(MAP, "default", "a", 1, orjson.dumps(document))


def is_packed(found: Stored) -> bool:
    return isinstance(found.content, Packed)


def pod(number: int, **more: str) -> dict[str, Any]:
    container = {"name": "app", "image": "app:1", "env": [{"name": name, "value": text} for name, text in more.items()]}
    notes = {"example.com/note": "x" * 900, "example.com/number": str(number)}
    return {"metadata": {"name": f"pod-{number}", "annotations": notes}, "spec": {"containers": [container]}}


@given(st.lists(st.dictionaries(TEXTS, VALUES, max_size=4), max_size=12))
def test_whatever_is_packed_has_the_same_bytes(documents: list[dict[str, Any]]) -> None:
    packing = Packing()
    objects = [stored({**FILLING, **document}) for document in documents]
    before = [found.data for found in objects]
    for found in objects:
        packing.pack(found)
    assert [found.data for found in objects] == before
    assert [found.size for found in objects] == [len(data) for data in before]


def test_objects_that_are_alike_share_all_but_their_values() -> None:
    packing = Packing()
    objects = [stored({**FILLING, "name": f"n-{number}", "again": f"n-{number}", "n": number}) for number in range(9)]
    for found in objects:
        packing.pack(found)
    assert [is_packed(found) for found in objects] == [False] + [True] * 8
    contents = [found.content for found in objects if isinstance(found.content, Packed)]
    assert len({id(content.skeleton) for content in contents}) == 1
    assert contents[-1].values == b"n-8\0:8}"


def test_objects_with_their_fields_in_another_order_have_a_skeleton_of_their_own() -> None:
    packing = Packing()
    turned = dict(reversed(FILLING.items()))
    objects = [stored({**(FILLING, turned)[n % 2], "name": f"n-{n}", "number": n}) for n in range(20)]
    for found in objects:
        packing.pack(found)
    assert all(is_packed(found) for found in objects[2:])


def test_objects_that_have_little_in_common_stay_as_they_are() -> None:
    packing = Packing()
    objects = [stored({"name": f"n-{number}", "value": str(number) * 1000}) for number in range(1, 9)]
    for found in objects:
        packing.pack(found)
    assert not any(is_packed(found) for found in objects)


def test_a_large_object_that_repeats_itself_is_compressed() -> None:
    large, noise = stored({"value": "node-1 passed " * LONGEST_CUT}), random.Random(1).randbytes(LONGEST_CUT).hex()
    other, largest = stored({"value": noise[:100] + noise}), stored({"value": "x" * LONGEST})
    before = large.data
    for found in (large, other):
        Packing().pack(found)
    assert isinstance(large.content, Compressed) and len(large.content.zipped) * 20 < large.size
    assert (large.data, large.pieces, large.size) == (before, before, len(before))
    assert isinstance(other.content, bytes), "what cannot be halved stays as it is"
    whole = Packing(whole=0)
    whole.add(largest)
    assert isinstance(largest.content, bytes), "the loop would wait too long for it"


def test_a_packed_object_without_status_has_no_facets() -> None:
    for status, is_kept in ((b"", False), (b'{"phase":"Running"}', True)):
        found = Stored(MAP, "default", "a", 1, b'{"metadata":{"uid":"u"}}', Facets(Shape(), "u", status))
        Packing().pack(found)
        assert (found.facets is not None) == is_kept
        assert found.uid == "u"


def test_a_store_packs_all_but_the_latest_changes() -> None:
    plain = Store(KINDS, Clock())
    packed = Store(KINDS, Clock(), packing=Packing(whole=15_000))
    for store in plain, packed:
        store.create(KINDS.served("v1", "Namespace"), {"metadata": {"name": "default"}}, writer="test")
        for number in range(40):
            store.create(POD, pod(number), writer="test", namespace="default")
        for number in range(0, 40, 3):
            store.modify(
                POD,
                f"pod-{number}",
                lambda found: found["metadata"].update(labels={"a": "b"}),
                writer="test",
                namespace="default",
            )
        store.delete(POD, "pod-7", writer="test", namespace="default")
    assert sum(is_packed(found) for found in packed.list(POD, "default")) > 20
    assert [found.data for found in packed.list(POD)] == [found.data for found in plain.list(POD)]
    for one, other in zip(packed.changes(0), plain.changes(0), strict=True):
        assert (one.type, one.stored.data, one.stored.size) == (other.type, other.stored.data, other.stored.size)
