"""Plans: a whole cycle by one call of the kernel decides as the plain evaluator does, while only pods change."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.scheduler.evaluator.kernel import KernelEvaluator
from seatrial.scheduler.evaluator.kernel_columns import KernelColumns
from seatrial.scheduler.evaluator.shortcuts import ALL
from tests.scheduler.evaluator.kernels import needs_kernel
from tests.scheduler.random_clusters import RandomRun, SeededRandom

pytestmark = needs_kernel
CLUSTERS, PER_TEST, ATTEMPTS, NODES = 60, 10, 40, 60


@pytest.fixture(autouse=True)
def kernel_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEATRIAL_KERNEL", "on")


@pytest.fixture(autouse=True)
def only_pods_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pod is nominated, and after the first pods only pods come and go; most shapes can be planned."""
    random_node, random_shape = SeededRandom.node, SeededRandom._shape

    def plain_node(dice: SeededRandom, name: str) -> Document:
        document = random_node(dice, name)
        document["status"]["images"] = []
        return document

    def plain_shape(dice: SeededRandom) -> Document:
        shape = random_shape(dice)
        spec = shape["spec"]
        spec["containers"][0].pop("ports", None)
        constraints = spec.get("topologySpreadConstraints")
        if constraints and dice.chance(0.8):
            spec.pop("nodeSelector", None)
            hard = {"nodeTaintsPolicy": "Ignore", "whenUnsatisfiable": "DoNotSchedule"}
            spec["topologySpreadConstraints"] = [constraints[0] | hard]
        return shape

    monkeypatch.setattr(SeededRandom, "node", plain_node)
    monkeypatch.setattr(SeededRandom, "_shape", plain_shape)
    monkeypatch.setattr(RandomRun, "change", RandomRun._delete_some_pod)


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How many cycles were one call of the kernel, and how many of them had filters or scores by domain."""
    seen: Counter[str] = Counter()
    schedule = KernelColumns.schedule

    def counted(columns: KernelColumns, start: int, limit: int) -> Any:
        answer = schedule(columns, start, limit)
        if answer is not None and columns.plan is not None and answer[0]:
            seen["all"] += 1
            seen["by rules"] += bool(columns.plan.calls)
            seen["by terms"] += columns.plan.skipped != columns.plan.skipped_if_idle
        return answer

    monkeypatch.setattr(KernelColumns, "schedule", counted)
    yield seen


@pytest.mark.parametrize("first", range(0, CLUSTERS, PER_TEST))
def test_a_cycle_by_plan_decides_as_the_plain_evaluator(first: int, planned: Counter[str]) -> None:
    for seed in range(first, first + PER_TEST):
        play = RandomRun(seed, [ALL], nodes=NODES)
        assert isinstance(play.players[1].algorithm.evaluator, KernelEvaluator)
        for number in range(ATTEMPTS):
            play.change()
            for _, said, plain in play.attempt():
                assert said == plain, f"cluster {seed}, attempt {number}"
    assert planned["all"] > PER_TEST * ATTEMPTS // 8
    assert planned["by rules"] > PER_TEST
    assert planned["by terms"] > PER_TEST
