"""What the timeline says on the wire, in both spellings.

Tests: timeline/timeline.py, timeline/writes.py, timeline/unshown.py
"""

import json
from typing import Any

import pytest

from seatrial.scenario.spec.dialect import Phase
from seatrial.store import Change
from tests.proofs import proves
from tests.scenario.playing import Stage, create, delete, done, events, operations, patch
from tests.scenario.running import SPELLINGS, Run, node, pod, priority_class

FIELDS = {"create", "patch", "delete", "done", "podScheduled", "podUnscheduled", "podPreempted"}


@pytest.fixture(params=sorted(SPELLINGS))
def spell(request: pytest.FixtureRequest) -> Any:
    return SPELLINGS[request.param]


def step_of(run: Run, major: int, minor: int) -> Any:
    return major if run.simulation.scenario_run.plan.dialect.listing == "events" else {"major": major, "minor": minor}


def busy() -> list[dict[str, Any]]:
    """Operations of every sort, a preemption and a pod that fits nowhere."""
    return [
        create(1, priority_class("high", 1000)),
        create(1, node("n", cpu="2")),
        create(1, pod("low", cpu="2")),
        create(2, pod("high", cpu="2", priorityClassName="high")),
        create(2, pod("huge", cpu="64")),
        patch(3, node("n"), {"metadata": {"labels": {"a": "b"}}}),
        delete(3, pod("huge")),
        done(3),
    ]


@proves("V1-051", "V1-052", "V1-053", "V2-041", "V2-042")
def test_every_entry_has_exactly_one_field_and_its_step(spell: Any) -> None:
    run = Run(spell(*busy()))
    assert run.status["phase"] == "Succeeded"
    used = set()
    for key, entries in run.timeline.items():
        minors = []
        for entry in entries:
            (field,) = FIELDS & set(entry)
            used.add(field)
            assert set(entry) <= FIELDS | {"id", "step", "operation"}
            major = entry["step"] if isinstance(entry["step"], int) else entry["step"]["major"]
            minors.append(0 if isinstance(entry["step"], int) else entry["step"]["minor"])
            assert str(major) == key
            if "operation" in entry:
                assert entry["operation"][0].lower() + entry["operation"][1:] == field
        assert minors == sorted(minors)
    assert used == FIELDS


@proves("V1-017")
def test_the_seven_operations_are_spelt_as_the_kep_does() -> None:
    run = Run(events(*busy()))
    words = {entry["operation"] for entries in run.timeline.values() for entry in entries}
    assert words == {"Create", "Patch", "Delete", "Done", "PodScheduled", "PodUnscheduled", "PodPreempted"}


@proves("V1-050", "V2-040")
def test_ids_in_the_timeline_are_unique(spell: Any) -> None:
    run = Run(spell(*busy()))
    ids = [entry["id"] for entries in run.timeline.values() for entry in entries]
    assert len(ids) == len(set(ids))
    assert {planned.id for planned in run.simulation.scenario_run.listed} <= set(ids)


@proves("V1-054", "V2-043")
def test_a_create_shows_the_object_afterwards(spell: Any) -> None:
    run = Run(spell(create(1, pod("a")), done(1)))
    (entry,) = run.entries("create")
    assert entry["create"]["operation"]["object"] == pod("a")
    assert entry["create"]["result"]["metadata"]["uid"]
    assert entry["create"]["result"]["spec"]["schedulerName"] == "default-scheduler"


@proves("V1-055", "V2-043")
def test_a_patch_shows_the_object_afterwards(spell: Any) -> None:
    run = Run(spell(create(1, node("n")), patch(2, node("n"), {"metadata": {"labels": {"a": "b"}}}), done(2)))
    (entry,) = [entry for entry in run.timeline["2"] if "patch" in entry]
    assert entry["patch"]["result"]["metadata"]["labels"]["a"] == "b"
    assert entry["patch"]["operation"]["objectMeta"] == {"name": "n"}


@proves("V1-056", "V1-057", "V2-044")
def test_delete_and_done_show_only_the_operation(spell: Any) -> None:
    run = Run(spell(create(1, node("n")), delete(2, node("n")), done(2)))
    assert [set(entry[next(iter(FIELDS & set(entry)))]) for entry in run.timeline["2"]] == [{"operation"}] * 2


@proves("V1-058", "V1-061", "V1-062", "V1-064", "V1-065", "V1-067", "V2-039")
def test_a_bound_pod_has_its_node_and_steps(spell: Any) -> None:
    run = Run(spell(create(1, pod("a")), create(2, node("n")), done(2)))
    (entry,) = run.entries("podScheduled")
    result = entry["podScheduled"]
    assert result["pod"]["spec"]["nodeName"] == result["boundTo"] == "n"
    assert result["createdAt"] == step_of(run, 1, 0)
    assert result["boundAt"] == step_of(run, 2, 1)
    assert result["preemptedBy"] is None
    assert result["preemptedAt"] is None


