"""The signed-rank test against tabulated values and by counting every sign."""

from itertools import product

import pytest

from seatrial.results.comparison.significance import FEWEST_PAIRS, LEVEL, signed_rank_p


def counted(differences: list[float]) -> float:
    """The p-value by going through every combination of signs."""
    given = [value for value in differences if value]
    sizes = sorted(abs(value) for value in given)
    ranks = [sizes.index(abs(value)) + (sizes.count(abs(value)) + 1) / 2 for value in given]
    total = sum(ranks)

    def low(signs: tuple[int, ...]) -> float:
        positive = sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        return min(positive, total - positive)

    seen = low(tuple(value > 0 for value in given))
    every = [low(signs) for signs in product((0, 1), repeat=len(given))]
    return sum(value <= seen for value in every) / len(every)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 2, 3, 4, 5], 2 / 2**5),
        ([-1, -2, -3, -4, -5, -6], 2 / 2**6),
        # The critical values of published tables: n = 8, T = 3 and n = 10, T = 8 are the last below 0.05.
        ([-3, 1, 2, 4, 5, 6, 7, 8], 10 / 2**8),
        ([-1, -7, 2, 3, 4, 5, 6, 8, 9, 10], 50 / 2**10),
    ],
)
def test_values_of_the_tables(differences: list[float], p: float) -> None:
    assert signed_rank_p(differences) == pytest.approx(p)


@pytest.mark.parametrize(
    "differences", [[1, 1, 1, -1, 1], [0.5, 0.5, -2, 3, 3, 3], [0, 0, 4, -4, 1], [2], [1, -1], [-7, 2, 2, 0, 5, 5, 9]]
)
def test_ties_and_zeros_are_counted_out(differences: list[float]) -> None:
    assert signed_rank_p(differences) == pytest.approx(counted(differences))


def test_pairs_without_a_difference_say_nothing() -> None:
    assert signed_rank_p([0.0, 0.0]) == 1.0
    assert signed_rank_p([]) == 1.0


def test_six_pairs_are_the_fewest_that_can_be_significant() -> None:
    assert signed_rank_p([1.0] * FEWEST_PAIRS) < LEVEL
    assert signed_rank_p([1.0] * (FEWEST_PAIRS - 1)) > LEVEL
