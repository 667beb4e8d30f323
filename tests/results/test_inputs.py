"""What each input of a run tells, and what it does not."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seatrial import Result
from seatrial.api import run
from seatrial.model.documents import encode
from seatrial.model.errors import ConfigError
from seatrial.model.yaml_reader import dump
from seatrial.results.measure import all_measures
from seatrial.results.run import Run
from seatrial.scheduler import Decision
from seatrial.timeline import Timeline
from seatrial.timeline.wire import Shape
from seatrial.web import attempts
from seatrial.web.payload import payload
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod

STEP_DURATION = "simulation.kube-scheduler-simulator.x-k8s.io/step-duration"
RUN_DURATION = "simulation.kube-scheduler-simulator.x-k8s.io/run-duration"


def alone(result: Result) -> Run:
    """The Scenario of a result without its timeline.parquet."""
    return Run("alone", result.run.data)


def waits() -> Result:
    """A pod that waits for a node from step 1 to step 4, a minute a step."""
    document = scenario(operations(create(1, pod("p")), create(4, node("n")), done(4)))
    document["metadata"]["annotations"] = {STEP_DURATION: "60s"}
    return run(document)


def rows(measured: Run, name: str) -> list[dict[str, Any]]:
    return all_measures()[name].compute(measured).to_dicts()


def test_seconds_of_waiting_are_missing_without_times_and_never_zero() -> None:
    result = waits()
    assert rows(result.run, "waiting")[1]["longest"] == 180.0
    seconds = rows(alone(result), "waiting")[1]
    assert (seconds["unit"], seconds["p50"], seconds["longest"]) == ("seconds", None, None)
    assert all_measures()["waiting"].missing(alone(result)) == ["waiting.seconds"]
    assert rows(alone(result), "waiting")[0] == rows(result.run, "waiting")[0]


def test_rejections_are_counted_from_a_scenario_alone() -> None:
    """Three steps of attempts at a pod that is too large: every one of them counts, not the last alone."""
    spec = operations(create(1, node("n")), create(1, pod("big", cpu="64")), create(2, node("m")), done(2))
    result = run(scenario(spec))
    expected = [{"reason": "Insufficient cpu", "attempts": 4, "nodes": 6}]
    assert rows(result.run, "scheduling_results") == expected
    assert rows(alone(result), "scheduling_results") == expected


def test_a_result_json_that_holds_the_attempt_is_explained(tmp_path: Path) -> None:
    result = run(scenario(operations(create(1, node("a")), create(1, node("b")), create(1, pod("p")), done(1))))
    (tmp_path / "result.json").write_bytes(result.run.data)
    read = Result.load(tmp_path / "result.json").explain("p")
    assert read.sentence == result.explain("p").sentence
    assert read.attempts[0].filter == result.explain("p").attempts[0].filter
    assert {name: {plugin: score.final for plugin, score in scores.items()}
            for name, scores in read.attempts[0].score.items()} == {
        name: {plugin: score.final for plugin, score in scores.items()}
        for name, scores in result.explain("p").attempts[0].score.items()
    }  # fmt: skip


def finishes() -> Result:
    """One pod that runs for ever and one that has run for a second."""
    short = pod("short")
    short["metadata"]["annotations"] = {RUN_DURATION: "1s"}
    document = scenario(operations(create(1, node("n")), create(1, short), create(1, pod("long")), done(2)))
    document["metadata"]["annotations"] = {STEP_DURATION: "60s"}
    return run(document)


def test_a_pod_that_succeeded_is_on_no_node_in_all_tables() -> None:
    result = finishes()
    assert result.pods["phase"].to_list() == ["Succeeded", "Running"]
    assert result.nodes["pods"].to_list() == [1]
    assert rows(result.run, "allocation")[-1]["requested"] == 1


def test_the_end_of_a_pod_is_known_from_a_scenario_alone() -> None:
    result = finishes()
    assert alone(result).document["status"]["notInTimeline"] == {"finishedPods": {"1": [[7, "default/short"]]}}
    assert rows(alone(result), "allocation") == rows(result.run, "allocation")
    assert Result(alone(result)).nodes.equals(result.nodes)
    assert Result(alone(result)).pods["phase"].to_list() == [None, None]


def test_a_scenario_alone_does_not_tell_what_a_snapshot_brought() -> None:
    result = run(scenario(operations(create(1, pod("p")), done(1))), snapshot=[node("n")])
    missing = {name for measure in all_measures().values() for name in measure.missing(alone(result))}
    assert {"allocation", "cost", "pods", "pending"} <= missing
    assert "scheduler_work" not in missing
    with pytest.raises(ConfigError, match="the run began with a snapshot"):
        rows(alone(result), "allocation")


def test_an_attempt_at_a_pod_that_is_gone_is_in_no_entry() -> None:
    timeline = Timeline(Shape(minor_steps=True))
    timeline.record(Decision(pod="default/gone", uid="u", profile="default-scheduler", outcome="unschedulable"))
    facts = timeline.unshown.document()
    assert facts == {"attempts": 1}
    document = {"kind": "Scenario", "metadata": {"name": "x"}, "status": {"notInTimeline": facts}}
    assert "pods.attempts" in all_measures()["pods"].missing(Run("alone", encode(document)))


def test_attempts_listed_with_their_step_alone_have_no_nodes() -> None:
    result = run(scenario(operations(create(1, node("n")), create(1, pod("p")), done(1))), cells=0)
    work = rows(alone(result), "scheduler_work")[0]
    assert (work["attempts"], work["scheduled"], work["visited"]) == (1, 1, None)
    assert all_measures()["scheduling_results"].missing(alone(result)) == ["scheduling_results"]


@pytest.mark.parametrize("form", ["json", "yaml", "list"])
def test_a_served_scenario_is_read_from_standard_input(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    document = waits().scenario
    data = {
        "json": encode(document),
        "yaml": dump(document).encode(),
        "list": encode({"apiVersion": "v1", "kind": "List", "items": [document]}),
    }[form]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    read = Run.load("-")
    assert (read.name, read.scenario_name, len(read.pods)) == ("standard input", "play", 1)


def test_the_page_shows_what_pre_filter_left() -> None:
    chosen = pod("p")
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    chosen["spec"]["affinity"] = {"nodeAffinity": required}
    result = run(scenario(operations(create(1, node("a")), create(1, node("b")), create(1, chosen), done(1))))
    (detail,) = payload(result.run)["details"]
    assert detail["preFilter"] == "NodeAffinity left 1 node"


@pytest.mark.parametrize("read", [lambda result: result.run, alone], ids=["table", "alone"])
def test_a_page_has_the_first_attempts_and_says_how_many_are_left_out(
    read: Callable[[Result], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "ATTEMPTS", 2)
    pods = [create(1, pod(f"p{number}")) for number in range(4)]
    shown = payload(read(run(scenario(operations(create(1, node("n")), *pods, done(1))))))
    assert [shown["pods"]["key"][each] for each in shown["attempts"]["pod"]] == ["default/p0", "default/p1"]
    assert "2 later attempts are not in this page; seatrial explain shows them." in shown["omitted"]


def listed_pod(uid: str) -> dict[str, Any]:
    entry = pod("urgent")
    entry["metadata"]["uid"] = uid
    return entry


def test_victims_in_a_scenario_alone_belong_to_the_preemptor_and_not_to_a_later_pod_of_its_name() -> None:
    """Both pods of the name are tried in the step of the preemption."""
    first, second = listed_pod("1"), listed_pod("2")
    scheduled = {"pod": first, "boundTo": "n", "createdAt": 2, "scheduleResult": [{"step": 2}, {"step": 2}]}
    waiting = {"pod": second, "createdAt": 2, "scheduleResult": [{"step": 2}]}
    items: list[dict[str, Any]] = [
        {"create": {"operation": {}, "result": first}},
        {"podPreempted": {"pod": pod("victim"), "preemptedBy": "default/urgent"}},
        {"podScheduled": scheduled},
        {"delete": {"operation": {}, "result": first}},
        {"create": {"operation": {}, "result": second}},
        {"podUnscheduled": waiting},
    ]
    document = scenario(operations(done(2)))
    document["status"] = {"scenarioResult": {"timeline": {"2": items}}}
    found = [(which, tried.victims) for which, tried in Run("alone", encode(document)).attempts("default", "urgent")]
    first_pod, second_pod = ("default/urgent", 0), ("default/urgent", 1)
    assert found == [(first_pod, ("default/victim",)), (first_pod, ()), (second_pod, ())]
