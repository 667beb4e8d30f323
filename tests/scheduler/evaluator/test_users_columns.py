"""Users' plugins whose answers are kept: they decide as if they were asked about every node each time."""

from typing import Any

import numpy as np
import pytest

from seatrial.plugins import SKIP, SUCCESS, Plugin, Reads, Verdicts, error, unschedulable
from tests.scheduler.scheduler_world import World, enabled, profiles

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
    world.pod("first")
    world.run()
    closed = "n0" if world.node_of("first") != "n0" else "n1"
    world.change("Node", closed, lambda document: document["metadata"]["labels"].update(closed=""))
    for number in range(NODES - 1):
        world.pod(f"p{number}")
    decisions = world.run()
    assert closed not in {decision.node for decision in decisions}
    assert [decision.outcome for decision in decisions].count("scheduled") == NODES - 2


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

    first, second, *_ = outcomes(world_of(Reads.ROW, {"filter": filter}))
    assert first[0] == "scheduled"
    assert second[:2] == ("error", "")
    assert second[2].startswith('running "Own" filter plugin: RuntimeError: boom (test_users_columns.py, line ')


def test_a_filter_that_failed_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    def filter(self: Any, pod: Any, nodes: Any) -> Any:
        if pod.name == "p01":
            raise RuntimeError("boom")
        return None

    found = [outcome for outcome, _, _ in outcomes(world_of(Reads.ROW, {"filter": filter}))]
    assert found == ["scheduled", "error", *["scheduled"] * (PODS - 2)]


def score_or_error(self: Any, pod: Any, nodes: Any) -> Any:
    return error("boom") if any(node.pods for node in nodes) else np.zeros(len(nodes), np.int64)


def score_or_raise(self: Any, pod: Any, nodes: Any) -> Any:
    if any(node.pods for node in nodes):
        raise KeyError("boom")
    return np.zeros(len(nodes), np.int64)


@pytest.mark.parametrize("by_state", [True, False])
def test_a_kept_score_that_fails_later_is_an_error_of_the_pod(by_state: bool) -> None:
    members = {"score": score_or_error, "by_state": by_state}
    kept = outcomes(world_of(Reads.ROW, members))
    assert kept == outcomes(world_of(Reads.CLUSTER, members))
    assert kept[0][0] == "scheduled"
    assert kept[1] == ("error", "", 'running Score plugins: plugin "Own" failed with: boom')


def test_a_kept_score_that_raises_later_is_an_error_of_the_pod(caplog: pytest.LogCaptureFixture) -> None:
    outcome, node, message = outcomes(world_of(Reads.ROW, {"score": score_or_raise}))[1]
    assert (outcome, node) == ("error", "")
    assert message.startswith(
        "running Score plugins: plugin \"Own\" failed with: KeyError: 'boom' (test_users_columns.py"
    )


@pytest.mark.parametrize("method", ["pre_score", "score"])
def test_a_kept_score_that_failed_is_asked_again(method: str, caplog: pytest.LogCaptureFixture) -> None:
    def call(self: Any, pod: Any, nodes: Any) -> Any:
        if pod.name == "p00":
            raise RuntimeError("boom")
        return np.zeros(len(nodes), np.int64)

    members = {"score": lambda self, pod, nodes: None, method: call}
    found = [outcome for outcome, _, _ in outcomes(world_of(Reads.ROW, members))]
    assert found == ["error", *["scheduled"] * (PODS - 1)]


def test_many_changed_rows_may_fail_too() -> None:
    world = world_of(Reads.ROW, {"score": score_or_error})
    for number in range(NODES, 64):
        world.node(f"n{number}", cpu="64")
    world.scheduler.schedule_one()
    for number in range(10):
        world.pod(f"bound-{number}", nodeName=f"n{number}")
    assert outcomes(world)[0][0] == "error"


@pytest.mark.parametrize("reads", [Reads.ROW, Reads.CLUSTER])
def test_scores_that_are_all_alike_are_normalised_over_the_nodes_that_are_left(reads: Reads) -> None:
    asked: list[tuple[int, int]] = []

    def normalize(self: Any, pod: Any, nodes: Any, scores: Any) -> Any:
        asked.append((len(nodes), len(scores)))
        return [100 if node.name == "n5" else 0 for node in nodes]

    def score(self: Any, pod: Any, nodes: Any) -> Any:
        return np.zeros(len(nodes), np.int64)

    world = World(
        profiles({"plugins": {"multiPoint": {"enabled": [{"name": "Own", "weight": 1000}]}}}),
        [type("Own", (Plugin,), {"reads": reads, "score": score, "normalize": normalize})],
    )
    for number in range(NODES):
        world.node(f"n{number}")
    world.pod("a")
    world.run()
    assert world.node_of("a") == "n5"
    assert asked == [(NODES, NODES)]


def test_an_array_that_a_plugin_keeps_stays_as_it_is() -> None:
    kept = np.zeros(1000, np.int64)
    members = {"score": lambda self, pod, nodes: kept[: len(nodes)] if nodes.is_whole else [7] * len(nodes)}
    world_of(Reads.ROW, members).run()
    assert not kept.any()
