"""What an outside scheduler tells of its attempts, and what the embedded one says of them."""

import sys
from pathlib import Path
from typing import Any

import pytest

from seatrial.outside.configuration import OutsideController
from seatrial.outside.scheduling import ON_ITS_WAY
from tests.outside.gate.playing import Played, toy, toy_command
from tests.scenario.playing import create, done, node, operations, pod


def results(played: Played, step: int = 1) -> list[dict[str, Any]]:
    return [entry["podScheduled"] for entry in played.entries(step) if "podScheduled" in entry]


def test_annotations_of_the_simulator_become_the_schedule_result(tmp_path: Path) -> None:
    """They are no operation: the minor step moves for the binds alone."""
    spec = operations(create(1, node("n1")), create(1, node("n2")), create(1, pod("a")), create(1, pod("b")), done(1))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler", MODE="explain"))
    assert played.phase == "Succeeded", played.message
    first, second = results(played)
    (attempt,) = first["scheduleResult"]
    assert len(second["scheduleResult"]) == 1
    assert attempt["step"] == {"major": 1, "minor": 1}
    assert (attempt["allCandidateNodes"], attempt["allFilteredNodes"]) == (["n1", "n2"], ["n1"])
    assert attempt["pluginResults"]["filter"]["n2"] == {"Toy": "no slot"}
    assert attempt["pluginResults"]["score"]["n1"]["Toy"]["finalScore"] == 7
    assert played.run.status.minor == 2


def test_the_model_explains_an_outside_scheduler(tmp_path: Path) -> None:
    spec = operations(create(1, node("n1")), create(1, pod("a")), done(1))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler"), model=True)
    assert played.message == "done in step 1; model: 1 decisions compared, none differs"
    (attempt,) = results(played)[0]["scheduleResult"]
    assert attempt["allFilteredNodes"] == ["n1"]
    assert "NodeResourcesFit" in attempt["pluginResults"]["filter"]["n1"]


def test_the_model_names_each_difference(tmp_path: Path) -> None:
    """The toy fills nodes in order; kube-scheduler would take the empty one.

    It rests before each pod: a bind that comes at once may have been decided before the last change (ON_ITS_WAY).
    """
    spec = operations(create(1, node("n1")), create(1, node("n2")), create(1, pod("a")), create(1, pod("b")), done(1))
    played = Played(spec, tmp_path, toy("scheduler", "scheduler", SECONDS=5 * ON_ITS_WAY), model=True)
    assert "1 differs: default/b went to n1, the model's best are n2" in played.message


def test_a_waiter_of_the_user_says_when_a_program_is_idle(tmp_path: Path) -> None:
    """The autoscaler is waited for until there are three nodes, however long that takes."""
    waiter = tmp_path / "waiters.py"
    waiter.write_text("def three_nodes(cluster):\n    return len(cluster.list('v1/Node')) == 3\n")
    command = toy_command("autoscaler", SECONDS=0.5)
    autoscaler = OutsideController("autoscaler", command, waiter=f"{waiter}:three_nodes", timeout="20s")
    items = create(1, node("n1", 1)), *(create(1, pod(name)) for name in "abc"), done(1)
    spec = operations(*items, simulated=("scheduler", "autoscaler"))
    played = Played(spec, tmp_path, autoscaler)
    assert played.phase == "Succeeded", played.message
    assert played.bound() == {"a": "n1", "b": "n2", "c": "n3"}


def test_a_waiter_that_raises_fails_the_scenario_by_name(tmp_path: Path) -> None:
    waiter = tmp_path / "broken_waiters.py"
    waiter.write_text("def broken(cluster):\n    raise KeyError('boom')\n")
    autoscaler = OutsideController("autoscaler", toy_command("autoscaler"), waiter=f"{waiter}:broken", timeout="20s")
    items = create(1, node("n1", 1)), create(1, pod("a")), done(1)
    played = Played(operations(*items, simulated=("scheduler", "autoscaler")), tmp_path, autoscaler)
    assert played.phase == "Failed"
    assert "outside controller autoscaler has a waiter that raised KeyError: 'boom'" in played.message


@pytest.mark.parametrize(("waiter", "why"), [("nothing", "FILE.py:function"), ("os:no_such", "no function no_such")])
def test_a_waiter_that_cannot_be_used_is_refused(waiter: str, why: str, tmp_path: Path) -> None:
    from seatrial.model.errors import ConfigError

    with pytest.raises(ConfigError, match=why):
        Played(operations(done(1)), tmp_path, OutsideController("a", (sys.executable,), waiter=waiter))
