"""The heap takes the steps of Go's container/heap."""

from hypothesis import given
from hypothesis import strategies as st

from seatrial.volcano.framework.priority_queue import PriorityQueue


@given(st.lists(st.integers()))
def test_items_come_out_in_order(numbers: list[int]) -> None:
    queue: PriorityQueue[int] = PriorityQueue(lambda a, b: a < b, numbers)
    assert [queue.pop() for _ in numbers] == sorted(numbers)


def test_equal_items_come_out_in_the_order_of_the_heap() -> None:
    queue: PriorityQueue[str] = PriorityQueue(lambda a, b: a[0] < b[0], ["a1", "a2", "a3", "a4"])
    assert [queue.pop() for _ in range(4)] == ["a1", "a4", "a3", "a2"]


def test_a_clone_is_independent() -> None:
    queue: PriorityQueue[int] = PriorityQueue(lambda a, b: a < b, [2, 1])
    copy = queue.clone()
    copy.pop()
    assert len(queue) == 2 and sorted(queue.items()) == [1, 2]
