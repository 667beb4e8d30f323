"""The first pod of a shape gets the answers of the plain evaluator."""

from typing import Any

import pytest

from seatrial.scheduler.evaluator.shortcuts import NONE, only
from tests.scheduler.cluster_builders import SmallCluster, a_node, a_pod


def narrowed_to(name: str) -> dict[str, Any]:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def outcome(monkeypatch: pytest.MonkeyPatch, shortcuts: str, **spec: Any) -> tuple[Any, ...]:
    """What comes of a pod on 300 nodes, every third of which is too small."""
    monkeypatch.setenv("SEATRIAL_SHORTCUTS", shortcuts)
    cluster = SmallCluster(*(a_node(f"n{number:03}", cpu="50m" if number % 3 else "4") for number in range(300)))
    attempt = cluster.attempt(cluster.reader.read(a_pod("p", **spec)), cells=False)
    found = attempt.found
    assert found is not None
    codes, statuses = found.explain()
    totals = None if attempt.scored is None else attempt.scored.total.tolist()
    return attempt.node, found.visited.tolist(), found.feasible.tolist(), codes.tolist(), statuses, totals


@pytest.mark.parametrize("spec", [{}, {"affinity": narrowed_to("n003")}, {"affinity": narrowed_to("gone")}])
def test_the_first_pod_of_a_shape_is_judged_as_by_the_plain_evaluator(
    monkeypatch: pytest.MonkeyPatch, spec: dict[str, Any]
) -> None:
    assert not NONE.first_of_shape and only("first_of_shape").first_of_shape
    assert outcome(monkeypatch, "first_of_shape", **spec) == outcome(monkeypatch, "none", **spec)
