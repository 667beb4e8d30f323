"""Users' plugins whose answers are kept: they decide as if they were asked about every node each time."""

from typing import Any

import numpy as np
import pytest
from scheduler_world import World, enabled

from seatrial.scheduler.extension import Plugin, Reads
from seatrial.scheduler.verdict import SKIP, SUCCESS, Verdicts, unschedulable

NODES, PODS = 8, 24
FULL = "node(s) had two pods"


def full(nodes: Any) -> Any:
    return np.array([len(node.pods) >= 2 for node in nodes])


def world_of(reads: Reads, members: dict[str, Any], **options: Any) -> World:
    world = World(enabled("Own"), [type("Own", (Plugin,), {"reads": reads, **members})], **options)
    for number in range(NODES):
        world.node(f"n{number}", cpu="64")
    for number in range(PODS):
        world.pod(f"p{number:02}")
    return world


def outcomes(world: World) -> list[tuple[str, str, str]]:
    return [(decision.outcome, decision.node, decision.message) for decision in world.run()]


def silent(self: Any, pod: Any, nodes: Any) -> Any:
    return ~full(nodes) if full(nodes).any() else None


def by_status(self: Any, pod: Any, nodes: Any) -> Verdicts:
    return Verdicts.of(unschedulable(f"{node.name} is full") if len(node.pods) >= 2 else SUCCESS for node in nodes)


def by_meaning(self: Any, pod: Any, nodes: Any) -> Verdicts:
    """The code is always 1; what it means is how many nodes were asked about."""
    status = unschedulable("it" if len(nodes) == 1 else "one of them")
    return Verdicts(full(nodes).astype(np.int32), lambda _: status)


def row_is_full(self: Any, pod: Any, table: Any, row: int, state: Any) -> int:
    return int(len(table.info(row).pods) >= 2)


@pytest.mark.parametrize(
    "members",
    [
        {"filter": silent, "reason": FULL},
        {"filter": silent, "filter_row": row_is_full, "reason": FULL},
        {"filter": by_status},
    ],
    ids=["None while nobody is rejected", "one row in a way of its own", "a status per node"],
)
def test_a_kept_filter_decides_as_one_that_is_always_asked(members: dict[str, Any]) -> None:
    kept = outcomes(world_of(Reads.ROW, members))
    assert kept == outcomes(world_of(Reads.CLUSTER, members))
    assert [outcome for outcome, _, _ in kept].count("scheduled") == 2 * NODES


def test_a_kept_verdict_keeps_what_it_meant_when_it_was_given() -> None:
    message = outcomes(world_of(Reads.ROW, {"filter": by_meaning}))[-1][2]
    assert message.startswith(f"0/{NODES} nodes are available: {NODES} it.")


def test_a_filter_that_reads_nodes_and_rejected_nobody_is_asked_about_a_changed_node() -> None:
    def filter(self: Any, pod: Any, nodes: Any) -> Any:
        closed = np.array(["closed" in node.labels for node in nodes])
        return ~closed if closed.any() else None

    world = World(enabled("Own"), [type("Own", (Plugin,), {"reads": Reads.NODE, "filter": filter})])
    for number in range(NODES):
        world.node(f"n{number}", cpu="1")
    world.pod("before")
    world.run()
    free = [f"n{number}" for number in range(NODES) if f"n{number}" != world.node_of("before")]
    for name in free[1:]:
        world.change("Node", name, lambda document: document["metadata"]["labels"].update(closed=""))
        world.pod(f"after-{name}", cpu="100m")
        assert {decision.node for decision in world.run()} <= {*free} - {name}


def test_a_filter_that_skips_itself_is_not_asked() -> None:
    asked: list[str] = []
    members = {
        "pre_filter": lambda self, pod, nodes: SKIP,
        "filter": lambda self, pod, nodes: asked.append(pod.name),
    }
    outcomes(world_of(Reads.ROW, members))
    assert not asked


def test_a_filter_that_fails_later_is_an_error_and_no_rejection(caplog: pytest.LogCaptureFixture) -> None:
    def filter(self: Any, pod: Any, nodes: Any) -> Any:
        if any(node.pods for node in nodes):
            raise RuntimeError("boom")
        return np.array([node.name != "n7" for node in nodes])

    first, second, *_ = outcomes(world_of(Reads.ROW, {"filter": filter}, tolerant=True))
    assert first[0] == "scheduled"
    assert second == ("error", "", 'running "Own" filter plugin: RuntimeError: boom')


def test_a_filter_that_failed_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    def filter(self: Any, pod: Any, nodes: Any) -> Any:
        if pod.name == "p01":
            raise RuntimeError("boom")
        return None

    found = [outcome for outcome, _, _ in outcomes(world_of(Reads.ROW, {"filter": filter}, tolerant=True))]
    assert found == ["scheduled", "error", *["scheduled"] * (PODS - 2)]
