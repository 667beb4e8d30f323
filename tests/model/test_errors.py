"""Errors that another process of ours raised arrive as they are."""

import pickle

import pytest

from seatrial.model.errors import Cause, ConfigError, Invalid, NotFound, ScenarioError, SeatrialError

ERRORS = [
    SeatrialError("plain"),
    ConfigError("a.yaml", "spec", "expected a list"),
    ScenarioError("op-1", "the target is missing"),
    NotFound("no such pod", kind="pods", name="a"),
    Invalid("wrong", kind="pods", name="a", causes=[Cause("spec", "required")]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_the_way_between_processes(error: SeatrialError) -> None:
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert (str(arrived), vars(arrived)) == (str(error), vars(error))
