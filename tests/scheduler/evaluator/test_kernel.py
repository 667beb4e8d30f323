"""The compiled kernel decides as the plain evaluator does, and is used where it can be."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.model.documents import Document
from seatrial.scheduler.evaluator.kernel import KernelEvaluator
from seatrial.scheduler.evaluator.kernel_columns import KernelColumns
from seatrial.scheduler.evaluator.shortcuts import ALL, NONE
from seatrial.scheduler.schedule_one.select_host import TieBreak, best_places
from tests.scheduler.evaluator.kernels import needs_kernel
from tests.scheduler.evaluator.test_feasible_index import walked
from tests.scheduler.evaluator.test_unschedulable_cache import played
from tests.scheduler.random_clusters import RandomRun, SeededRandom

pytestmark = needs_kernel
CLUSTERS, PER_TEST, ATTEMPTS = 104, 13, 12


@pytest.fixture(autouse=True)
def kernel_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEATRIAL_KERNEL", "on")


@pytest.fixture
def rows_updated(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """One entry for each time the kernel brought the rows of a shape up to date."""
    updated: list[int] = []
    is_like_before = KernelColumns.is_like_before

    def counted(columns: KernelColumns) -> bool:
        if is_like_before(columns):
            updated.append(columns.table.mark - columns.mark)
            return True
        return False

    monkeypatch.setattr(KernelColumns, "is_like_before", counted)
    yield updated


def compare(seed: int) -> None:
    play = RandomRun(seed, [ALL])
    assert isinstance(play.players[1].algorithm.evaluator, KernelEvaluator)
    for number in range(ATTEMPTS):
        for _, said, plain in play.attempt():
            assert said == plain, f"cluster {seed}, attempt {number}"


@pytest.mark.parametrize("first", range(0, CLUSTERS, PER_TEST))
def test_the_kernel_decides_as_the_plain_evaluator(first: int) -> None:
    for seed in range(first, first + PER_TEST):
        compare(seed)


@pytest.mark.parametrize("first", range(0, CLUSTERS, PER_TEST))
def test_the_kernel_decides_as_the_plain_evaluator_with_rows_that_it_updates(
    first: int, monkeypatch: pytest.MonkeyPatch, rows_updated: list[int]
) -> None:
    """Without images on nodes and without nominations the kernel computes all that depends on pods."""
    random_node = SeededRandom.node

    def without_images(dice: SeededRandom, name: str) -> Document:
        document = random_node(dice, name)
        document["status"]["images"] = []
        return document

    monkeypatch.setattr(SeededRandom, "node", without_images)
    monkeypatch.setattr(RandomRun, "_nominate", lambda play: None)
    for seed in range(first, first + PER_TEST):
        compare(seed)
    assert sum(entries > 0 for entries in rows_updated) > PER_TEST


@pytest.mark.parametrize("seed", [*range(3), 13])
def test_a_history_with_preemption_is_that_of_a_scheduler_without_shortcuts(seed: int) -> None:
    """In cluster 13 a pod that is alone in being nominated is searched for without the kernel's index once."""
    assert played(seed, ALL) == played(seed, NONE)


def shape_rows(order: list[int], blocked: list[bool], local: Any) -> Any:
    import seatrial_kernel

    return seatrial_kernel.ShapeRows(
        np.asarray(order, np.intp), np.asarray(blocked).view(np.uint8), np.asarray(local, np.int64), [], []
    )


@given(st.data())
def test_a_search_of_the_kernel_finds_what_a_walk_finds(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 200))
    blocked = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    order = data.draw(st.permutations(range(size)))[: data.draw(st.integers(1, size))]
    rows = shape_rows(order, blocked, [0] * size)
    for _ in range(3):
        start, limit = data.draw(st.integers(0, len(order) - 1)), data.draw(st.integers(1, size))
        found, visited = rows.find(start, limit, [])
        assert (np.frombuffer(found, np.intp).tolist(), visited) == walked(order, blocked, start, limit)
        row = data.draw(st.integers(0, size - 1))
        blocked[row] = not blocked[row]
        rows.change(row, not blocked[row])


@given(st.data())
def test_a_cycle_of_the_kernel_adds_up_what_its_search_finds(data: st.DataObject) -> None:
    """Rows are left out of the answer where all that were visited pass."""
    size = data.draw(st.integers(2, 200))
    blocked = [data.draw(st.integers(0, 40)) == 0 for _ in range(size)]
    local = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    order = data.draw(st.permutations(range(size)))
    sums = np.asarray(local, np.int64)
    rows = shape_rows(order, blocked, sums)
    rows.plan([], 7, [], [])
    for _ in range(3):
        start, limit = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
        listed, visited, scores = rows.schedule([], start, limit)
        expected, walk = walked(order, blocked, start, limit)
        assert visited == walk
        found = [*order, *order][start : start + visited] if listed is None else np.frombuffer(listed, np.intp).tolist()
        assert found == expected
        assert (scores is None) == (len(expected) < 2)
        if scores is not None:
            assert np.frombuffer(scores[0][0], np.int64).tolist() == [int(sums[row]) + 7 for row in expected]
        row = data.draw(st.integers(0, size - 1))
        blocked[row], sums[row] = not blocked[row], data.draw(st.integers(0, 5))
        rows.change(row, not blocked[row])


@settings(max_examples=200)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=300))
def test_the_kernel_takes_the_node_that_upstreams_heap_has_at_its_root(local: list[int]) -> None:
    rows = shape_rows(list(range(len(local))), [False] * len(local), local)
    total, best, root = rows.totals(np.arange(len(local)), 7, [], [], [])
    totals = np.frombuffer(total, np.int64)
    assert totals.tolist() == [value + 7 for value in local]
    assert np.frombuffer(best, np.intp).tolist() == best_places(totals)[:3].tolist()
    assert root == TieBreak().pick(totals, lambda place: str(place))


def test_a_score_out_of_range_is_left_to_python() -> None:
    rows = shape_rows([0, 1], [False, False], [0, 0])
    assert rows.totals(np.arange(2), 0, [], [], [(np.asarray([5, 101]), 1)]) is None
