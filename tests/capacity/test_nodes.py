"""How many nodes of a kind a scenario needs, and what is wrong with one less."""

from dataclasses import replace
from random import Random

import pytest

from seatrial.capacity.nodes import NodeAnswer, NodeTemplate, count_nodes
from seatrial.capacity.trial import Setting, Trial
from seatrial.model.errors import ConfigError
from tests.capacity.objects import node, pod, scenario, setting, spread

PODS = [pod(f"web-{number}") for number in range(10)]


def count(*objects: dict[str, object], of: dict[str, object] | None = None, add: bool = False) -> NodeAnswer:
    return count_nodes(setting(scenario=scenario(*objects)), of or node(), 64, add=add)


def test_the_smallest_number_that_is_enough() -> None:
    answer = count(*PODS)
    assert answer.nodes == 3
    assert answer.tried == ((0, 10), (1, 6), (2, 2), (4, 0), (3, 0))
    assert answer.sentence == (
        "small needs 3 of node; with 2, default/web-8 (and 1 more) has no node: "
        "NodeResourcesFit says Insufficient cpu on both nodes."
    )


def test_the_scenarios_own_nodes_are_left_out() -> None:
    assert count(node("own", cpu="100"), *PODS).nodes == 3


def test_own_nodes_are_kept_with_add() -> None:
    assert count(node("own"), *PODS, add=True).nodes == 2
    assert count(node("own", cpu="64", memory="64Gi"), *PODS, add=True).sentence == (
        "small needs 0 of node: every pod gets a node without them."
    )


def test_nodes_of_a_snapshot_stay() -> None:
    asked = setting(node("kept"), scenario=scenario(*PODS))
    assert count_nodes(asked, node(), 64).nodes == 2


def test_a_pod_that_no_such_node_can_take_ends_the_search() -> None:
    answer = count(pod("large", cpu="5"), *PODS)
    assert (answer.nodes, len(answer.tried)) == (None, 2)
    assert answer.sentence == (
        "No number of node is enough for small: default/large fits none, "
        "NodeResourcesFit says Insufficient cpu on the only node."
    )


def test_anti_affinity_asks_for_a_node_each() -> None:
    alone = {"labelSelector": {"matchLabels": {"group": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    pods = [
        pod(f"web-{number}", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [alone]}})
        for number in range(5)
    ]
    for each in pods:
        each["metadata"]["labels"] = {"group": "x"}
    answer = count(*pods)
    assert answer.nodes == 5
    assert answer.shortage is not None
    assert answer.shortage.refusals[0].plugin == "InterPodAffinity"


def test_a_number_in_the_node_puts_them_into_zones() -> None:
    kind = node("node-${index}", cpu="1")
    kind["metadata"]["labels"]["topology.kubernetes.io/zone"] = "zone-${index % 3}"
    pods = [pod(f"web-{number}", **spread("topology.kubernetes.io/zone")) for number in range(3)]
    for each in pods:
        each["metadata"]["labels"] = {"app": "web"}
    assert count(*pods, of=kind).nodes == 3


def test_a_preempted_pod_means_too_few_nodes() -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    played = scenario(
        high, pod("low", cpu="3"), createOperation={"object": pod("top", cpu="3", priorityClassName="high")}
    )
    answer = count_nodes(setting(scenario=played), node(), 64)
    assert answer.nodes == 2
    assert "default/low is preempted by default/top" in answer.sentence


def test_a_pod_that_was_deleted_while_it_waited_counts() -> None:
    gone = {"typeMeta": {"apiVersion": "v1", "kind": "Pod"}, "objectMeta": {"name": "web-1", "namespace": "default"}}
    played = scenario(pod("web-0", cpu="3"), pod("web-1", cpu="3"), deleteOperation=gone)
    assert count_nodes(setting(scenario=played), node(), 64).nodes == 2


def test_the_limit_ends_the_search() -> None:
    answer = count_nodes(setting(scenario=scenario(*PODS)), node(), 2)
    assert answer.nodes is None
    assert answer.sentence.startswith("2 of node are not enough for small: default/web-8")


def test_a_change_of_a_node_that_is_left_out_is_refused() -> None:
    gone = {"typeMeta": {"apiVersion": "v1", "kind": "Node"}, "objectMeta": {"name": "own"}}
    with pytest.raises(ConfigError, match="changes a Node of the scenario, which is left out; --add keeps its nodes"):
        count_nodes(setting(scenario=scenario(node("own"), deleteOperation=gone)), node(), 64)


def test_a_node_without_room_for_pods_is_refused() -> None:
    kind = node()
    del kind["status"]
    with pytest.raises(ConfigError, match=r"status\.allocatable"):
        count(*PODS, of=kind)


def test_pods_that_are_bound_to_a_node_that_is_left_out_need_another_one() -> None:
    """It said "needs 0": the pods sat on a node that was not there."""
    bound = [pod(f"web-{number}", nodeName="own") for number in range(6)]
    answer = count(node("own", cpu="100"), *bound)
    assert answer.nodes == 2
    assert answer.tried[0] == (0, 6)


def test_a_snapshot_alone_asks_what_its_pending_pods_need() -> None:
    bound = pod("there", cpu="3", nodeName="kept")
    answer = count_nodes(setting(node("kept"), bound, *PODS), node(), 64)
    # By hand: one of ten pods fits beside the bound one, and four fit on each new node.
    assert answer.nodes == 3
    assert answer.sentence.startswith("the snapshot needs 3 of node; with 2, ")


@pytest.mark.parametrize("seed", range(50))
def test_the_answer_is_the_smallest_of_all_counts_in_random_clusters(seed: int) -> None:
    dice = Random(seed)
    here = [node(f"here-{number}", cpu=str(dice.randint(1, 4))) for number in range(dice.randint(0, 2))]
    pods = [pod(f"web-{number}", cpu=dice.choice(["500m", "1", "2", "3"])) for number in range(dice.randint(1, 9))]
    for each in pods:
        if dice.random() < 0.3:
            each["spec"] |= spread()
            each["metadata"]["labels"] = {"app": "web"}
    asked = setting(*here, scenario=scenario(*pods))
    of = node(cpu=str(dice.randint(3, 5)))
    assert count_nodes(asked, of, 64).nodes == smallest(asked, of, len(pods))


def smallest(asked: Setting, of: dict[str, object], most: int) -> int | None:
    """Try every count, one after the other."""
    for number in range(most + 1):
        nodes = list(NodeTemplate(of).copies(number))
        options = replace(asked.options, snapshot=[*asked.options.snapshot, *nodes])
        trial = Trial(replace(asked, options=options))
        if not list(trial.pending()) and not trial.refusals.preempted:
            return number
    return None
