"""The engine: phases, major and minor steps, rest, pause and end."""

from typing import Any

import pytest

from seatrial.scenario.engine.controller_registry import Registry
from seatrial.scenario.options import SimulationOptions
from tests.proofs import proves
from tests.scenario.playing import Stage, create, delete, done, events, kinds_of, node, operations, patch, pod

CYCLE = ["ControllerRunning", "ControllerPaused", "OperatingCompleted"]


def encoded(*items: dict[str, Any]) -> list[bytes]:
    import orjson

    return [orjson.dumps(item) for item in items]


@proves("V1-032", "V1-033", "V1-034", "V1-035", "V1-036", "V1-037", "V1-038", "V1-030")
def test_first_spelling_goes_through_its_five_phases_in_order() -> None:
    stage = Stage(events(create(1, node("n")), create(1, pod("a")), create(2, pod("b")), done(2)))
    assert stage.run()["phase"] == "Succeeded"
    step = ["OperatingEvents", "OperatingEventsFinished", "Scheduling", "SchedulingFinished", "Finished"]
    assert stage.phases() == step * 2


@proves("V2-035", "V2-057", "V2-062", "V2-063", "V2-065", "V2-067", "V2-068")
def test_second_spelling_pauses_after_every_bind() -> None:
    stage = Stage(operations(create(1, node("n")), create(1, pod("a")), create(1, pod("b")), done(1)))
    stage.run()
    assert stage.phases() == [
        "Operating", "OperatingCompleted", *CYCLE, *CYCLE, "ControllerRunning", "ControllerCompleted", "Finished",
    ]  # fmt: skip


@proves("V2-028", "V2-031", "V2-041", "V2-025")
def test_first_bind_carries_minor_step_one() -> None:
    stage = Stage(operations(create(1, node("n")), create(1, pod("a")), done(1)))
    status = stage.run()
    assert kinds_of(status, "1") == ["create", "create", "done", "patch", "podScheduled"]
    steps = [entry["step"] for entry in status["scenarioResult"]["timeline"]["1"]]
    assert steps == [{"major": 1, "minor": 0}] * 3 + [{"major": 1, "minor": 1}] * 2


@proves("V2-026")
def test_minor_steps_have_no_limit() -> None:
    pods = [create(1, pod(f"p{number:03}")) for number in range(100)]
    stage = Stage(operations(create(1, node("n", pods=200)), *pods, done(1)))
    assert stage.run()["stepStatus"]["step"] == {"major": 1, "minor": 100}


@proves("V2-064")
def test_the_pause_is_shown_before_the_write() -> None:
    """The status says ControllerPaused with the next minor while the pod is not bound yet."""
    stage = Stage(operations(create(1, node("n")), create(1, pod("a")), done(1)))
    seen = []
    show = stage.publish

    def publish(status: Any) -> None:
        show(status)
        if stage.log[-1].get("stepStatus", {}).get("phase") == "ControllerPaused":
            bound = (stage.get("Pod", "a") or {})["spec"].get("nodeName")
            seen.append((stage.log[-1]["stepStatus"]["step"]["minor"], bound))

    stage.publish = publish  # type: ignore[method-assign]
    stage.run()
    assert seen == [(1, None)]


@proves("V1-039", "V1-083", "V2-059")
def test_nothing_is_scheduled_before_all_operations_of_the_step_are_done() -> None:
    """Pods come before nodes in the file, and are bound all the same."""
    stage = Stage(events(create(1, pod("a")), create(1, node("n")), done(1)))
    attempts: list[int] = []
    show = stage.publish

    def publish(status: Any) -> None:
        show(status)
        if stage.log[-1].get("stepStatus", {}).get("phase", "").startswith("Operating"):
            attempts.append(len(stage.tried))

    stage.publish = publish  # type: ignore[method-assign]
    stage.run()
    assert set(attempts) == {0}
    assert stage.tried == ["a"]


@proves("V1-026", "V1-059", "V1-085")
def test_a_step_with_unschedulable_pods_goes_on() -> None:
    """A pending pod is tried twice in its step, by the forced sweep."""
    stage = Stage(events(create(1, pod("a")), create(2, node("n")), done(2)))
    status = stage.run()
    assert stage.tried == ["a", "a", "a"]
    assert status["phase"] == "Succeeded"


