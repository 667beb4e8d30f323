"""Counts of pods by group, held against a walk over all pods."""

from collections import Counter
from random import Random

import pytest

from seatrial.scheduler.cache import pod_counts
from seatrial.scheduler.cache.label_selectors import Selector
from seatrial.scheduler.cache.pod_counts import PodCounts
from seatrial.scheduler.cache.pod_info import PodInfo, PodReader
from seatrial.scheduler.cache.pod_terms import PodMatcher

ROWS = 6
READER = PodReader()


def labelled(number: int, **labels: str) -> PodInfo:
    metadata = {"name": f"p{number}", "namespace": "default", "uid": f"u{number}", "labels": labels}
    return READER.read({"metadata": metadata, "spec": {}})


def picks(**labels: str) -> PodMatcher:
    return PodMatcher.of("default", Selector.read({"matchLabels": labels}))


@pytest.mark.parametrize("seed", range(20))
def test_counts_are_those_of_a_walk_over_all_pods(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few shapes and matchers are kept, so that both are forgotten and found again."""
    monkeypatch.setattr(pod_counts, "MOST_RESTING", 2)
    monkeypatch.setattr(pod_counts, "MOST_MATCHERS", 3)
    dice, counts, there = Random(seed), PodCounts(ROWS), list[tuple[PodInfo, int]]()
    for number in range(120):
        if there and dice.random() < 0.45:
            pod, row = there.pop(dice.randrange(len(there)))
            counts.remove(pod, row)
        else:
            pod, row = labelled(number, app=dice.choice("abcde"), tier=dice.choice("xy")), dice.randrange(ROWS)
            counts.add(pod, row)
            there.append((pod, row))
        wanted = dice.choice([{"app": dice.choice("abcde")}, {"tier": dice.choice("xy")}, {}])
        rows = Counter(row for pod, row in there if wanted.items() <= dict(pod.labels).items())
        assert counts.matching(picks(**wanted), False).rows.tolist() == [rows[row] for row in range(ROWS)]


class Watched(dict[str, str]):
    """Labels that count how often they are looked up."""

    looked_up = 0

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        Watched.looked_up += 1
        return super().get(key, default)


def test_a_new_count_does_not_walk_all_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watched, "looked_up", 0)
    counts = PodCounts(ROWS)
    for number in range(200):
        pod = labelled(number, app=f"app-{number}")
        pod.shape.labels = Watched(pod.shape.labels)
        counts.add(pod, 0)
    for number in range(200):
        assert counts.matching(picks(app=f"app-{number}"), False).total == 1
    assert Watched.looked_up < 4 * 200
