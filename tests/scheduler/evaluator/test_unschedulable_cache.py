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