@proves("V2-039", "V2-028")
def test_a_bind_is_a_patch_in_the_second_spelling() -> None:
    run = Run(operations(create(1, node("n")), create(1, pod("a")), done(1)))
    (entry,) = run.entries("patch")
    assert entry["patch"]["result"]["spec"]["nodeName"] == "n"
    assert entry["step"] == {"major": 1, "minor": 1}


@proves("V1-059", "V1-067", "V1-068", "V1-069", "V1-085")
def test_a_pod_that_fits_nowhere_is_told_once_per_step(spell: Any) -> None:
    """All attempts so far, at least two of them in each step."""
    run = Run(spell(create(1, node("n")), create(1, pod("huge", cpu="64")), create(2, pod("a")), done(2)))
    first, second = run.entries("podUnscheduled")
    assert first["podUnscheduled"]["boundTo"] is None
    assert first["podUnscheduled"]["boundAt"] is None
    tries = [attempt["step"] for attempt in second["podUnscheduled"]["scheduleResult"]]
    majors = [step if isinstance(step, int) else step["major"] for step in tries]
    assert majors.count(1) >= 2
    assert majors.count(2) >= 2
    assert len(first["podUnscheduled"]["scheduleResult"]) == majors.count(1)


@proves("V1-059")
def test_a_pod_that_was_not_tried_is_not_told(spell: Any) -> None:
    foreign = pod("other", schedulerName="somebody-else")
    gated = pod("gated", schedulingGates=[{"name": "wait"}])
    run = Run(spell(create(1, node("n")), create(1, foreign), create(1, gated), done(1)))
    assert run.entries("podUnscheduled") == []


@proves("V1-060", "V1-063", "V1-066")
def test_a_preempted_pod_names_who_took_its_place(spell: Any) -> None:
    run = Run(spell(*busy()))
    (entry,) = run.entries("podPreempted")
    victim = entry["podPreempted"]
    assert victim["pod"]["metadata"]["name"] == "low"
    assert victim["preemptedBy"] == "default/high"
    assert victim["preemptedAt"] == step_of(run, 2, 1)
    assert victim["boundTo"] == "n"
    assert run.get("Pod", "low") is None
    assert (run.get("Pod", "high") or {})["spec"]["nodeName"] == "n"


def test_a_preemptor_is_bound_in_the_same_step() -> None:
    run = Run(events(*busy()))
    assert [entry["step"] for entry in run.entries("podPreempted")] == [2]
    bound = {entry["podScheduled"]["pod"]["metadata"]["name"]: entry["step"] for entry in run.entries("podScheduled")}
    assert bound["high"] == 2


@proves("V2-066")
def test_a_preemptor_is_bound_at_the_minor_after_its_victim() -> None:
    run = Run(operations(*busy()))
    (deleted,) = [entry for entry in run.timeline["2"] if "delete" in entry]
    (bound,) = [entry for entry in run.timeline["2"] if "podScheduled" in entry]
    assert (deleted["step"]["minor"], bound["step"]["minor"]) == (1, 2)


@proves("V2-075")
def test_several_victims_of_one_attempt_share_a_minor() -> None:
    lows = [create(1, pod(f"low-{number}")) for number in range(3)]
    run = Run(
        operations(
            create(1, priority_class("high", 9)), create(1, node("n", cpu="3")), *lows,
            create(2, pod("big", cpu="3", priorityClassName="high")), done(2),
        )
    )  # fmt: skip
    deleted = [entry["step"]["minor"] for entry in run.timeline["2"] if "delete" in entry]
    assert deleted == [1, 1, 1]


@proves("V2-066")
def test_a_preempted_pod_of_a_replica_set_is_made_again_before_the_next_attempt() -> None:
    template = {"metadata": {"labels": {"app": "w"}}, "spec": pod("x", cpu="2")["spec"]}
    replicas = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "w"}}, "template": template},
    }
    run = Run(
        operations(
            create(1, priority_class("high", 9)), create(1, node("n", cpu="2")), create(1, replicas),
            create(2, pod("high", cpu="2", priorityClassName="high")), done(2),
        )
    )  # fmt: skip
    fields = [next(iter(FIELDS & set(entry))) for entry in run.timeline["2"]]
    assert fields[2:5] == ["delete", "podPreempted", "create"]
    made = run.timeline["2"][4]
    assert made["step"] == {"major": 2, "minor": 1}


