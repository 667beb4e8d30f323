"""Which node is taken: windows, ties and their order."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.scheduler.schedule_one.select_host import TieBreak, heap_order, nodes_to_find


def go_heap_root(totals: list[int]) -> int:
    """The place whose entry is on top after Go's heap.Init with `>`."""
    heap = list(enumerate(totals))

    def down(place: int) -> None:
        while True:
            child = 2 * place + 1
            if child >= len(heap):
                return
            if child + 1 < len(heap) and heap[child + 1][1] > heap[child][1]:
                child += 1
            if not heap[child][1] > heap[place][1]:
                return
            heap[place], heap[child] = heap[child], heap[place]
            place = child

    for place in range(len(heap) // 2 - 1, -1, -1):
        down(place)
    return heap[0][0]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=200))
def test_ties_are_settled_by_the_root_of_a_heap(totals: list[int]) -> None:
    picked = TieBreak().pick(np.asarray(totals, np.int64), lambda place: str(place))
    assert picked == go_heap_root(totals)


def test_many_ties_beyond_the_first_table_of_ranks() -> None:
    totals = [random.Random(7).randint(0, 1) for _ in range(5000)]
    assert TieBreak().pick(np.asarray(totals, np.int64), lambda place: str(place)) == go_heap_root(totals)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60))
def test_nodes_leave_a_heap_best_first_and_its_root_before_all(totals: list[int]) -> None:
    order = heap_order(totals)
    assert sorted(order) == list(range(len(totals)))
    assert [totals[place] for place in order] == sorted(totals, reverse=True)
    assert order[0] == go_heap_root(totals)


def test_equal_nodes_leave_a_heap_in_the_order_of_go() -> None:
    assert heap_order([1, 1, 1, 1, 1, 1]) == [0, 5, 4, 3, 2, 1]


def test_the_smallest_name_wins_where_names_decide() -> None:
    names = ["b", "c", "a"]
    assert TieBreak("name").pick(np.asarray([1, 1, 1]), lambda place: names[place]) == 2


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="upstream, name or random"):
        TieBreak("dice")


@pytest.mark.parametrize(
    ("nodes", "percentage", "wanted"),
    [(50, 0, 50), (99, 10, 99), (100, 0, 100), (150, 0, 100), (1000, 0, 420), (5000, 0, 500), (6000, 0, 300),
     (50_000, 0, 2500), (1000, 30, 300), (1000, 5, 100), (1000, 100, 1000)],
)  # fmt: skip
def test_enough_nodes_are_found_when(nodes: int, percentage: int, wanted: int) -> None:
    assert nodes_to_find(nodes, percentage) == wanted
