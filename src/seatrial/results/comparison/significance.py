"""Whether a difference between two sides is more than luck: the exact Wilcoxon signed-rank test on paired runs.

Runs with the same seed are a pair. The test asks how often a difference at least as one-sided arises if each pair were
as likely to differ in one direction as in the other; it assumes nothing else about the numbers. Pairs without a
difference are left out, equal differences share the mean of their ranks (F. Wilcoxon, Individual Comparisons by Ranking
Methods, 1945). The distribution is computed in full rather than approximated, so it holds for a few seeds too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.05
"""Below this a difference is called significant."""
FEWEST_PAIRS = 6
"""With fewer pairs that differ no result is below the level: 2 ÷ 2⁵ is above it."""


@dataclass(frozen=True, slots=True)
class Significance:
    """The test of one number of one run against the first."""

    name: str
    run: int
    pairs: int
    p: float

    @property
    def is_significant(self) -> bool:
        return self.p < LEVEL


def signed_rank_p(differences: Sequence[float]) -> float:
    """The two-sided p-value of paired differences; 1 where none differs."""
    values = np.array([value for value in differences if value], np.float64)
    if not len(values):
        return 1.0
    ranks = _doubled_ranks(np.abs(values))
    total = int(ranks.sum())
    positive = int(ranks[values > 0].sum())
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    for rank in ranks.tolist():
        # Each pair goes either way with equal chance.
        moved = np.zeros(total + 1)
        moved[rank:] = chances[: total + 1 - rank]
        chances = (chances + moved) / 2
    tail = float(chances[: min(positive, total - positive) + 1].sum())
    return min(1.0, 2 * tail)


def _doubled_ranks(
    sizes: "np.ndarray[tuple[int], np.dtype[np.float64]]",
) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Twice the rank of each size, so that the mean ranks of equal ones are whole numbers."""
    ordered = np.sort(sizes)
    below = np.searchsorted(ordered, sizes, "left")
    upto = np.searchsorted(ordered, sizes, "right")
    return (below + upto + 1).astype(np.int64)
