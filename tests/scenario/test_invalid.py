"""What the KEP calls invalid: the scenario ends Failed, and the message holds the operation's id."""

from typing import Any

import pytest

from tests.scenario.playing import Stage, create, done, events, node, operations, patch, pod

A_POD = create(1, pod("a"), id="mine")


def failure(spec: dict[str, Any]) -> str:
    stage = Stage(spec)
    status = stage.run()
    assert status["phase"] == "Failed"
    assert "scenarioResult" not in status
    return str(status["message"])


@pytest.mark.parametrize("spell", [events, operations])
def test_two_operations_in_one_fail(spell: Any) -> None:
    """V1-014 V2-019 V1-029"""
    assert failure(spell({**A_POD, "doneOperation": {}})).startswith("operation mine: expected exactly one of")


@pytest.mark.parametrize("spell", [lambda item: {"events": [item]}, operations])
def test_no_operation_at_all_fails(spell: Any) -> None:
    """V1-014 V2-019"""
    assert "operation mine: expected exactly one of" in failure(spell({"id": "mine", "step": 1}))


def test_the_discriminator_must_agree() -> None:
    """V1-015"""
    message = failure({"events": [{**A_POD, "operation": "Delete"}]})
    assert message == "operation mine: operation is Delete but createOperation is given"


@pytest.mark.parametrize("word", ["PodScheduled", "PodUnscheduled", "PodPreempted", "Foo", ""])
def test_only_four_operations_are_valid_in_a_spec(word: str) -> None:
    """V1-013 V1-016"""
    message = failure({"events": [{**A_POD, "operation": word}]})
    assert message == f"operation mine: operation {word!r} is not one of Create, Patch, Delete, Done"


def test_the_first_spelling_needs_a_discriminator() -> None:
    assert "operation is required" in failure({"events": [A_POD]})


def test_the_second_spelling_needs_none() -> None:
    """V2-020"""
    assert Stage(operations(A_POD, done(1))).run()["phase"] == "Succeeded"


def test_the_second_spelling_checks_one_that_is_given() -> None:
    assert "operation is Patch" in failure(operations({**A_POD, "operation": "Patch"}))


def test_a_create_without_object_fails() -> None:
    """V2-022"""
    assert failure(operations({"id": "mine", "step": 1, "createOperation": {}})) == (
        "operation mine: createOperation.object is required"
    )


def test_an_unknown_patch_type_fails() -> None:
    """V2-023"""
    bad = patch(1, node("n"), {}, patchType="application/yaml")
    assert "operation mine: patchType 'application/yaml' is not one of" in failure(operations({**bad, "id": "mine"}))


def test_ids_used_twice_fail() -> None:
    """V1-011 V2-018"""
    assert failure(operations(A_POD, {**done(2), "id": "mine"})) == "operation mine: the id is used more than once"


def test_both_spellings_together_fail() -> None:
    assert "two spellings" in failure({**events(A_POD), **operations(A_POD)})


def test_simulation_controllers_are_required() -> None:
    """V2-014"""
    assert "simulationControllers.enabled is required" in failure({"operations": [A_POD]})


def test_an_unknown_controller_fails_with_the_known_names() -> None:
    """V2-017"""
    message = failure(operations(A_POD, simulated=["autoscaler"]))
    assert "controller 'autoscaler' is not known; there are" in message
    assert message.endswith("one of your own comes with --controllers FILE")
    assert "replicaset" in message


def test_a_star_stands_alone() -> None:
    """V2-016"""
    chosen = {"disabled": [{"name": "*"}, {"name": "job"}]}
    assert '"*" stands alone' in failure(operations(A_POD, presimulationControllers=chosen))


def test_a_step_duration_that_is_none_fails() -> None:
    stage = Stage(operations(A_POD), annotations={"step_duration": "soon"})
    assert "step-duration" in stage.run()["message"]
