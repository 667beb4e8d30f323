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


def labelled(number: int, *, leaves: bool = False, **labels: str) -> PodInfo:
    metadata = {"name": f"p{number}", "namespace": "default", "uid": f"u{number}", "labels": labels}
    metadata |= {"deletionTimestamp": "2030-01-01T00:00:00Z"} if leaves else {}
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
        pod = labelled(number, leaves=dice.random() < 0.2, app=dice.choice("abcde"), tier=dice.choice("xy"))
        change = dice.random() if there else 1.0
        if change < 0.35:
            counts.remove(*there.pop(dice.randrange(len(there))))
        elif change < 0.6:
            place = dice.randrange(len(there))
            old, row = there[place]
            counts.replace(old, pod, row)
            there[place] = pod, row
        else:
            there.append((pod, dice.randrange(ROWS)))
            counts.add(*there[-1])
        wanted, staying = dice.choice([{"app": dice.choice("abcde")}, {"tier": dice.choice("xy")}, {}]), number % 2 > 0
        picked = [(pod, row) for pod, row in there if wanted.items() <= dict(pod.labels).items()]
        rows = Counter(row for pod, row in picked if not (staying and pod.deleting))
        assert counts.matching(picks(**wanted), staying).rows.tolist() == [rows[row] for row in range(ROWS)]


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