@proves("V1-012", "V1-047", "V1-051", "V2-038")
def test_steps_jump_over_gaps() -> None:
    """The timeline has no empty keys, and a step may be 0."""
    stage = Stage(events(create(0, node("n")), create(5, pod("a")), done(9)))
    timeline = stage.run()["scenarioResult"]["timeline"]
    assert list(timeline) == ["0", "5", "9"]
    assert all(entry["step"] == int(key) for key, entries in timeline.items() for entry in entries)


@proves("V2-027", "V2-030", "V2-071")
def test_major_steps_begin_at_minor_zero() -> None:
    stage = Stage(operations(create(1, node("n")), create(1, pod("a")), create(2, pod("b")), done(2)))
    stage.run()
    shown = [(s["stepStatus"]["step"]["major"], s["stepStatus"]["phase"]) for s in stage.log if "stepStatus" in s]
    first = shown.index((2, "Operating"))
    assert shown[first - 1] == (1, "Finished")
    assert stage.log[first + 1]["stepStatus"]["step"] == {"major": 2, "minor": 0}


@proves("V2-021", "V1-057")
def test_done_takes_effect_at_the_end_of_its_step() -> None:
    """Other operations of the step and the scheduler still run; later steps never do."""
    stage = Stage(operations(done(1), create(1, node("n")), create(1, pod("a")), create(2, pod("never"))))
    status = stage.run()
    assert status["phase"] == "Succeeded"
    assert (stage.get("Pod", "a") or {})["spec"]["nodeName"] == "n"
    assert stage.get("Pod", "never") is None
    assert list(status["scenarioResult"]["timeline"]) == ["1"]


@proves("V1-024")
def test_done_false_is_recorded_and_has_no_effect() -> None:
    stage = Stage(events({"step": 1, "doneOperation": {"done": False}}))
    status = stage.run()
    assert status["phase"] == "Paused"
    assert kinds_of(status, "1") == ["done"]


@proves("V1-042", "V1-091")
@pytest.mark.parametrize("spell", [events, operations])
def test_without_done_a_scenario_ends_paused(spell: Any) -> None:
    stage = Stage(spell(create(1, node("n"))))
    assert stage.run()["phase"] == "Paused"
    assert stage.run()["phase"] == "Paused"


@proves("V1-092", "V2-083", "V2-004")
@pytest.mark.parametrize("spell", [events, operations])
def test_operations_added_while_paused_are_carried_out(spell: Any) -> None:
    stage = Stage(spell(create(1, node("n"))))
    stage.run()
    listing = stage.scenario_run.plan.dialect.listing
    added = spell(create(2, pod("a")), done(2))[listing]
    stage.scenario_run.add([planned.data for planned in stage.scenario_run.listed] + encoded(*added))
    status = stage.run()
    assert status["phase"] == "Succeeded"
    assert list(status["scenarioResult"]["timeline"]) == ["1", "2"]


@proves("V1-090", "V2-082")
@pytest.mark.parametrize("spell", [events, operations])
def test_operations_of_a_past_step_are_ignored_with_a_warning(spell: Any) -> None:
    """The step where a scenario is Paused is over, too."""
    stage = Stage(spell(create(5, node("n"))))
    stage.run()
    listing = stage.scenario_run.plan.dialect.listing
    late = spell(create(1, pod("late"), id="late"), create(5, pod("same"), id="same"), done(6))[listing]
    stage.scenario_run.add(encoded(*late))
    status = stage.run()
    assert status["phase"] == "Succeeded"
    assert stage.get("Pod", "late") is None
    assert stage.get("Pod", "same") is None
    assert "operation late: step 1 is past, it is ignored" in status["message"]
    assert "operation same: step 5 is past" in status["message"]


@proves("V1-009", "V1-089", "V2-081")
@pytest.mark.parametrize("spell", [events, operations])
def test_operations_added_while_running_are_carried_out(spell: Any) -> None:
    stage = Stage(spell(create(1, node("n")), done(3)))
    listing = stage.scenario_run.plan.dialect.listing
    running = stage.scenario_run.run()
    next(running)
    stage.scenario_run.add(encoded(*spell(create(2, pod("a"), id="added"))[listing]))
    for _ in running:
        pass
    assert stage.get("Pod", "a") is not None
    assert list(stage.log[-1]["scenarioResult"]["timeline"]) == ["1", "2", "3"]


def test_an_invalid_operation_that_is_added_fails_the_scenario() -> None:
    stage = Stage(operations(create(1, node("n"))))
    stage.run()
    stage.scenario_run.add(encoded({"id": "bad", "step": 2}))
    assert stage.log[-1]["phase"] == "Failed"
    assert "operation bad" in stage.log[-1]["message"]


