"""Pods that went elsewhere: grouped by workload and reason, in words whose numbers agree with them."""

import pytest

from seatrial.results.comparison import common_suffix
from seatrial.results.comparison.reasons import _preference
from tests.results.comparing import packed_and_spread


def test_pods_of_one_workload_and_reason_are_one_group() -> None:
    from seatrial.results.comparison import compare, moved_groups

    comparison = compare(packed_and_spread())
    groups = moved_groups(comparison)
    assert sum(len(group.differences) for group in groups) == len(comparison.differences) > len(groups)
    sizes = [len(group.differences) for group in groups]
    assert sizes == sorted(sizes, reverse=True)
    assert {group.workload for group in groups} == {"default/pod-*"}


@pytest.mark.parametrize(
    ("names", "suffix"),
    [
        (["ip-1.eu.internal", "ip-2.eu.internal"], ".eu.internal"),
        (["node-a1", "node-b1"], ""),
        (["a.x", "b.x"], ""),
        (["same.eu.internal", "same.eu.internal"], ""),
        ([], ""),
    ],
)
def test_long_names_lose_what_they_share(names: list[str], suffix: str) -> None:
    assert common_suffix(names) == suffix


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (-4, 5, "now prefers there by 5 (before: here by 4)"),
        (-9, 0, "now prefers neither (before: here by 9)"),
        (-9, -2, "now prefers here by 2 (before: here by 9)"),
        (0, 3, "now prefers there by 3 (before: neither)"),
    ],
)
def test_a_preference_has_no_negative_number(before: int, now: int, said: str) -> None:
    assert _preference("here", "there", before, now) == said
