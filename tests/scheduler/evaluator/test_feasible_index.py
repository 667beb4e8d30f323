"""What is read off the passing nodes is what a walk along the order would find."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from seatrial.scheduler.evaluator.feasible_index import Passing


def walked(order: list[int], blocked: list[bool], start: int, limit: int) -> tuple[list[int], int]:
    """The first rows that pass, and how many nodes were visited before one more was met."""
    found: list[int] = []
    for visited in range(len(order)):
        row = order[(start + visited) % len(order)]
        if not blocked[row]:
            if len(found) == limit:
                return found, visited
            found.append(row)
    return found, len(order)


@given(st.data())
def test_a_search_reads_off_what_a_walk_finds(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    blocked = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    order = data.draw(st.permutations(range(size)))[: data.draw(st.integers(1, size))]
    passing = Passing(np.asarray(order, np.intp), np.asarray(blocked))
    for _ in range(3):
        start, limit = data.draw(st.integers(0, len(order) - 1)), data.draw(st.integers(1, size))
        rows, visited = passing.find(start, limit)
        assert (rows.tolist(), visited) == walked(order, blocked, start, limit)
        row = data.draw(st.integers(0, size - 1))
        blocked[row] = not blocked[row]
        passing.change(row, not blocked[row])
