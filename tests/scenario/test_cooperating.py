"""Controllers and schedulers that run beside the engine."""

import threading
from collections.abc import Iterator
from typing import Any

from seatrial.scenario.cooperating import SchedulingHook, StoreStatuses, TriedTwice, check_scenario_step_phase
from seatrial.scenario.spec.kind import SCENARIO
from tests.scenario.playing import create, operations
from tests.scenario.running import node
from tests.scenario.test_scenario_controller import Server


def status(phase: str, running: str = "hoge-controller") -> dict[str, Any]:
    return {"phase": "Running", "stepStatus": {"phase": phase, "runningSimulationController": running}}


def read(statuses: list[dict[str, Any]]) -> tuple[Iterator[dict[str, Any]], list[dict[str, Any]]]:
    """A stream of statuses, and what was not read of it."""
    left = list(statuses)
    return iter(lambda: left.pop(0), None), left


def test_a_controller_that_is_not_paused_goes_on_at_once() -> None:
    """V2-072 V2-073 V2-074"""
    for first in (status("ControllerRunning"), status("ControllerPaused", "another"), {}):
        stream, left = read([first, status("OperatingCompleted")])
        check_scenario_step_phase("hoge-controller", stream)
        assert len(left) == 1


def test_a_paused_controller_waits_for_operating_completed() -> None:
    """V2-065 V2-074 V2-048"""
    stream, left = read([status("ControllerPaused"), status("ControllerPaused"), status("OperatingCompleted"), {}])
    check_scenario_step_phase("hoge-controller", stream)
    assert left == [{}]


def test_a_thread_in_this_process_is_woken_by_the_store() -> None:
    server = Server()
    server.create(operations(create(1, node("n"))))
    set_status(server, status("ControllerPaused"))
    waiting = threading.Thread(target=check_scenario_step_phase, args=("hoge-controller", StoreStatuses(server.store)))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    set_status(server, status("OperatingCompleted"))
    waiting.join(10)
    assert not waiting.is_alive()


def set_status(server: Server, wanted: dict[str, Any]) -> None:
    server.store.modify(
        SCENARIO, "play", lambda document: document.update(status=wanted), writer="scenario", subresource="status"
    )


def test_the_example_of_the_kep_is_finished_at_the_eighth_try() -> None:
    """V1-085 V1-086 V1-088: only what is taken and what is bound is seen."""
    detector = TriedTwice()
    finished = []
    for pod, is_bound in [("1", False), ("2", True), *(((p, False)) for p in ("3", "4", "1", "3", "4", "1"))]:
        detector.take(pod)
        if is_bound:
            detector.change()
        pending = {"1", "3", "4"} if "2" in finished or pod != "1" or finished else {"1", "2", "3", "4"}
        finished.append(detector.is_finished(pending))
    assert finished == [False] * 7 + [True]


def test_a_slow_binding_does_not_end_the_step() -> None:
    """V1-087: pod 1 was bound at its second try, but that is not visible yet."""
    detector = TriedTwice()
    for pod in ("1", "2"):
        detector.take(pod)
    detector.change()
    for pod in ("3", "4", "1"):
        detector.take(pod)
    assert not detector.is_finished({"1", "3", "4"})
    detector.change()
    assert not detector.is_finished({"3", "4"})


def test_the_hook_stops_and_restarts_a_scheduler() -> None:
    """V1-080 V1-083: it waits until the status lets it schedule, and notes what is tried."""
    hook = SchedulingHook()
    stream, left = read([{"schedulerStatus": "Stoped"}, {"schedulerStatus": "Running"}, {}])
    hook.next_pod("a", stream)
    assert left == [{}]
    hook.next_pod("a", iter([{"stepStatus": {"phase": "ControllerRunning"}}]))
    assert hook.detector.is_finished({"a"})
