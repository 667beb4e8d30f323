"""Sorting leaves equal elements as Go's sort.Slice does; the orders were recorded from Go 1.26's."""

from pathlib import Path

import orjson
import pytest

from seatrial.scheduler.preemption.sort_slice import go_sort

RECORDED = Path(__file__).parents[2] / "golden" / "go-sort.jsonl"


@pytest.mark.parametrize("line", RECORDED.read_bytes().splitlines(), ids=lambda line: str(len(line)))
def test_equal_elements_end_up_where_go_puts_them(line: bytes) -> None:
    case = orjson.loads(line)
    items = list(enumerate(case["keys"]))
    go_sort(items, lambda one, other: one[1] < other[1])
    assert [place for place, _ in items] == case["order"]


def test_a_comparison_that_always_says_less_reverses_a_short_list() -> None:
    """So do pods of one priority that have not started: each is asked about later than the other."""
    items = [1, 2, 3]
    go_sort(items, lambda one, other: True)
    assert items == [3, 2, 1]
