"""With any shortcut, or all, the scheduler decides as the plain evaluator does, on random clusters that change.

Tests: scheduler/evaluator/*.py, scheduler/cache/*.py
"""

from collections.abc import Sequence

import pytest

from seatrial.scheduler.evaluator.shortcuts import ALL, NAMES, NONE, Shortcuts, only
from tests.scheduler.random_clusters import RandomRun

CLUSTERS = 208
PER_TEST = 13
ATTEMPTS = 12
SINGLE = [only(name) for name in NAMES if name not in ("failures", "hints") and not name.startswith("volcano_")]
"""Those two are of the scheduler and its queue, which these clusters lack: test_random_runs.py has whole runs."""


@pytest.fixture(autouse=True)
def kernel_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel has its own tests."""
    monkeypatch.setenv("SEATRIAL_KERNEL", "off")


def compare(seed: int, others: Sequence[Shortcuts]) -> None:
    play = RandomRun(seed, others)
    for number in range(ATTEMPTS):
        for shortcuts, said, plain in play.attempt():
            assert said == plain, f"cluster {seed}, attempt {number}, {shortcuts}"


@pytest.mark.parametrize("first", range(0, CLUSTERS, PER_TEST))
def test_all_shortcuts_together_and_each_alone_decide_as_the_plain_evaluator(first: int) -> None:
    """Each cluster is scheduled with all shortcuts and with one of the single ones."""
    for seed in range(first, first + PER_TEST):
        compare(seed, [ALL, SINGLE[seed % len(SINGLE)]])


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, CLUSTERS, PER_TEST))
def test_every_single_shortcut_decides_as_the_plain_evaluator_on_every_cluster(first: int) -> None:
    for seed in range(first, first + PER_TEST):
        compare(seed, SINGLE)


def test_a_plain_player_keeps_nothing() -> None:
    play = RandomRun(0, [])
    assert play.players[0].shortcuts == NONE
    before = play.players[0].algorithm.rows_evaluated
    assert list(play.attempt())
    assert play.players[0].algorithm.rows_evaluated - before >= len(play.names)
