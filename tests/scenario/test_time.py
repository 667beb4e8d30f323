"""Virtual time within steps: when timers fire, and when they do not."""

from typing import Any

import pytest

from seatrial.model.errors import ScenarioError
from seatrial.scenario.engine.controller_registry import Registry
from seatrial.scenario.engine.loop_limits import LoopCount
from seatrial.scenario.engine.user_controllers import Cluster, UserController
from tests.proofs import proves
from tests.scenario.playing import create, delete, done, events, operations
from tests.scenario.running import Run, node, pod

RUN_DURATION = "simulation.kube-scheduler-simulator.x-k8s.io/run-duration"


def job(name: str, duration: str, cpu: str = "1", completions: int = 1) -> dict[str, Any]:
    template = {
        "metadata": {"annotations": {RUN_DURATION: duration}},
        "spec": pod("x", cpu=cpu)["spec"] | {"restartPolicy": "Never"},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": template, "completions": completions, "parallelism": 1},
    }


def finished(run: Run, name: str) -> int:
    return int(((run.get("Job", name, "batch/v1") or {}).get("status") or {}).get("succeeded", 0))


@proves("V2-029")
def test_time_stands_still_without_a_step_duration() -> None:
    run = Run(operations(create(1, node("n")), create(1, job("j", "90s")), create(5, pod("p")), done(9)))
    assert finished(run, "j") == 0
    times = run.result.timeline["time"].unique()
    assert len(times) == 1


def test_pods_end_when_their_run_time_is_over() -> None:
    spec = operations(create(1, node("n")), create(1, job("j", "90s")), create(2, pod("p")), done(3))
    run = Run(spec, {"step_duration": "1m"})
    assert finished(run, "j") == 1


def test_a_timer_fires_in_the_step_before_the_next_one_begins() -> None:
    """90 s after step 1 began is in step 2, which lasts from 60 to 120 s."""
    spec = operations(
        create(1, node("n")), create(1, job("j", "90s")), create(2, pod("p")), create(3, pod("q")), done(3)
    )
    run = Run(spec, {"step_duration": "1m"})
    ended = [
        row["major"]
        for row in run.result.timeline.to_dicts()
        if row["kind"] == "Pod" and row["object"] and '"phase":"Succeeded"' in row["object"]
    ]
    assert ended[0] == 2


def test_room_that_comes_free_is_used_in_the_same_step() -> None:
    jobs = [create(1, job("a", "30s", cpu="4")), create(1, job("b", "30s", cpu="4"))]
    run = Run(operations(create(1, node("n")), *jobs, done(1)), {"step_duration": "10m"})
    assert finished(run, "a") == finished(run, "b") == 1
    bound = [entry["step"] for entry in run.entries("podScheduled")]
    assert [step["major"] for step in bound] == [1, 1]
    assert bound[0]["minor"] < bound[1]["minor"]


def test_after_the_last_step_timers_fire_within_one_more_duration() -> None:
    late = Run(operations(create(1, node("n")), create(1, job("j", "90s")), done(1)), {"step_duration": "1m"})
    drained = Run(
        operations(create(1, node("n")), create(1, job("j", "90s")), done(1)), {"step_duration": "1m"}, drain=True
    )
    assert finished(late, "j") == 0
    assert finished(drained, "j") == 1


def test_draining_ends_though_pods_stay_pending() -> None:
    run = Run(operations(create(1, node("n")), create(1, pod("huge", cpu="64")), done(1)), drain=True)
    assert run.status["phase"] == "Succeeded"


def test_long_gaps_between_steps_are_no_endless_feeding() -> None:
    """A pod that waits is tried every few minutes: loops are counted between two passings of time only."""
    spec = operations(create(1, node("n")), create(2, pod("big", cpu="16")), done(12))
    run = Run(spec, {"step_duration": "1h"}, max_loops=60)
    assert run.status["phase"] == "Succeeded", run.status["message"]


@pytest.mark.parametrize("delay", ["0s", "1s"])
def test_looking_again_for_ever_inside_a_step_ends_by_the_limit(delay: str) -> None:
    """Inner timers run out inside the step whatever they take, so nothing else bounds them."""

    class Restless(UserController):
        name = "restless"
        watches = ("v1/Node",)

        def reconcile(self, cluster: Cluster, object: dict[str, Any]) -> None:
            cluster.again_after(delay)

    registry = Registry()
    registry.register(Restless)
    spec = operations(create(1, node("n")), create(2, pod("big", cpu="16")), done(3))
    run = Run(spec, {"step_duration": "1h"}, max_loops=50, registry=registry)
    assert run.status["phase"] == "Failed"
    assert "did not come to rest within 50 loops (--max-loops)" in run.status["message"]


def test_outer_timers_of_no_length_are_counted() -> None:
    """They let no time pass, so they do not restart the count."""
    run = Run(operations(create(1, node("n")), done(1)), {"step_duration": "1h"}, max_loops=50).simulation.scenario_run
    clock, engine = run.clock, run.engine
    assert engine is not None

    def again() -> None:
        clock.after(0, again, outer=True)

    again()
    with pytest.raises(ScenarioError, match="within 50 loops"):
        while engine._pass_time(clock.now() + 1) is not None:
            pass


def test_loops_in_which_nobody_writes_are_forgotten_though_nothing_bounds_the_time() -> None:
    loops = LoopCount(50, lambda: 0)
    for _ in range(200):
        loops.passed(bounded=False)
        loops.loop()


def test_a_cron_job_that_is_drained_ends_by_the_limit() -> None:
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job("j", "10s")["spec"]}},
    }
    spec = operations(create(1, cron), done(1), presimulationControllers={"enabled": [{"name": "cronjob"}]})
    run = Run(spec, {"step_duration": "1m"}, max_loops=200, drain=True)
    assert run.status["phase"] == "Failed"
    assert "did not come to rest within 200 loops" in run.status["message"]
    assert "cronjob (created Job" in run.status["message"]


def test_steps_begin_at_their_time() -> None:
    run = Run(operations(create(1, node("n")), create(10, pod("p")), done(10)), {"step_duration": "1h"})
    created = (run.get("Pod", "p") or {})["metadata"]["creationTimestamp"]
    assert created == "2030-01-01T10:00:00Z"


def test_a_job_of_several_completions_runs_one_after_the_other() -> None:
    run = Run(operations(create(1, node("n")), create(1, job("j", "30s", completions=3)), done(1)), {"step_duration": "1h"})  # fmt: skip  # noqa: E501
    assert finished(run, "j") == 3


def test_deletion_costs_no_step() -> None:
    """A bound pod has a grace period of 30 s, and is gone in the step that deletes it."""
    run = Run(operations(create(1, node("n")), create(1, pod("p")), delete(2, pod("p")), done(2)))
    assert run.get("Pod", "p") is None


def test_the_first_spelling_has_the_same_time() -> None:
    spec = events(create(1, node("n")), create(1, job("j", "90s")), create(2, pod("p")), create(3, pod("q")), done(3))
    run = Run(spec, {"step_duration": "1m"})
    assert finished(run, "j") == 1
