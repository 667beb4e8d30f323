"""What whole runs cost, counted without a clock: function calls, decoded pods and bytes written."""

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from seatrial.bench import ratio_scenarios
from seatrial.model.documents import decode
from seatrial.scheduler.queue.queueing_hints import Hinting
from seatrial.store import View
from tests.scenario.playing import create, done, operations, patch
from tests.scenario.running import Run, node, pod


class Calls:
    """Counts the calls of functions, built-in ones included, while something runs."""

    def __init__(self) -> None:
        self.number = 0

    def _count(self, frame: FrameType, event: str, argument: Any) -> None:
        if event in ("call", "c_call"):
            self.number += 1

    def of(self, work: Callable[[], object]) -> int:
        self.number = 0
        before = sys.getprofile()
        sys.setprofile(self._count)
        try:
            work()
        finally:
            sys.setprofile(before)
        return self.number


def played(path: Path) -> Run:
    return Run(decode(path.read_bytes())["spec"], record="summary")


def calls_of_job(folder: Path, pods: int) -> int:
    path = ratio_scenarios.one_job(folder / f"job-{pods}.json", pods)
    return Calls().of(lambda: played(path))


def test_a_pod_of_a_large_job_costs_what_one_of_a_small_job_costs(tmp_path: Path) -> None:
    calls_of_job(tmp_path, 3)  # what is computed once in a process
    least, few, many = (calls_of_job(tmp_path, pods) for pods in (1, 50, 300))
    assert (many - least) / 299 <= 1.2 * (few - least) / 49


def test_result_json_grows_with_the_steps_and_not_with_their_square(tmp_path: Path) -> None:
    sizes = []
    for steps in (10, 40):
        run = played(ratio_scenarios.pending(tmp_path / f"{steps}.json", 100, steps))
        run.result.save(tmp_path / str(steps))
        sizes.append((tmp_path / str(steps) / "result.json").stat().st_size)
    assert sizes[1] <= 4 * sizes[0]


def waiting(steps: int, pods: int, **spec: Any) -> dict[str, Any]:
    """Pods that stay pending while a node changes in each step."""
    nodes = [node(f"n{number}") for number in range(3)]
    changes = [patch(step, nodes[0], {"metadata": {"labels": {"step": str(step)}}}) for step in range(2, steps + 1)]
    tried = [create(1, pod(f"huge-{number}", cpu="64", **spec)) for number in range(pods)]
    return operations(*(create(1, each) for each in nodes), *tried, *changes, done(steps))


@pytest.mark.parametrize("pods", [0, 20])
def test_a_late_step_costs_what_an_early_one_costs(pods: int) -> None:
    Run(waiting(3, pods), record="summary")
    few, many = (Calls().of(partial(Run, waiting(steps, pods), record="summary")) for steps in (10, 40))
    assert many <= 4.4 * few


def test_a_node_that_changes_costs_the_same_however_many_equal_pods_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    plain = Hinting.worth

    def counted(hinting: Hinting, *about: Any) -> Any:
        nonlocal asked
        asked += 1
        return plain(hinting, *about)

    monkeypatch.setattr(Hinting, "worth", counted)
    numbers = []
    for pods in (10, 100):
        asked = 0
        Run(waiting(10, pods, nodeSelector={"zone": "none"}), record="summary")
        numbers.append(asked - pods)  # a pod is asked about itself when its status is written
    assert numbers[0] == numbers[1] > 0


def test_pods_of_a_generator_are_prepared_and_decoded_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: Counter[View[Any]] = Counter()
    plain = View._made

    def counted(view: View[Any], seen: Any) -> Any:
        decoded[view] += 1
        return plain(view, seen)

    monkeypatch.setattr(View, "_made", counted)
    nodes = [create(1, node(f"n{number}", cpu="32")) for number in range(10)]
    run = Run(operations(*nodes, *(create(2, pod(f"p{number}", cpu="1m")) for number in range(200)), done(2)))
    assert run.simulation.scenario_run.store.templates.used >= 198 + 8
    # The first two pods and nodes take the whole way, and each write to them is decoded.
    assert 1 < max(decoded.values()) <= 24


def test_an_event_of_a_pod_is_created_from_a_template() -> None:
    nodes = [create(1, node(f"n{number}", cpu="32")) for number in range(5)]
    pods = [create(2, pod(f"p{number}", cpu="1m")) for number in range(50)]
    run = Run(operations(*nodes, *pods, done(2)), record="full")
    events = len(run.all("Event"))
    assert events >= 50
    assert run.simulation.scenario_run.store.templates.used >= 48 + events - 8