@proves("V1-070", "V1-071", "V1-072", "V1-073", "V1-074", "V1-076")
def test_attempts_show_candidates_filters_and_scores() -> None:
    run = Run(operations(create(1, node("a")), create(1, node("b")), create(1, node("c", cpu="0")), create(1, pod("p")), done(1)))  # fmt: skip  # noqa: E501
    (attempt,) = run.entries("podScheduled")[0]["podScheduled"]["scheduleResult"]
    assert sorted(attempt["allCandidateNodes"]) == ["a", "b", "c"]
    assert sorted(attempt["allFilteredNodes"]) == ["a", "b"]
    results = attempt["pluginResults"]
    assert results["filter"]["a"]["NodeResourcesFit"] == "passed"
    assert results["filter"]["c"]["NodeResourcesFit"] == "Insufficient cpu"
    assert set(results["score"]) == {"a", "b"}
    # 1 of 4 cores and the default 200 MiB of 16 GiB are asked for: (75 + 98) / 2
    assert results["score"]["a"]["NodeResourcesFit"] == {"rawScore": 86, "normalizedScore": 86, "finalScore": 86}


@proves("V1-075", "V1-076")
def test_taint_scores_are_normalised_the_other_way_round() -> None:
    """0, 1 and 2 taints to avoid become 100, 50 and 0, times the weight 3."""
    nodes = []
    for number, name in enumerate("abc"):
        document = node(name)
        taints = [{"key": f"k{i}", "effect": "PreferNoSchedule"} for i in range(number)]
        nodes.append(create(1, {**document, "spec": {"taints": taints}}))
    run = Run(operations(*nodes, create(1, pod("p")), done(1)))
    (attempt,) = run.entries("podScheduled")[0]["podScheduled"]["scheduleResult"]
    scores = {name: plugins["TaintToleration"] for name, plugins in attempt["pluginResults"]["score"].items()}
    assert [tuple(scores[name].values()) for name in "abc"] == [(0, 100, 300), (1, 50, 150), (2, 0, 0)]


def test_cells_beyond_the_limit_leave_the_step() -> None:
    run = Run(operations(create(1, node("n")), create(1, pod("a")), create(1, pod("b")), done(1)), cells=1)
    first, second = (entry["podScheduled"]["scheduleResult"][0] for entry in run.entries("podScheduled"))
    assert "pluginResults" in first
    assert set(second) == {"step"}
    assert "result.json lists 1 attempt by step only" in run.status["message"]
    assert run.result.explain("b").attempts[0].nodes == ("n",)


@proves("V1-048")
def test_a_timeline_repeats_the_events_of_the_spec_and_adds_those_of_the_scheduler() -> None:
    run = Run(events(*busy()))
    given = {planned.id for planned in run.simulation.scenario_run.listed}
    listed = [(entry["operation"], entry["id"] in given) for step in run.timeline.values() for entry in step]
    assert [operation for operation, is_given in listed if is_given] == [
        "Create", "Create", "Create", "Create", "Create", "Patch", "Delete", "Done",
    ]  # fmt: skip
    assert [operation for operation, is_given in listed if not is_given] == [
        "PodScheduled", "PodPreempted", "PodScheduled", "PodUnscheduled",
    ]  # fmt: skip
    single = Run(events(create(1, node("n")), create(1, pod("a")), done(1)))
    of_pod = [entry["operation"] for entry in single.timeline["1"] if '"a"' in json.dumps(entry)]
    assert of_pod == ["Create", "PodScheduled"]


@proves("V1-084")
def test_only_binds_deletions_and_statuses_of_pods_are_written_while_scheduling() -> None:
    """Between Scheduling and SchedulingFinished; Event objects report and change nothing."""
    stage = Stage(events(*busy()))
    written: list[tuple[str, str, str]] = []

    def note(change: Change) -> None:
        if stage.scenario_run.status.step_phase is Phase.RUNNING:
            is_delete = change.type == "DELETED" or "deletionTimestamp" in change.stored.document()["metadata"]
            written.append((change.stored.kind.kind, change.subresource, "delete" if is_delete else ""))

    stage.store.subscribe(note)
    assert stage.run()["phase"] == "Succeeded"
    pods = {(subresource, is_delete) for kind, subresource, is_delete in written if kind == "Pod"}
    assert {("binding", ""), ("status", "")} <= pods
    assert any(is_delete for _, is_delete in pods)
    assert all(subresource in ("binding", "status") or is_delete for subresource, is_delete in pods)
    assert {kind for kind, _, _ in written} <= {"Pod", "Event"}
