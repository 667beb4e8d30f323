"""A pod like one that has just failed is not evaluated again, and nobody can tell the difference."""

import random
from typing import Any

import pytest

from seatrial.plugins import Plugin
from seatrial.scheduler.evaluator.shortcuts import ALL, NONE, Shortcuts, only
from tests.scheduler.scheduler_world import World, enabled


def evaluations(world: World) -> int:
    return int(world.scheduler.algorithm.rows_evaluated)


def crowded(**options: Any) -> World:
    world = World(**options)
    for number in range(3):
        world.node(f"n{number}", cpu="1")
    return world


def test_equal_failures_are_evaluated_once() -> None:
    world = crowded()
    world.pod("first", cpu="2")
    world.run()
    before = evaluations(world)
    for number in range(20):
        world.pod(f"p{number}", cpu="2")
    decisions = world.run()
    assert evaluations(world) == before
    assert {(d.outcome, d.message) for d in decisions} == {("unschedulable", decisions[0].message)}
    assert [d.pod for d in decisions] == [f"default/p{number}" for number in range(20)]
    assert decisions[0].visited == ("n0", "n1", "n2")
    assert world.condition("p19")["message"] == decisions[0].message


def test_a_change_of_the_cluster_makes_them_evaluated_again() -> None:
    world = crowded()
    world.pod("a", cpu="2")
    world.run()
    world.node("big", cpu="8")
    world.pod("b", cpu="2")
    world.run()
    assert [world.node_of("a"), world.node_of("b")] == ["big", "big"]


def test_another_shape_is_evaluated() -> None:
    world = crowded()
    world.pod("a", cpu="2")
    world.pod("b", cpu="1")
    world.run()
    assert [world.node_of("a"), world.node_of("b") != ""] == ["", True]


def test_another_priority_is_evaluated() -> None:
    world = crowded()
    for number in range(3):
        world.pod(f"low{number}", priority=1)
    world.pod("equal", priority=1)
    world.run()
    world.pod("high", priority=5)
    (decision,) = world.run()
    assert decision.preemption is not None


def test_two_preemptors_do_not_share_their_victim() -> None:
    world = crowded()
    for number in range(3):
        world.pod(f"low{number}", priority=1)
    world.run()
    for name in ("a", "b"):
        world.pod(name, priority=5)
    first, second = world.run()
    assert first.preemption is not None
    assert second.preemption is not None
    assert first.preemption.node != second.preemption.node


def test_plugins_of_users_are_always_asked() -> None:
    asked: list[str] = []

    class Counting(Plugin):
        def filter_one(self, pod: Any, node: Any) -> Any:
            asked.append(pod.name)
            return "never"

    world = World(enabled("Counting"), [Counting])
    world.node("n1")
    world.pod("a")
    world.pod("b")
    world.run()
    assert {"a", "b"} <= set(asked)


def on_nodes(*names: str) -> dict[str, Any]:
    """An affinity by which PreFilter leaves the named nodes only."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    terms = [{"matchFields": [field]} for field in fields]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def test_a_failure_on_a_part_of_the_nodes_moves_the_start_of_the_next_search() -> None:
    """Upstream adds the nodes that a search has processed to nextStartNodeIndex, and here that is one of three."""
    world = crowded()
    world.pod("a", cpu="2")
    world.pod("b", cpu="2", affinity=on_nodes("n1"))
    world.pod("c", cpu="2")
    assert [tuple(decision.visited) for decision in world.run()] == [
        ("n0", "n1", "n2"),
        ("n1",),
        ("n1", "n2", "n0"),
    ]


def test_equal_failures_are_evaluated_once_more_from_another_start() -> None:
    world = crowded()
    world.pod("first", cpu="2")
    world.pod("second", cpu="2", affinity=on_nodes("n1"))
    world.pod("third", cpu="2")
    world.run()
    before = evaluations(world)
    for number in range(20):
        world.pod(f"p{number}", cpu="2")
    decisions = world.run()
    assert evaluations(world) == before
    assert {tuple(decision.visited) for decision in decisions} == {("n1", "n2", "n0")}


def narrowed(seed: int, shortcuts: Shortcuts) -> list[tuple[Any, ...]]:
    """A random history of pods most of which fail, many of them on some nodes only, and every decision in it."""
    dice = random.Random(seed)
    world = World(shortcuts=shortcuts)
    names = [f"n{number}" for number in range(dice.choice([3, 5, 8]))]
    for name in names:
        world.node(name, cpu="1", labels={"zone": dice.choice("ab")})
    for number in range(30):
        spec: dict[str, Any] = {"priority": dice.choice([0, 0, 5])}
        if dice.random() < 0.4:
            spec["affinity"] = on_nodes(*dice.sample(names, dice.choice([1, 2, len(names)])))
        elif dice.random() < 0.3:
            spec["nodeSelector"] = {"zone": dice.choice("ab")}
        world.pod(f"p{number}", cpu=dice.choice(["2", "2", "2", "1"]), **spec)
        if dice.random() < 0.3:
            world.run()
        if dice.random() < 0.2:
            world.scheduler.sweep()
    world.run()
    return [
        (
            d.pod,
            d.attempt,
            d.outcome,
            d.node,
            d.message,
            tuple(d.visited),
            tuple(d.rejected()),
            d.statuses,
            d.preemption,
        )
        for d in world.recorder.decisions
    ]


@pytest.mark.parametrize("seed", range(25))
def test_decisions_among_pods_for_some_nodes_are_those_of_a_scheduler_without_shortcuts(seed: int) -> None:
    plain = narrowed(seed, NONE)
    assert narrowed(seed, only("failures")) == plain
    assert narrowed(seed, ALL) == plain


def played(seed: int, shortcuts: Shortcuts) -> list[tuple[Any, ...]]:
    """A random history, and every decision in it."""
    dice = random.Random(seed)
    world = World(shortcuts=shortcuts)
    for number in range(7):
        world.node(f"n{number}", cpu=str(dice.choice([1, 2, 4])), labels={"zone": dice.choice("ab")})
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    for number in range(40):
        spec: dict[str, Any] = {"priority": dice.choice([0, 0, 0, 5])}
        if dice.random() < 0.3:
            spec["topologySpreadConstraints"] = [{**spread, "labelSelector": {"matchLabels": {"a": "x"}}}]
        world.pod(f"p{number}", cpu=dice.choice(["500m", "1", "3"]), labels={"a": dice.choice("xy")}, **spec)
        if dice.random() < 0.3:
            world.run()
        if dice.random() < 0.2:
            bound = [f"p{n}" for n in range(number) if world.store.find(world.kind("Pod"), f"p{n}", "default")]
            world.delete("Pod", dice.choice(bound)) if bound else None
        if dice.random() < 0.1:
            world.scheduler.sweep()
    world.run()
    return [(d.pod, d.attempt, d.outcome, d.node, d.message, d.visited, d.preemption) for d in world.recorder.decisions]


@pytest.mark.parametrize("seed", range(25))
def test_decisions_are_those_of_a_scheduler_without_shortcuts(seed: int) -> None:
    plain = played(seed, NONE)
    assert played(seed, only("failures")) == plain
    assert played(seed, ALL) == plain
