"""What the KEP calls invalid: the scenario ends Failed, and the message holds the operation's id."""

from typing import Any

import pytest

from tests.proofs import proves
from tests.scenario.playing import Stage, create, done, events, node, operations, patch, pod

A_POD = create(1, pod("a"), id="mine")


def failure(spec: dict[str, Any]) -> str:
    stage = Stage(spec)
    status = stage.run()
    assert status["phase"] == "Failed"
    assert "scenarioResult" not in status
    return str(status["message"])


@proves("V1-014", "V2-019", "V1-029")
@pytest.mark.parametrize("spell", [events, operations])
def test_two_operations_in_one_fail(spell: Any) -> None:
    assert failure(spell({**A_POD, "doneOperation": {}})).startswith("operation mine: expected exactly one of")


@proves("V1-014", "V2-019")
@pytest.mark.parametrize("spell", [lambda item: {"events": [item]}, operations])
def test_no_operation_at_all_fails(spell: Any) -> None:
    assert "operation mine: expected exactly one of" in failure(spell({"id": "mine", "step": 1}))


@proves("V1-015")
def test_the_discriminator_must_agree() -> None:
    message = failure({"events": [{**A_POD, "operation": "Delete"}]})
    assert message == "operation mine: operation is Delete but createOperation is given"


@proves("V1-013", "V1-016")
@pytest.mark.parametrize("word", ["PodScheduled", "PodUnscheduled", "PodPreempted", "Foo", ""])
def test_only_four_operations_are_valid_in_a_spec(word: str) -> None:
    message = failure({"events": [{**A_POD, "operation": word}]})
    assert message == f"operation mine: operation {word!r} is not one of Create, Patch, Delete, Done"


def test_the_first_spelling_needs_a_discriminator() -> None:
    assert "operation is required" in failure({"events": [A_POD]})


@proves("V2-020")
def test_the_second_spelling_needs_none() -> None:
    assert Stage(operations(A_POD, done(1))).run()["phase"] == "Succeeded"


def test_the_second_spelling_checks_one_that_is_given() -> None:
    assert "operation is Patch" in failure(operations({**A_POD, "operation": "Patch"}))


@proves("V2-022")
def test_a_create_without_object_fails() -> None:
    assert failure(operations({"id": "mine", "step": 1, "createOperation": {}})) == (
        "operation mine: createOperation.object is required"
    )


@proves("V2-023")
def test_an_unknown_patch_type_fails() -> None:
    bad = patch(1, node("n"), {}, patchType="application/yaml")
    assert "operation mine: patchType 'application/yaml' is not one of" in failure(operations({**bad, "id": "mine"}))


@proves("V1-011", "V2-018")
def test_ids_used_twice_fail() -> None:
    assert failure(operations(A_POD, {**done(2), "id": "mine"})) == "operation mine: the id is used more than once"


def test_both_spellings_together_fail() -> None:
    assert "two spellings" in failure({**events(A_POD), **operations(A_POD)})


@proves("V2-014")
def test_simulation_controllers_are_required() -> None:
    assert "simulationControllers.enabled is required" in failure({"operations": [A_POD]})


@proves("V2-017")
def test_an_unknown_controller_fails_with_the_known_names() -> None:
    message = failure(operations(A_POD, simulated=["autoscaler"]))
    assert "controller 'autoscaler' is not known; there are" in message
    assert message.endswith("one of your own comes with --controllers FILE")
    assert "replicaset" in message


@proves("V2-016")
def test_a_star_stands_alone() -> None:
    chosen = {"disabled": [{"name": "*"}, {"name": "job"}]}
    assert '"*" stands alone' in failure(operations(A_POD, presimulationControllers=chosen))


def test_a_step_duration_that_is_none_fails() -> None:
    stage = Stage(operations(A_POD), annotations={"step_duration": "soon"})
    assert "step-duration" in stage.run()["message"]
