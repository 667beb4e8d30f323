"""What a Scenario says about itself where nothing happens: why it waits, and which parts of it have no effect."""

from typing import Any

import pytest

from seatrial.model.documents import encode
from seatrial.model.errors import Invalid
from seatrial.scenario.spec.kind import RUN_DURATION, SCENARIO
from seatrial.scenario.spec.operation_ids import Planned
from seatrial.scenario.spec.timers import idle_cron_jobs
from seatrial.store.options import Patch
from tests.proofs import proves
from tests.scenario.playing import create, done, operations
from tests.scenario.running import Run, node, pod
from tests.scenario.serving import USER, Server

PAUSES = operations(create(1, node("n")))


def cron_job() -> dict[str, Any]:
    of_pod = {"spec": {"containers": pod("x")["spec"]["containers"], "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "default"},
        "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": of_pod}}},
    }


@proves("V1-040", "V1-107")
def test_a_pending_scenario_says_behind_which_one_it_waits() -> None:
    server = Server()
    server.create(PAUSES, "first")
    server.create(PAUSES, "second")
    server.create(PAUSES, "third")
    server.run()
    assert server.status("second")["phase"] == "Pending"
    waits = "waits for Scenario first, which is Paused"
    assert server.status("second")["message"] == f"{waits}; it ends with Done, or when it is deleted"
    assert server.status("third")["message"].startswith(f"{waits}, behind second")
    server.store.delete(SCENARIO, "first", writer=USER)
    server.run()
    assert server.status("third")["message"].startswith("waits for Scenario second, which is Paused;")


def test_pods_that_no_scheduler_takes_are_named() -> None:
    run = Run(operations(create(1, node("n")), create(1, pod("a", schedulerName="mine")), create(1, pod("b")), done(1)))
    expected = "no scheduler takes these pods, the schedulers are default-scheduler: 1 for mine (default/a)"
    assert expected in run.status["message"]
    assert "default/b" not in run.status["message"]


def test_pods_of_a_run_without_scheduler_are_counted() -> None:
    pods = [create(1, pod(f"p{number}")) for number in range(5)]
    run = Run(operations(create(1, node("n")), *pods, done(1), simulated=("replicaset",)))
    names = "default/p0, default/p1, default/p2 and 2 more"
    assert f"none is enabled: 5 for default-scheduler ({names})" in run.status["message"]


@proves("V2-051")
def test_a_cron_job_makes_no_jobs_and_the_status_says_why() -> None:
    server = Server()
    server.create(operations(create(1, cron_job()), done(1)))
    server.run()
    assert server.status()["phase"] == "Succeeded"
    assert server.store.list(server.store.kinds.named("batch/v1", "Job") or SCENARIO) == []
    message = server.status()["message"]
    assert "CronJobs (operation op-1) make no Jobs: enable cronjob" in message
    assert "step-duration" in message


@pytest.mark.parametrize(("duration", "is_noted"), [(0, True), (60, False)])
def test_a_cron_job_of_volcano_needs_time_and_no_other_controller(duration: int, is_noted: bool) -> None:
    data = encode({"createOperation": {"object": {**cron_job(), "apiVersion": "batch.volcano.sh/v1alpha1"}}})
    notes = list(idle_cron_jobs([Planned("op-1", 1, data)], ["volcano"], duration))
    assert [("enable cronjob" in note, "step-duration" in note) for note in notes] == [(False, True)] * is_noted


def test_a_run_duration_without_time_is_reported_by_a_served_scenario() -> None:
    timed = pod("a")
    timed["metadata"]["annotations"] = {RUN_DURATION: "90s"}
    server = Server()
    server.create(operations(create(1, node("n")), create(1, timed), done(1)))
    server.run()
    assert "the run time of pods (operation op-2) has no effect" in server.status()["message"]


def test_a_run_duration_with_time_is_not_reported() -> None:
    timed = pod("a")
    timed["metadata"]["annotations"] = {RUN_DURATION: "90s"}
    run = Run(operations(create(1, node("n")), create(1, timed), done(2)), {"step_duration": "60s"})
    assert "no effect" not in run.status["message"]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
@proves("V1-043")
def test_a_patch_of_a_finished_scenario_is_refused(phase: str) -> None:
    server = Server()
    ending = done(1) if phase == "Succeeded" else create(1, node("n"))
    server.create(operations(create(1, node("n")), ending))
    server.run()
    assert server.status()["phase"] == phase
    more = {"spec": {"operations": [*server.spec(), create(2, pod("late"))]}}
    with pytest.raises(Invalid, match=f"the scenario has {phase}, nothing can be added"):
        server.store.patch(SCENARIO, "play", Patch("merge", more), writer=USER)


def test_a_controller_that_is_enabled_and_disabled_does_not_run() -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "default"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": pod("x")["spec"]["containers"]}}},
    }
    both = {"enabled": [{"name": "job"}], "disabled": [{"name": "job"}]}
    run = Run(operations(create(1, job), done(1), presimulationControllers=both))
    assert run.all("Pod") == []
    assert "controller job does not run: spec.controllers.presimulationControllers enables and" in run.status["message"]


def test_a_simulated_controller_that_is_disabled_does_not_run() -> None:
    both = {"enabled": [{"name": "scheduler"}, {"name": "replicaset"}], "disabled": [{"name": "kube-scheduler"}]}
    spec = operations(create(1, node("n")), create(1, pod("a")), done(1))
    spec["controllers"]["simulationControllers"] = both
    run = Run(spec)
    assert "nodeName" not in (run.get("Pod", "a") or {})["spec"]
    assert "controller scheduler does not run" in run.status["message"]


@pytest.mark.parametrize(("seconds", "is_noted"), [(300, False), (60, True)])
def test_the_tolerations_that_admission_gives_to_every_pod_are_not_noted(seconds: int, is_noted: bool) -> None:
    """Every pod of a real cluster has them."""
    tolerations = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
        for key in ("not-ready", "unreachable")
    ]
    there = pod("there", tolerations=tolerations, nodeName="n")
    message = Run(operations(done(1)), snapshot=[node("n"), there]).status["message"]
    assert ("tolerationSeconds (the snapshot) has no effect" in message) is is_noted
    message = Run(operations(create(1, node("n")), create(1, there), done(1))).status["message"]
    assert ("tolerationSeconds (operation op-2) has no effect" in message) is is_noted
