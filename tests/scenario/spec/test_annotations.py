"""Annotations of ours that cannot be read end the scenario and are named; those that do not exist are doubtful."""

from typing import Any

import pytest

from seatrial.scenario.dry_run import Finding, rehearse
from seatrial.scenario.spec.kind import GROUP
from seatrial.scenario.spec.plan import expand_and_number
from tests.scenario.playing import create, done, operations, patch
from tests.scenario.running import Run, node, pod
from tests.scenario.test_time import job


def annotated(key: str, value: str) -> dict[str, Any]:
    document = pod("p")
    document["metadata"]["annotations"] = {f"{GROUP}/{key}": value}
    return document


def rehearsed(*items: dict[str, Any], snapshot: tuple[dict[str, Any], ...] = ()) -> list[Finding]:
    _, planned = expand_and_number({"spec": operations(*items)})
    return list(rehearse(planned, snapshot))


BAD = [
    ("run-duration", "90x", 'unknown unit "x"'),
    ("run-duration", "90", "missing unit"),
    ("run-duration", "-5s", "-5s is negative"),
    ("run-duration", "", "invalid duration"),
    ("exit-code", "zz", "expected a whole number from 0 to 255, got 'zz'"),
    ("exit-code", "256", "expected a whole number from 0 to 255"),
    ("usage", "cpu=lots", "cpu: 'lots' is no quantity"),
    ("usage", "gpu=1", "expected cpu=QUANTITY,memory=QUANTITY, got 'gpu=1'"),
]


@pytest.mark.parametrize(("key", "value", "said"), BAD)
def test_an_annotation_that_cannot_be_read_is_an_error(key: str, value: str, said: str) -> None:
    (found,) = rehearsed(create(1, annotated(key, value)))
    assert (found.level, found.operation) == ("error", "op-1")
    assert found.message.startswith(f"Pod p: annotation {GROUP}/{key}: ")
    assert said in found.message


def test_a_run_fails_where_an_annotation_cannot_be_read() -> None:
    run = Run(operations(create(1, node("n")), create(1, job("j", "90")), done(2)), {"step_duration": "1m"})
    assert run.status["phase"] == "Failed"
    assert f"operation op-2: Job j: annotation {GROUP}/run-duration: " in run.status["message"]


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {"annotations": {f"{GROUP}/run-duration": "soon"}}},
        [{"op": "add", "path": "/metadata/annotations", "value": {f"{GROUP}/run-duration": "soon"}}],
    ],
)
def test_a_patch_is_looked_at_too(body: Any) -> None:
    run = Run(operations(create(1, pod("p")), patch(1, pod("p"), body), done(2)))
    assert run.status["phase"] == "Failed"
    assert f"operation op-2: Pod p: annotation {GROUP}/run-duration: " in run.status["message"]


def test_a_snapshot_is_looked_at_too() -> None:
    run = Run(operations(done(1)), snapshot=[annotated("run-duration", "90x")])
    assert run.status["phase"] == "Failed"
    assert f"Pod p: annotation {GROUP}/run-duration" in run.status["message"]
    found = rehearsed(snapshot=(annotated("run-duration", "90x"),))
    assert [finding.level for finding in found] == ["error"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("run-duration", "1h30m"), ("run-duration", "0s"), ("exit-code", "137"), ("usage", "cpu=250m, memory=1Gi")],
)
def test_what_can_be_read_is_no_finding(key: str, value: str) -> None:
    assert rehearsed(create(1, annotated(key, value))) == []


def test_an_unknown_annotation_of_ours_is_a_warning() -> None:
    (found,) = rehearsed(create(1, annotated("run-time", "90s")))
    assert found.level == "warning"
    assert found.message == (
        f"Pod p: annotation {GROUP}/run-time has no effect; there are run-duration, exit-code, usage, drain, drained"
    )
