"""Lifecycles from the columns of a timeline are those that a walk over all its rows finds."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from seatrial.api import run
from seatrial.results.lifecycle_reader import pods_around
from seatrial.results.lifecycles import NodeLife, PodLife
from seatrial.results.run import Run
from tests.scenario.playing import create, delete, done, operations, scenario
from tests.scenario.running import node, pod

EXAMPLES = Path(__file__).parents[2] / "examples"


def facts(nodes: Iterable[NodeLife], pods: Iterable[PodLife]) -> dict[str, Any]:
    pods = list(pods)
    return {"nodes": list(nodes), "pods": pods, "last written": [pod.written() for pod in pods]}


def walked(played: Run) -> dict[str, Any]:
    """What a walk over all entries finds."""
    nodes: dict[int, NodeLife] = {}
    pods: dict[int, PodLife] = {}
    for _, moment in played.moments():
        nodes |= {id(life): life for life in moment.nodes.values()}
        pods |= {id(life): life for life in moment.pods.values()}
    return facts(nodes.values(), pods.values())


@pytest.mark.parametrize("name", ["preemption-storm", "rolling-update", "job-durations", "volcano-reclaim"])
def test_an_example_has_the_lifecycles_of_the_walk(name: str) -> None:
    played = run(EXAMPLES / name / "scenario.yaml").run
    assert facts(played.nodes, played.pods) == walked(played)
    assert len(played.histories.attempts) == sum(pod.attempts for pod in played.pods) > 0


def test_one_pod_has_the_same_lives_and_victims_without_a_walk_over_all_others() -> None:
    played = run(EXAMPLES / "preemption-storm" / "scenario.yaml").run
    for key in sorted({life.key for life in played.pods}):
        around = pods_around(played.timeline, key)
        assert [life for life in around if life.key == key] == [life for life in played.pods if life.key == key]
        assert _preempted_by(key, around) == _preempted_by(key, played.pods)
    assert any(_preempted_by(life.key, played.pods) for life in played.pods)


def _preempted_by(key: str, pods: list[PodLife]) -> list[str]:
    return [life.key for life in pods if life.preempted_by == key]


def test_pods_of_one_name_have_their_own_attempts_and_last_forms() -> None:
    wide, narrow = pod("p", cpu="3"), pod("p", cpu="1")
    spec = operations(
        create(1, pod("p", cpu="64")), create(2, node("n")), delete(3, wide), create(4, wide),
        delete(5, wide), create(6, narrow), done(6),
    )  # fmt: skip
    played = run(scenario(spec)).run
    assert facts(played.nodes, played.pods) == walked(played)
    assert [(life.created, life.bound, life.attempts) for life in played.pods] == [(1, None, 4), (4, 4, 1), (6, 6, 1)]
    assert [life.phase for life in played.pods] == ["Pending", "Running", "Running"]
