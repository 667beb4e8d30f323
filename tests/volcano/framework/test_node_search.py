"""The search for nodes stops when it has enough, and goes on from there."""

import numpy as np
import pytest

from seatrial.volcano.cache.fit_errors import Judgement
from seatrial.volcano.cache.task_info import TaskInfo
from seatrial.volcano.framework.node_search import NodeSearch, RotatingStart, SearchOptions
from tests.volcano.sessions import task_of


@pytest.mark.parametrize(
    ("nodes", "enough"), [(100, 100), (101, 100), (500, 230), (1000, 420), (5000, 500), (10000, 500)]
)
def test_the_larger_the_cluster_the_smaller_the_part_that_is_searched(nodes: int, enough: int) -> None:
    assert SearchOptions().enough(nodes) == enough


def explain(_: TaskInfo) -> Judgement:
    return Judgement(np.zeros(300, np.int8), lambda row: ())


def test_the_next_search_starts_where_the_last_one_ended() -> None:
    start = RotatingStart()
    rows = np.arange(300)
    search = NodeSearch(rows, start, SearchOptions())
    severity = np.zeros(300, np.int8)
    found, _ = search.find(task_of(), rows, severity, 1, explain)
    assert found.tolist() == list(range(SearchOptions().enough(300)))
    assert start.place == len(found) + 1  # one node more was met before the search was over
    again, _ = search.find(task_of(), rows, severity, 1, explain)
    assert again[0] == len(found) + 1


def test_a_role_that_failed_on_a_node_is_not_tried_there_again() -> None:
    search = NodeSearch(np.arange(3), RotatingStart(), SearchOptions())
    unfit = np.asarray([1, 0, 0], np.int8)
    search.find(task_of(role="worker"), np.arange(3), unfit, 1, explain)
    found, _ = search.find(task_of(role="worker"), np.arange(3), np.zeros(3, np.int8), 1, explain)
    assert sorted(found.tolist()) == [1, 2]
    found, _ = search.find(task_of(role="driver"), np.arange(3), np.zeros(3, np.int8), 1, explain)
    assert sorted(found.tolist()) == [0, 1, 2]