@proves("V1-044")
@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (create(2, node("n"), id="mine"), 'operation mine: nodes "n" already exists'),
        ({**patch(2, node("x"), {"metadata": {}}), "id": "mine"}, 'operation mine: nodes "x" not found'),
        ({**delete(2, pod("x")), "id": "mine"}, 'operation mine: pods "x" not found'),
        (create(2, {"apiVersion": "a/v1", "kind": "Foo"}, id="mine"), 'operation mine: no matches for kind "Foo"'),
    ],
)
def test_what_cannot_be_carried_out_fails_the_scenario(operation: dict[str, Any], said: str) -> None:
    """The failing step is part of the result."""
    stage = Stage(operations(create(1, node("n")), create(2, node("m")), operation, done(3)))
    status = stage.run()
    assert status["phase"] == "Failed"
    assert status["message"].startswith(said)
    assert kinds_of(status, "2") == ["create"]


@proves("V1-028", "V2-032")
def test_a_status_has_what_the_kep_lists() -> None:
    one, two = Stage(events(create(1, node("n")), done(1))), Stage(operations(create(1, node("n")), done(1)))
    assert set(one.run()) == {"phase", "message", "schedulerStatus", "stepStatus", "scenarioResult"}
    assert set(two.run()) == {"phase", "message", "stepStatus", "scenarioResult"}
    assert {status["schedulerStatus"] for status in one.log} <= {"WillRun", "Running", "WillStop", "Stoped"}
    assert two.log[-1]["stepStatus"]["runningSimulationController"] == "scheduler"


@proves("V1-046", "V2-037")
def test_the_version_of_the_simulator_is_told() -> None:
    import seatrial

    result = Stage(operations(done(1))).run()["scenarioResult"]
    assert result["simulatorVersion"] == seatrial.__version__


def test_a_step_that_never_rests_fails_and_names_who_wrote() -> None:
    """Two controllers that feed each other for ever end by --max-loops."""
    from tests.scenario.test_controllers import Ping, Pong

    registry = Registry()
    registry.register(Ping)
    registry.register(Pong)
    stage = Stage(operations(create(1, node("n")), done(1)), SimulationOptions(registry=registry, max_loops=50))
    status = stage.run()
    assert status["phase"] == "Failed"
    assert "did not come to rest within 50 loops" in status["message"]
    assert "ping (changed Node" in status["message"]
    assert "pong (changed Node" in status["message"]


@proves("V1-031", "V1-093", "V1-094", "V2-033", "V2-084", "V2-085")
def test_results_are_published_when_the_step_moves_on() -> None:
    stage = Stage(events(create(1, node("n")), create(2, pod("a")), done(3)))
    stage.run()
    changes = 0
    before: Any = None
    for status in stage.log:
        result = status.get("scenarioResult")
        if result != before:
            changes += 1
            before = result
        step = status.get("stepStatus", {}).get("step", 1)
        known = set((result or {"timeline": {}})["timeline"])
        assert {str(number) for number in range(1, step)} <= known
    assert changes == 3


@proves("V1-095")
def test_results_can_wait_for_the_pause() -> None:
    stage = _with_strategy("ON_PAUSE", events(create(1, node("n")), create(2, pod("a"))))
    assert "scenarioResult" in stage.run()
    assert all("scenarioResult" not in status for status in stage.log[:-1])


@proves("V1-096")
def test_results_can_wait_for_the_end() -> None:
    stage = _with_strategy("ON_DONE", events(create(1, node("n"))))
    assert "scenarioResult" not in stage.run()
    stage.scenario_run.add(encoded(*events(done(2))["events"]))
    assert list(stage.run()["scenarioResult"]["timeline"]) == ["1", "2"]


def _with_strategy(name: str, spec: dict[str, Any]) -> Stage:
    from seatrial.scenario.status import ResultsStrategy

    return Stage(spec, SimulationOptions(registry=Registry(), strategy=ResultsStrategy[name]))


@proves("V1-011", "V1-050", "V2-018", "V2-040")
def test_ids_are_set_by_the_system_and_kept() -> None:
    stage = Stage(operations(create(1, node("n")), create(1, pod("a"), id="mine"), done(1)))
    timeline = stage.run()["scenarioResult"]["timeline"]["1"]
    ids = [entry["id"] for entry in timeline]
    assert len(set(ids)) == len(ids)
    assert [planned.id for planned in stage.scenario_run.listed] == ids[:3] == ["op-1", "mine", "op-3"]
    assert all(id.startswith("timeline-") for id in ids[3:])
