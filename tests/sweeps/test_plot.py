"""The plot of two objectives: round figures, steps of the front, and settings that share a point."""

import re
from typing import Literal

import pytest

from seatrial.sweeps.front import Candidate, Standing
from seatrial.sweeps.plot import Scale, plot
from seatrial.sweeps.spec import Objective

Better = Literal["higher", "lower", ""]


def standing(*values: tuple[float, float], across: Better = "lower", up: Better = "lower") -> Standing:
    candidates = tuple(Candidate((place,), pair, 1) for place, pair in enumerate(values))
    return Standing("s", ("n",), (Objective("x", across), Objective("y", up)), candidates)


def drawn(found: Standing) -> str:
    return plot(found, found.front, 0, 1)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [([4, 10], [4, 6, 8, 10]), ([0, 46.4], [0, 20, 40]), ([7, 7], [6.5, 7, 7.5]), ([0, 0], [-1, -0.5, 0, 0.5, 1])],
)
def test_ticks_are_round_numbers(values: list[float], ticks: list[float]) -> None:
    assert Scale(values, 0, 100).ticks() == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("across", "up", "front"),
    [
        ("lower", "lower", [(1, 3), (2, 1)]),
        ("higher", "higher", [(1, 3), (2, 1)]),
        ("lower", "higher", [(1, 1), (2, 3)]),
        ("higher", "lower", [(1, 1), (2, 3)]),
    ],
)
def test_the_steps_have_their_corner_on_the_worse_side(
    across: Better, up: Better, front: list[tuple[float, float]]
) -> None:
    found = standing(*front, across=across, up=up)
    points = re.search(r'class="line" points="([^"]*)"', drawn(found))
    assert points is not None
    left, corner, right = (tuple(map(float, point.split(","))) for point in points[1].split())
    # A corner left of the right point is worse if more is better, and the other way round; so is its height.
    assert corner[0] == (left if across == "higher" else right)[0]
    heights = [left[1], right[1]]
    # The height of an SVG grows downwards.
    assert corner[1] == (max(heights) if up == "higher" else min(heights))


def test_settings_with_the_same_numbers_are_one_larger_point() -> None:
    page = drawn(standing((1, 1), (1, 1), (2, 2)))
    assert page.count("<circle") == 2
    assert "n 0\nn 1" in page
