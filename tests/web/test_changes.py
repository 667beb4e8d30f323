"""The changes of a cluster that the player of the page replays."""

from typing import Any

from seatrial.api import run
from seatrial.web.changes import ATTEMPT, BOUND, CREATED, ENDED, NODE_CAME, NODE_WENT
from seatrial.web.payload import payload
from tests.scenario.playing import create, delete, done, operations, scenario
from tests.scenario.running import node, pod, priority_class


def shown(*items: dict[str, Any]) -> dict[str, Any]:
    return payload(run(scenario(operations(*items, done(9)))).run)


def told(found: dict[str, Any]) -> list[tuple[int, int]]:
    return list(zip(found["changes"]["kind"].tolist(), found["changes"]["what"].tolist(), strict=True))


def test_a_pod_is_created_bound_by_its_attempt_and_ends() -> None:
    found = shown(create(1, node("n")), create(2, pod("a")), delete(3, pod("a")), delete(4, node("n")))
    assert told(found) == [(NODE_CAME, 0), (CREATED, 0), (BOUND, 0), (ATTEMPT, 0), (ENDED, 0), (NODE_WENT, 0)]
    assert found["changes"]["step"].tolist() == [0, 1, 1, 1, 2, 3]


def test_victims_end_before_the_pod_that_preempts_them_is_bound() -> None:
    urgent = pod("urgent", cpu="4", priorityClassName="high")
    found = shown(
        create(1, node("n")), create(1, priority_class("high", 100)), create(1, pod("a", cpu="4")), create(2, urgent)
    )
    changes = told(found)
    assert changes.index((ENDED, 0)) < changes.index((BOUND, 1))
    assert found["attempts"]["victims"] == [0, 1, 0]
    assert found["details"][1]["victims"] == ("default/a",)


def test_budgets_that_select_a_victim_are_named() -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "careful", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    victim = pod("a", cpu="4")
    victim["metadata"]["labels"] = {"app": "web"}
    found = shown(
        create(1, node("n")), create(1, priority_class("high", 100)), create(1, budget), create(1, victim),
        create(2, pod("urgent", cpu="4", priorityClassName="high")),
    )  # fmt: skip
    assert found["budgets"] == [(0, ["careful"])]


def test_taints_of_nodes_and_reasons_of_waiting_pods_are_told() -> None:
    tainted = node("n")
    tainted["spec"] = {"taints": [{"key": "team", "value": "gold", "effect": "NoSchedule"}]}
    found = shown(create(1, tainted), create(1, pod("a")))
    assert found["nodes"]["taints"] == [("team=gold:NoSchedule",)]
    assert found["pods"]["waiting"] == [(0, "node(s) had untolerated taint(s)")]


def test_failed_attempts_have_their_cells_first() -> None:
    found = payload(
        run(
            scenario(operations(create(1, node("n")), create(1, pod("a")), create(2, pod("b", cpu="64")), done(3)))
        ).run,
        most_cells=2,
    )
    outcomes = [found["lists"][each] for each in found["attempts"]["outcome"]]
    assert ["cells" in each for each in found["details"]][:2] == [True, True]
    assert outcomes[:2] == ["scheduled", "unschedulable"]
