"""The cached incremental path and plain full scans come to the same decisions on random, changing clusters."""

import pytest

from tests.scheduler.random_clusters import RandomRun

CLUSTERS = 208
PER_TEST = 13
ATTEMPTS = 12


@pytest.mark.parametrize("first", range(0, CLUSTERS, PER_TEST))
def test_cached_columns_decide_as_full_scans_do(first: int) -> None:
    for seed in range(first, first + PER_TEST):
        play = RandomRun(seed)
        for number in range(ATTEMPTS):
            cached, plain = play.attempt()
            assert cached == plain, f"cluster {seed}, attempt {number}"
            play.change()
