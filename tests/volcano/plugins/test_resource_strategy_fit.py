"""resource-strategy-fit: which node is preferred, resource by resource; scores are worked out by hand."""

from typing import Any

import numpy as np
import pytest

from seatrial.model.documents import Document
from seatrial.volcano.cache.cluster_info import read_tasks, take_snapshot
from seatrial.volcano.config.scheduler_conf import load_conf
from seatrial.volcano.cycle import open_session
from seatrial.volcano.framework.extension_points import Point
from tests.volcano.sessions import READER, binds, cycle, group, node, pod, queue

GPU = "nvidia.com/gpu"
TYPE, WEIGHT = "volcano.sh/resource-strategy-scoring-type", "volcano.sh/resource-strategy-weight"


def conf(arguments: str = "{}") -> str:
    return f"""
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: resource-strategy-fit
    arguments: {arguments}
"""


def scores(nodes: list[Document], arguments: str, asking: Document, *others: Document) -> list[float]:
    """The plugin's scores of the nodes for a pod in a session that has just begun."""
    tasks = read_tasks([asking, *others], READER)
    cluster = take_snapshot(nodes, tasks, [group("a")], [queue()])
    session = open_session("scores", cluster, load_conf(conf(arguments)))
    score = dict(session.fns(Point.NODE_ORDER))["resource-strategy-fit"]
    names = [info.name for info in session.node_list]
    rows = np.array([names.index(each["metadata"]["name"]) for each in nodes])
    return [float(value) for value in score(tasks[0], rows)]


def wanting(amount: str, resource: str = GPU, **options: Any) -> Document:
    made = pod("a-0", "a", **options)
    made["spec"]["containers"][0]["resources"]["requests"][resource] = amount
    return made


def test_by_default_the_emptier_node_scores_higher() -> None:
    # cpu (8-2)/8 and memory (32-2)/32 on the busy node, both of weight 1, times 100 and the default weight 10.
    nodes = [node("busy", cpu="8", memory="32Gi"), node("idle", cpu="8", memory="32Gi")]
    found = scores(nodes, "{}", pod("a-0", "a"), pod("b-0", on="busy"))
    assert found == pytest.approx([1000 * (6 / 8 + 30 / 32) / 2, 1000 * (7 / 8 + 31 / 32) / 2])


def test_most_allocated_prefers_the_fuller_node_by_the_weights_of_resources() -> None:
    arguments = (
        "{resourceStrategyFitWeight: 2, resources: {cpu: {type: MostAllocated, weight: 3}, memory: {weight: 1}}}"
    )
    nodes = [node("busy", cpu="8", memory="32Gi"), node("idle", cpu="8", memory="32Gi")]
    found = scores(nodes, arguments, pod("a-0", "a"), pod("b-0", on="busy"))
    assert found == pytest.approx([200 * (3 * 2 / 8 + 30 / 32) / 4, 200 * (3 * 1 / 8 + 31 / 32) / 4])


def test_a_node_without_room_for_a_resource_scores_nothing() -> None:
    arguments = "{resources: {cpu: {type: MostAllocated, weight: 1}}}"
    nodes = [node("small", cpu="1"), node("large", cpu="4")]
    assert scores(nodes, arguments, pod("a-0", "a", cpu="2")) == pytest.approx([0.0, 1000 * 2 / 4])


def test_a_pattern_names_resources_by_their_beginning_and_the_longest_wins() -> None:
    both = "nvidia.com/*: {type: MostAllocated, weight: 1}, nvidia.com/gp*: {type: LeastAllocated, weight: 1}"
    arguments = f"{{resources: {{{both}}}}}"
    assert scores([node("n", **{GPU: "4"})], arguments, wanting("1")) == pytest.approx([1000 * 3 / 4])


@pytest.mark.parametrize("pattern", ["*", "n*vidia.com/*", "*/gpu"])
def test_a_pattern_that_does_not_end_in_its_only_star_is_left_out(pattern: str) -> None:
    arguments = f"{{resources: {{'{pattern}': {{type: MostAllocated, weight: 1}}}}}}"
    assert scores([node("n", **{GPU: "4"})], arguments, wanting("1")) == [0.0]


def test_a_pod_may_bring_its_own_strategy() -> None:
    own = {TYPE: "MostAllocated", WEIGHT: '{"cpu": 1}'}
    nodes = [node("busy", cpu="8"), node("idle", cpu="8")]
    found = scores(nodes, "{}", pod("a-0", "a", annotations=own), pod("b-0", on="busy"))
    assert found == pytest.approx([1000 * 2 / 8, 1000 * 1 / 8])


def test_a_pod_whose_own_weights_cannot_be_read_is_not_scored() -> None:
    own = {TYPE: "MostAllocated", WEIGHT: "{"}
    assert scores([node("n")], "{}", pod("a-0", "a", annotations=own)) == [0.0]


def test_scarce_resources_are_kept_free_for_those_who_need_them() -> None:
    arguments = f"{{resourceStrategyFitWeight: 0, sra: {{enable: true, weight: 5, resources: {GPU}}}}}"
    nodes = [node("plain"), node("gpus", **{GPU: "4"})]
    assert scores(nodes, arguments, pod("a-0", "a")) == [500.0, 0.0]
    assert scores(nodes, arguments, wanting("1")) == [0.0, 0.0]


def test_scarce_resources_count_by_their_weights() -> None:
    both = f"resources: '{GPU}, example.com/fpga', resourceWeight: {{{GPU}: 1, example.com/fpga: 3}}"
    arguments = f"{{resourceStrategyFitWeight: 0, sra: {{enable: true, weight: 1, {both}}}}}"
    nodes = [node("gpus", **{GPU: "4"}), node("fpgas", **{"example.com/fpga": "1"}), node("plain")]
    assert scores(nodes, arguments, pod("a-0", "a")) == pytest.approx([75.0, 25.0, 100.0])


@pytest.mark.parametrize(("cpu", "placed"), [("4", {"a-0": "n"}), ("5", {})])
def test_cpu_in_proportion_to_idle_cards_stays_free(cpu: str, placed: dict[str, str]) -> None:
    """Two idle cards hold two cpus each: 8 - 4 are left, 8 - 5 are not enough."""
    rates = f"resourceProportion: {{{GPU}.cpu: 2, {GPU}.memory: 1}}"
    arguments = f"{{proportional: {{enable: true, resources: {GPU}, {rates}}}}}"
    session, result = cycle(
        [node("n", cpu="8", **{GPU: "2"})], [pod("a-0", "a", cpu=cpu)], [group("a")], conf=conf(arguments)
    )
    assert binds(result) == placed
    if not placed:
        message = session.jobs["default/a"].nodes_fit_errors["uid-a-0"].message()
        assert f"proportional of resource {GPU} check failed" in message


def test_a_pod_that_uses_cards_may_take_the_cpu_that_is_kept_for_them() -> None:
    rates = f"resourceProportion: {{{GPU}.cpu: 4, {GPU}.memory: 1}}"
    arguments = f"{{proportional: {{enable: true, resources: {GPU}, {rates}}}}}"
    nodes = [node("n", cpu="8", **{GPU: "2"})]
    _, result = cycle(nodes, [wanting("1", cpu="6")], [group("a")], conf=conf(arguments))
    assert binds(result) == {"a-0": "n"}
