"""NodeResourcesFit for pods with any number of resources: of few the bits of a verdict are its code, of more a number.

What is expected is written down here; that the evaluators agree would not show that they are right.
"""

from typing import Any

import pytest

from seatrial.scheduler.evaluator.kernel import KernelEvaluator
from seatrial.scheduler.evaluator.shortcuts import ALL, NONE, Shortcuts, only
from seatrial.scheduler.framework.status import Code
from seatrial.scheduler.plugins.node_resources.fit import MOST_AS_BITS
from tests.scheduler.evaluator.kernels import needs_kernel
from tests.scheduler.scheduler_world import World

WAYS = [
    pytest.param(NONE, "off", id="plain"),
    pytest.param(only("columns"), "off", id="columns"),
    pytest.param(ALL, "off", id="shortcuts"),
    pytest.param(ALL, "on", id="kernel", marks=needs_kernel),
]
ROOM = 3
"""How many pods the one good node has room for."""


def names(count: int) -> list[str]:
    return [f"x.io/r{number:02}" for number in range(count)]


def add_node(world: World, name: str, amounts: dict[str, str], pods: str = "110") -> None:
    offered = {"cpu": "4", "memory": "8Gi", "pods": pods, **amounts}
    status = {"capacity": offered, "allocatable": offered}
    document = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {}, "status": status}
    world.store.create(world.kind("Node"), document, writer="user:test")


def cluster(count: int, shortcuts: Shortcuts) -> World:
    """A good node, and others without the last resource, the first and last, every second one, or room for pods."""
    world = World(shortcuts=shortcuts)
    whole = dict.fromkeys(names(count), str(ROOM))
    first, last = names(count)[0], names(count)[-1]
    add_node(world, "good", whole)
    add_node(world, "no-last", {name: amount for name, amount in whole.items() if name != last})
    add_node(world, "no-ends", {name: amount for name, amount in whole.items() if name not in (first, last)})
    add_node(world, "no-odd", dict.fromkeys(names(count)[::2], str(ROOM)))
    add_node(world, "no-pods", whole, pods="0")
    return world


def add_pod(world: World, name: str, count: int, amount: int = 1, **spec: Any) -> None:
    asked = dict.fromkeys(names(count), str(amount))
    container = {"name": "c", "image": "i", "resources": {"requests": asked, "limits": asked}}
    world.pod(name, labels={"app": name}, containers=[container], **spec)


def short_of(*resources: str) -> tuple[str, ...]:
    return tuple(f"Insufficient {name}" for name in resources)


@pytest.fixture(params=[3, MOST_AS_BITS - 1, MOST_AS_BITS, MOST_AS_BITS + 1, 31, 32, 33, 40, 70])
def count(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.parametrize(("shortcuts", "kernel"), WAYS)
def test_a_pod_goes_where_every_resource_is_and_the_others_are_named_in_order(
    count: int, shortcuts: Shortcuts, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEATRIAL_KERNEL", kernel)
    world = cluster(count, shortcuts)
    assert isinstance(world.scheduler.algorithm.evaluator, KernelEvaluator) == (kernel == "on")
    for number in range(ROOM):
        add_pod(world, f"fits-{number}", count)
    assert [decision.node for decision in world.run()] == ["good"] * ROOM
    for number in range(2):
        add_pod(world, f"late-{number}", count)
    first, *_, last = everything = names(count)
    for decision in world.run():
        assert (decision.outcome, decision.node) == ("unschedulable", "")
        assert {name: (status.code, status.reasons) for name, status in decision.rejected()} == {
            "good": (Code.UNSCHEDULABLE, short_of(*everything)),
            "no-last": (Code.UNRESOLVABLE, short_of(last)),
            "no-ends": (Code.UNRESOLVABLE, short_of(first, last)),
            "no-odd": (Code.UNRESOLVABLE, short_of(*everything[1::2])),
            "no-pods": (Code.UNSCHEDULABLE, ("Too many pods",)),
        }
    world.delete("Pod", "fits-1")
    assert sorted(decision.node for decision in world.run_out()) == ["", "good"]
    add_pod(world, "important", count, priority=5)
    (decision,) = world.run()
    assert decision.preemption is not None
    assert (decision.preemption.node, len(decision.preemption.victims)) == ("good", 1)


@pytest.mark.parametrize(("shortcuts", "kernel"), WAYS)
def test_the_event_counts_the_nodes_that_are_short_of_each_resource(
    count: int, shortcuts: Shortcuts, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEATRIAL_KERNEL", kernel)
    world = cluster(count, shortcuts)
    add_pod(world, "greedy", count, amount=ROOM + 1)
    (decision,) = world.run()
    short = ", ".join(f"5 Insufficient {name}" for name in names(count))
    assert decision.message == (
        f"0/5 nodes are available: 1 Too many pods, {short}. "
        "preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."
    )
