"""Statements of KEP-140 that are about documents, set-up and waiters."""

import copy
from pathlib import Path
from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.controllers.registry import build_controllers
from seatrial.scenario.cluster import fresh_store
from seatrial.scenario.spec.kind import SCENARIO
from seatrial.store.options import Patch
from tests.known_kinds import known_kind
from tests.proofs import proves
from tests.scenario.playing import create, done, operations
from tests.scenario.running import Run, node, pod
from tests.scenario.serving import USER, Server
from tests.scenario.test_scenario_controller import SPEC

DOCS = Path(__file__).parents[2] / "docs"


@proves("V1-049")
def test_timelines_are_merged_by_id() -> None:
    server = Server()
    server.create(SPEC)
    server.run()
    before = server.status()["scenarioResult"]["timeline"]["1"]
    first = before[0]["id"]
    changed = [{"id": first, "step": {"major": 1, "minor": 7}}, {"id": "new", "step": {"major": 1, "minor": 9}}]
    body = {"status": {"scenarioResult": {"timeline": {"1": changed}}}}
    server.store.patch(SCENARIO, "play", Patch("strategic", body), writer=USER, subresource="status")
    after = {entry["id"]: entry for entry in server.status()["scenarioResult"]["timeline"]["1"]}
    assert set(after) == {entry["id"] for entry in before} | {"new"}
    assert after[before[0]["id"]]["step"]["minor"] == 7
    assert after[before[0]["id"]]["create"] == before[0]["create"]


@proves("V1-077", "V1-112")
def test_the_documentation_says_which_schedulers_are_supported() -> None:
    text = " ".join((DOCS / "scenarios.md").read_text().split())
    assert "A scheduler must decide from the objects of the cluster alone" in text
    assert "results may vary from run to run" in text
    assert "not supported" in text


@proves("V1-081")
def test_the_embedded_scheduler_needs_no_set_up() -> None:
    assert Run(operations(create(1, node("n")), create(1, pod("p")), done(1))).result.pods["node"].to_list() == ["n"]


@proves("V1-068")
def test_every_attempt_of_a_pod_has_an_entry() -> None:
    """Tried twice in the first step and, with a node at last, once in the second: three entries."""
    run = Run(
        operations(create(1, node("small", cpu="1")), create(1, pod("p", cpu="2")), create(2, node("n")), done(2))
    )
    (waiting,), (bound,) = run.entries("podUnscheduled"), run.entries("podScheduled")
    tried = bound["podScheduled"]["scheduleResult"]
    assert [attempt["step"]["major"] for attempt in tried] == [1, 1, 2]
    assert tried[:2] == [{"step": whole["step"]} for whole in waiting["podUnscheduled"]["scheduleResult"]]
    assert tried[-1]["allFilteredNodes"] == ["n"]


@proves("V1-068")
def test_a_patch_of_a_schedule_result_replaces_the_list() -> None:
    server = Server()
    server.create(operations(create(1, node("n")), create(1, pod("huge", cpu="64")), done(1)))
    server.run()
    (entry,) = [entry for entry in server.timeline()["1"] if "podUnscheduled" in entry]
    assert len(entry["podUnscheduled"]["scheduleResult"]) == 2
    last = {"scheduleResult": [{"step": {"major": 1, "minor": 9}}]}
    body = {"status": {"scenarioResult": {"timeline": {"1": [{"id": entry["id"], "podUnscheduled": last}]}}}}
    server.store.patch(SCENARIO, "play", Patch("strategic", body), writer=USER, subresource="status")
    (after,) = [entry for entry in server.timeline()["1"] if "podUnscheduled" in entry]
    assert after["podUnscheduled"] == {**entry["podUnscheduled"], **last}


QUOTA: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "default"},
    "spec": {"hard": {"pods": "1"}},
}
REPLICAS: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": {"name": "w", "namespace": "default"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "w"}},
        "template": {"metadata": {"labels": {"app": "w"}}, "spec": pod("x")["spec"]},
    },
}


@proves("V2-054")
def test_a_replica_set_that_cannot_make_pods_does_not_hold_the_step() -> None:
    """ReplicaFailure says that nothing more can be done; no time is spent on trying again."""
    run = Run(operations(create(1, node("n")), create(1, QUOTA), create(2, REPLICAS), create(3, node("m")), done(3)))
    assert run.status["phase"] == "Succeeded"
    assert [p["spec"]["nodeName"] for p in run.all("Pod")] == ["n"]
    assert run.get("Node", "m") is not None
    status = (run.get("ReplicaSet", "w", "apps/v1") or {})["status"]
    assert {c["type"]: c["status"] for c in status["conditions"]}["ReplicaFailure"] == "True"
    assert run.simulation.scenario_run.clock.now() == run.simulation.scenario_run.started_at


@proves("V2-054")
@pytest.mark.parametrize("refused", [False, True], ids=["complete", "refused"])
def test_the_waiter_of_replica_sets_is_satisfied_when_they_are_complete_or_refused(refused: bool) -> None:
    store = fresh_store(clock := Clock())
    controllers = build_controllers(store, clock, ["replicaset", "resourcequota"])
    for controller in controllers:
        controller.start()
    for document in (QUOTA, REPLICAS) if refused else (REPLICAS,):
        kind = known_kind(store.kinds, document["apiVersion"], document["kind"])
        store.create(kind, copy.deepcopy(document), writer=USER, namespace="default")
    waiter = next(controller for controller in controllers if controller.name == "replicaset")
    assert not waiter.wait_condition()
    for _ in range(100):
        if all(controller.wait_condition() for controller in controllers):
            break
        for controller in controllers:
            controller.work()
    assert waiter.wait_condition()
    status = store.get(known_kind(store.kinds, "apps/v1", "ReplicaSet"), "w", "default").document()["status"]
    failure = {c["type"]: c["status"] for c in status.get("conditions", [])}.get("ReplicaFailure")
    assert (status["fullyLabeledReplicas"], failure) == ((1, "True") if refused else (3, None))
