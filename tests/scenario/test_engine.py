"""The engine against a scheduler of a few lines: phases, steps, timers, rest."""

from tests.scenario.playing import Stage, create, done, events, kinds_of, node, operations, pod


def test_first_spelling_goes_through_its_five_phases_in_order() -> None:
    """V1-032 V1-033 V1-034 V1-035 V1-036 V1-037 V1-038"""
    stage = Stage(events(create(1, node("n")), create(1, pod("a")), done(1)))
    assert stage.run()["phase"] == "Succeeded"
    assert stage.phases() == [
        "OperatingEvents",
        "OperatingEventsFinished",
        "Scheduling",
        "SchedulingFinished",
        "Finished",
    ]


def test_second_spelling_pauses_after_every_bind() -> None:
    """V2-057 V2-062 V2-063 V2-067 V2-068"""
    stage = Stage(operations(create(1, node("n")), create(1, pod("a")), create(1, pod("b")), done(1)))
    stage.run()
    cycle = ["ControllerRunning", "ControllerPaused", "OperatingCompleted"]
    assert stage.phases() == [
        "Operating",
        "OperatingCompleted",
        *cycle,
        *cycle,
        "ControllerRunning",
        "ControllerCompleted",
        "Finished",
    ]


def test_first_bind_carries_minor_step_one() -> None:
    """V2-028 V2-031 V2-041"""
    stage = Stage(operations(create(1, node("n")), create(1, pod("a")), done(1)))
    status = stage.run()
    assert kinds_of(status, "1") == ["create", "create", "done", "patch", "podScheduled"]
    steps = [entry["step"] for entry in status["scenarioResult"]["timeline"]["1"]]
    assert steps == [{"major": 1, "minor": 0}] * 3 + [{"major": 1, "minor": 1}] * 2
