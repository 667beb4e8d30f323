"""A heap of pods gives them back by order, however they came, moved or left."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.scheduler.cache.pod_info import PodInfo, PodReader
from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.profile import order_of
from seatrial.scheduler.queue import QueuedPod
from seatrial.scheduler.queue.heap import Order, PodHeap
from seatrial.scheduler.queue.queued_pod_info import priority_order

NAMES = "abcdef"


def a_pod(name: str, priority: int) -> PodInfo:
    document: dict[str, Any] = {"metadata": {"name": name, "uid": name}, "spec": {"priority": priority}}
    return PodReader().read(document)


class Users(Plugin):
    """A QueueSort of a user's that agrees with PrioritySort."""

    def less(self, first: QueuedPod, second: QueuedPod) -> bool:
        return priority_order(first) < priority_order(second)


@pytest.mark.parametrize("order", [priority_order, order_of(Users())], ids=["in-tree", "users"])
@given(
    moves=st.lists(
        st.tuples(st.sampled_from(("push", "all", "remove", "pop")), st.sampled_from(NAMES), st.integers(0, 3))
    )
)
def test_the_first_by_order_comes_first(order: Order, moves: list[tuple[str, str, int]]) -> None:
    heap = PodHeap(order)
    there: dict[str, QueuedPod] = {}
    for number, (move, name, priority) in enumerate(moves):
        if move == "push":
            queued = there.setdefault(name, QueuedPod(a_pod(name, priority), 0, 10 * number))
            queued.pod = a_pod(name, priority)
            heap.push(queued)
        elif move == "all":
            new = [other for other in NAMES[priority:] if other not in there]
            there |= {other: QueuedPod(a_pod(other, priority), 0, 10 * number - late) for late, other in enumerate(new)}
            heap.push_all([there[other] for other in new])
        elif move == "remove":
            assert heap.remove(f"default/{name}") is there.pop(name, None)
        else:
            first = min(there.values(), key=priority_order, default=None)
            assert heap.peek() is first
            assert heap.pop() is first
            if first is not None:
                del there[first.pod.name]
    assert len(heap) == len(there)
