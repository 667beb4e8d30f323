"""What became of a simulation, from the states of its objects."""

from pathlib import Path
from typing import Any

import pytest

from seatrial.model.times import SECOND, parse_time
from seatrial.operator.outcome import Deadlines, next_deadline, outcome_of, persistence_warning
from seatrial.operator.simulator_controller import phase_of
from tests.operator.objects import simulation
from tests.proofs import proves

START = "2030-01-01T00:00:00Z"
NOW = parse_time(START)


def pod(phase: str = "Running", **states: dict[str, Any]) -> dict[str, Any]:
    """A Pod whose containers are in these states."""
    statuses = [{"name": name.replace("_", "-"), "state": state} for name, state in states.items()]
    return {"metadata": {"name": "one"}, "status": {"phase": phase, "containerStatuses": statuses}}


def ended(code: int, **more: str) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, **more}}


def asked(**spec: Any) -> dict[str, Any]:
    return {**simulation("one", Path("/data"), **spec), "status": {"startTime": START}}


def simulator(phase: str = "Creating", message: str = "") -> dict[str, Any]:
    metadata = {"name": "one", "creationTimestamp": START}
    return {"metadata": metadata, "status": {"phase": phase, "message": message}}


def outcome(found: dict[str, Any] | None, deadlines: Deadlines | None = None, seconds: int = 0, **spec: Any) -> Any:
    chosen = deadlines or Deadlines(300, 0)
    return outcome_of(asked(**spec), simulator(message="no node"), found, chosen, NOW + seconds * SECOND)


@proves("S-031", "S-034")
@pytest.mark.parametrize(
    ("found", "reason", "message"),
    [
        (pod(scenario_runner=ended(0)), "Succeeded", "the result is in /mnt/result.json"),
        (
            pod(scenario_runner=ended(1, reason="Error", message="waiting\nseatrial: scenario s Failed: why\n\n")),
            "ScenarioRunnerFailed",
            "container scenario-runner ended with exit code 1: scenario s Failed: why",
        ),
        (
            pod(scenario_runner=ended(137, reason="OOMKilled")),
            "ScenarioRunnerFailed",
            "container scenario-runner ended with exit code 137 (OOMKilled)",
        ),
        (
            pod(scenario_runner={"running": {}}, simulator=ended(137, reason="OOMKilled")),
            "SimulatorEnded",
            "container simulator ended with exit code 137 (OOMKilled)",
        ),
        (pod(scenario_runner=ended(0), simulator=ended(1)), "Succeeded", "the result is in /mnt/result.json"),
        (
            {
                "metadata": {"name": "one"},
                "status": {"phase": "Failed", "reason": "Evicted", "message": "low on memory"},
            },
            "PodFailed",
            "the Pod one failed: Evicted: low on memory",
        ),
    ],
)
def test_containers_decide(found: dict[str, Any], reason: str, message: str) -> None:
    assert (outcome(found).reason, outcome(found).message) == (reason, message)


def test_while_both_run_there_is_no_outcome() -> None:
    assert outcome(pod(scenario_runner={"running": {}}, simulator={"running": {}})) is None
    assert outcome(None) is None


@proves("S-034")
def test_a_simulator_that_is_not_available_in_time_fails_the_simulation() -> None:
    late = outcome(None, Deadlines(300, 0), seconds=300)
    assert late.message == "the Simulator one was not Available within 300 s: no node"
    assert outcome(None, Deadlines(300, 0), seconds=299) is None
    available = outcome_of(asked(), simulator("Available"), None, Deadlines(300, 0), NOW + 999 * SECOND)
    assert available is None


@proves("S-034")
def test_the_deadline_of_the_spec_comes_before_that_of_the_operator() -> None:
    assert outcome(None, Deadlines(0, 60), seconds=60).message == "not finished within 60 s"
    assert outcome(None, Deadlines(0, 60), seconds=60, activeDeadlineSeconds=90) is None
    assert outcome(None, Deadlines(0, 60), seconds=90, activeDeadlineSeconds=90).reason == "DeadlineExceeded"
    assert outcome(None, Deadlines(0, 0), seconds=10**6) is None


def test_the_next_look_is_at_the_next_deadline() -> None:
    deadlines = Deadlines(300, 60)
    assert next_deadline(asked(), simulator(), deadlines, NOW) == 60
    assert next_deadline(asked(), simulator(), Deadlines(300, 0), NOW + 100 * SECOND) == 200
    assert next_deadline(asked(), simulator("Available"), Deadlines(300, 0), NOW) is None
    assert next_deadline(asked(), simulator(), deadlines, NOW + 999 * SECOND) == 0


@proves("S-015")
def test_a_result_outside_every_mount_is_warned_of() -> None:
    assert persistence_warning(asked()["spec"]) == ""
    outside = asked(scenarioResultFilePath="/elsewhere/result.json")["spec"]
    assert "scenarioResultFilePath /elsewhere/result.json is outside /mnt" in persistence_warning(outside)
    mounted = {"name": "scenario-runner", "volumeMounts": [{"name": "mine", "mountPath": "/elsewhere/"}]}
    outside["simulatorSpec"] = {"podTemplate": {"spec": {"containers": [mounted]}}}
    assert persistence_warning(outside) == ""
    no_volume = simulation("one", None)["spec"]
    assert "outside" in persistence_warning(no_volume)


@proves("S-038")
@pytest.mark.parametrize(
    ("found", "phase", "message"),
    [
        (None, "Creating", "the Pod is being replaced"),
        ({"metadata": {"deletionTimestamp": START}}, "Creating", "the Pod is being replaced"),
        ({"metadata": {}}, "Creating", "waiting for the container simulator to be ready"),
        (
            {
                "metadata": {},
                "status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes fit"}]},
            },
            "Creating",
            "the Pod is not scheduled: 0/3 nodes fit",
        ),
        (
            pod(simulator={"waiting": {"reason": "ErrImagePull", "message": "no such image"}}),
            "Creating",
            "container simulator: ErrImagePull: no such image",
        ),
        (
            {"metadata": {}, "status": {"containerStatuses": [{"name": "simulator", "ready": True, "state": {}}]}},
            "Available",
            "",
        ),
    ],
)
def test_a_simulator_says_what_it_waits_for(found: dict[str, Any] | None, phase: str, message: str) -> None:
    assert phase_of(found) == (phase, message)
