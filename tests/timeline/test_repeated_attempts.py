"""Attempts of earlier steps: an entry gives them in short, since entries of their steps have them whole."""

import gc
from pathlib import Path
from typing import Any

import pytest

from seatrial import Result
from seatrial.timeline.attempt_lists import AttemptList
from tests.scenario.playing import create, done, operations
from tests.scenario.running import Run, node, pod

STEPS = 9


def waiting(steps: int = STEPS, pods: int = 1, **options: Any) -> Run:
    """Pods that fit nowhere; in each step something else happens."""
    huge = [create(1, pod(f"huge-{number}", cpu="64")) for number in range(pods)]
    others = [create(step, pod(f"small-{step}", cpu="1m")) for step in range(1, steps + 1)]
    return Run(operations(create(1, node("n")), *others, *huge, done(steps)), **options)


def lists(run: Run) -> list[list[dict[str, Any]]]:
    return [entry["podUnscheduled"]["scheduleResult"] for entry in run.entries("podUnscheduled")]


def attempts(items: list[dict[str, Any]]) -> int:
    return sum(item.get("attempts", 1) for item in items)


def test_an_attempt_is_whole_in_the_entry_of_its_step_and_only_there() -> None:
    for step, items in enumerate(lists(waiting()), 1):
        own = [item for item in items if item["step"]["major"] == step]
        assert len(own) >= 2
        assert all("pluginResults" in item for item in own)
        assert not any("pluginResults" in item for item in items if item not in own)


def test_of_many_earlier_attempts_the_number_is_given() -> None:
    last = lists(waiting())[-1]
    assert attempts(last) == 2 * STEPS
    first, *others = last
    assert first["attempts"] > 1
    assert set(first) == {"step", "attempts"}
    assert all("attempts" not in item for item in others)


def test_on_request_attempts_are_repeated_whole() -> None:
    last = lists(waiting(full_repeat=True))[-1]
    assert len(last) == 2 * STEPS
    assert all("pluginResults" in item for item in last)


@pytest.mark.parametrize("full_repeat", [True, False])
def test_a_run_keeps_one_list_of_attempts_for_pods_that_were_tried_alike(full_repeat: bool) -> None:
    before = lists_in_memory()
    run = waiting(pods=3, full_repeat=full_repeat, cells=0)
    there = {id(history.listed) for history in run.simulation.scenario_run.timeline.pods}
    assert len(there) < STEPS + 2  # one for each small pod, and one for all that wait
    assert lists_in_memory() - before <= len(there)


def lists_in_memory() -> int:
    gc.collect()
    return sum(isinstance(each, AttemptList) for each in gc.get_objects())


@pytest.mark.parametrize("alone", [True, False])
def test_both_forms_are_read_alike(tmp_path: Path, alone: bool) -> None:
    found = []
    for full_repeat in (False, True):
        folder = tmp_path / str(full_repeat)
        waiting(full_repeat=full_repeat).result.save(folder)
        if alone:
            (folder / "timeline.parquet").unlink()
        loaded = Result.load(folder)
        found.append((loaded.pods.to_dicts(), str(loaded.explain("huge-0"))))
    assert found[0] == found[1]
    assert next(row for row in found[0][0] if row["name"] == "huge-0")["attempts"] == 2 * STEPS
