"""How many more of a pod fit, and the reason of the first one that does not."""

import itertools
from random import Random
from typing import Any

import pytest

from seatrial.capacity.pods import PodAnswer, count_pods
from seatrial.capacity.refusals import Refusal
from seatrial.capacity.trial import Setting, Trial
from tests.capacity.objects import node, pod, scenario, setting, spread


def count(setting: Setting, of: dict[str, object], limit: int = 1000) -> PodAnswer:
    return count_pods(setting, of, limit)


def test_nodes_are_filled_to_the_last_pod_that_fits() -> None:
    answer = count(setting(node("a"), node("b", cpu="2500m")), pod())
    assert (answer.fit, answer.by_node) == (6, {"a": 4, "b": 2})
    assert answer.refusals == (Refusal("NodeResourcesFit", "Insufficient cpu", 2),)
    assert answer.sentence == (
        "6 more of web fit; the next one has no node: NodeResourcesFit says Insufficient cpu on both nodes."
    )


def test_each_resource_that_runs_out_is_named() -> None:
    answer = count(setting(node("a", memory="2Gi"), node("b", pods="1"), node("c"), node("d")), pod())
    assert answer.fit == 2 + 1 + 4 + 4
    assert answer.refusals == (
        Refusal("NodeResourcesFit", "Insufficient cpu", 2),
        Refusal("NodeResourcesFit", "Insufficient memory", 1),
        Refusal("NodeResourcesFit", "Too many pods", 1),
    )


def test_pods_on_nodes_take_their_room() -> None:
    assert count(setting(node("a"), pod("old", cpu="3", nodeName="a")), pod()).fit == 1


def test_pending_pods_of_the_cluster_are_placed_first() -> None:
    answer = count(setting(node("a"), pod("waits", cpu="3"), pod("never", cpu="9")), pod())
    assert (answer.fit, answer.pending_before) == (1, 1)


def test_a_plugin_that_is_no_resource_is_named() -> None:
    tainted = node("b", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    answer = count(setting(node("a"), tainted), pod())
    assert answer.fit == 4
    assert [refusal.plugin for refusal in answer.refusals] == ["NodeResourcesFit", "TaintToleration"]


def test_a_spread_constraint_limits_before_resources_do() -> None:
    answer = count(setting(node("a"), node("b", cpu="1")), pod(**spread()))
    assert answer.fit == 3
    assert answer.refusals[0].plugin == "PodTopologySpread"


def test_nothing_is_preempted_for_the_copies() -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    answer = count(setting(high, node("a"), pod("low", cpu="3", nodeName="a")), pod(priorityClassName="high"))
    assert answer.fit == 1


def test_a_priority_class_that_does_not_exist_is_a_reason() -> None:
    answer = count(setting(node("a")), pod(priorityClassName="missing"))
    assert answer.fit == 0
    assert answer.refusals[0].plugin == "admission"
    assert "no PriorityClass with name missing was found" in answer.sentence


def test_a_quota_limits_too() -> None:
    metadata = {"name": "two", "namespace": "default"}
    hard = {"spec": {"hard": {"pods": "2"}}, "status": {"hard": {"pods": "2"}, "used": {"pods": "0"}}}
    answer = count(
        setting(node("a"), {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, **hard}), pod()
    )
    assert answer.fit == 2
    assert "exceeded quota: two" in answer.sentence


def test_the_cluster_of_a_scenario_is_that_at_its_end() -> None:
    played = scenario(node("a"), pod("first", cpu="1"))
    assert count(setting(scenario=played), pod()).fit == 3


def test_the_limit_ends_the_count() -> None:
    answer = count(setting(node("a", cpu="100", memory="500Gi")), pod(), limit=20)
    assert (answer.fit, answer.is_limited) == (20, False)
    assert answer.sentence == "At least 20 more of web fit; no more were tried."


def test_no_more_than_nothing_fits_into_an_empty_cluster() -> None:
    assert count(setting(), pod()).sentence == "No more of web fit: the cluster has no nodes."


def test_a_pod_of_no_scheduler_is_said_to_be_one() -> None:
    assert (
        "no scheduler takes pods with schedulerName other"
        in count(setting(node("a")), pod(schedulerName="other")).sentence
    )


@pytest.mark.parametrize("seed", range(50))
def test_the_answer_is_the_largest_of_all_counts_in_random_clusters(seed: int) -> None:
    dice = Random(seed)
    here = [_random_node(dice, f"here-{number}") for number in range(dice.randint(1, 3))]
    for number in range(dice.randint(0, 3)):
        old = pod(f"old-{number}", cpu=dice.choice(["500m", "1", "2"]))
        if dice.random() < 0.7:
            old["spec"]["nodeName"] = dice.choice(here)["metadata"]["name"]
        here.append(old)
    more = dice.choice([{}, {}, spread(), apart(), {"tolerations": [{"operator": "Exists"}]}])
    of = pod(cpu=dice.choice(["250m", "500m", "1"]), **more)
    assert count(setting(*here), of).fit == largest(setting(*here), of)


def _random_node(dice: Random, name: str) -> dict[str, Any]:
    taints = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]} if dice.random() < 0.2 else {}
    return node(name, cpu=str(dice.randint(1, 3)), memory=f"{dice.randint(1, 16)}Gi", pods=dice.choice(["5", "110"]),
                **taints)  # fmt: skip


def apart() -> dict[str, Any]:
    """At most one of the pods on a node."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def largest(asked: Setting, of: dict[str, Any]) -> int:
    """Try every count, one after the other: so many copies are created beside the pods of the cluster."""
    for number in itertools.count(1):
        trial = Trial(asked)
        for each in range(number):
            trial.create({**of, "metadata": {**of["metadata"], "name": f"try-{each}"}})
        trial.settle()
        if any(waiting["metadata"]["name"].startswith("try-") for waiting in trial.pending()):
            return number - 1
    raise AssertionError
