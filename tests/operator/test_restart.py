"""The operator may be killed anywhere: a simulation ends as if nothing had happened, and nothing is made twice."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.operator.cluster import Cluster, seatrial_cluster
from tests.operator.kubelet import Kubelet
from tests.operator.objects import simulation, write_scenario
from tests.operator.processes import OperatorProcess
from tests.operator.stepping import POD, Crash, Stepping

TURNS = 12


async def carry_out(world: Stepping) -> int:
    """Take turns until the simulation has ended; how often the operator crashed."""
    crashes = 0
    for _ in range(TURNS):
        try:
            await world.turn()
        except Crash:
            crashes += 1
            world.start()
        await world.settle()
    return crashes


def check(world: Stepping, number: int, moment: str) -> None:
    """One crash: the same end, one object of each kind, nothing left over."""
    world.begin(simulation("one", Path("/data")))
    world.client.crash_at = number, moment
    assert asyncio.run(carry_out(world)) == 1
    status = asyncio.run(world.status())
    assert status["phase"] == "Completed", (number, moment)
    assert status["message"] == "the result is in /mnt/result.json"
    created = world.client.created
    assert [created.count(kind) for kind in ("simulators", "pods", "services")] == [1, 1, 1]
    # A crash between a change and its event loses the event, never the change.
    assert created.count("events") in (1, 2)
    for path in (POD, POD.replace("pods", "services"), world.path.replace("schedulersimulations", "simulators")):
        assert world.server("GET", path).status == 404


def test_a_crash_before_or_after_any_request_changes_nothing() -> None:
    world = Stepping()
    world.begin(simulation("one", Path("/data")))
    assert asyncio.run(carry_out(world)) == 0
    assert asyncio.run(world.status())["phase"] == "Completed"
    count = world.client.requests
    assert count > 20
    # Requests after the end only look whether something is left.
    for number in range(1, count - 2):
        for moment in ("before", "after"):
            check(world, number, moment)


def condition(cluster: Cluster, step: int) -> bool:
    """Whether a step of the flow has been taken."""
    simulation, simulator, pod = cluster.simulation("one"), cluster.simulator("one"), cluster.pod("one")
    status = simulation.get("status") or {}
    states = {each["name"]: each["state"] for each in ((pod or {}).get("status") or {}).get("containerStatuses", ())}
    ended = "terminated" in states.get("scenario-runner", {})
    return [
        True,
        simulator is not None,
        "running" in states.get("scenario-runner", {}),
        ((simulator or {}).get("status") or {}).get("phase") == "Available",
        ended or bool(status.get("conditions")),
        bool(status.get("conditions")),
        bool(status.get("startTime")) and bool(status.get("conditions")) and simulator is None,
        bool(status.get("phase")),
    ][step]


def reached(cluster: Cluster, step: int) -> bool:
    """Whether a step is seen, or the simulation is over."""
    return condition(cluster, step) or condition(cluster, 7)


def survive(directory: Path, steps: list[int]) -> None:
    """Kill the operator as soon as each of these steps is seen, and start it again."""
    write_scenario(directory / "files")
    with (
        seatrial_cluster(directory) as cluster,
        Kubelet(cluster, directory / "pods") as kubelet,
        OperatorProcess(cluster.kubeconfig, directory / "operator.log") as operator,
    ):
        cluster.create(simulation("one", directory / "files"))
        for step in steps:
            cluster.wait_for(partial(reached, cluster, step), f"step {step}")
            operator.kill()
            operator.start()
        assert cluster.ended("one")["phase"] == "Completed"
        cluster.wait_for(lambda: cluster.pod("one") is None, "the Pod is gone")
        assert cluster.simulator("one") is None
        assert kubelet.started == ["one"]
        result: Any = json.loads((directory / "files" / "result.json").read_bytes())
        assert result["status"]["phase"] == "Succeeded"


def test_an_operator_that_is_killed_during_the_run_goes_on(tmp_path: Path) -> None:
    survive(tmp_path, [2])


@pytest.mark.long
@pytest.mark.parametrize("steps", [[0], [1], [2], [3], [4], [5], [6], [7], [0, 1, 2, 3, 4, 5, 6]])
def test_an_operator_that_is_killed_at_a_step_goes_on(tmp_path: Path, steps: list[int]) -> None:
    survive(tmp_path, steps)


@pytest.mark.long
def test_a_runner_that_ends_while_there_is_no_operator_is_not_lost(tmp_path: Path) -> None:
    write_scenario(tmp_path / "files")
    with seatrial_cluster(tmp_path) as cluster, Kubelet(cluster, tmp_path / "pods") as kubelet:
        operator = OperatorProcess(cluster.kubeconfig, tmp_path / "operator.log")
        with operator:
            cluster.create(simulation("one", tmp_path / "files"))
            cluster.wait_for(lambda: condition(cluster, 2), "the runner runs")
            operator.kill()
        cluster.wait_for(lambda: condition(cluster, 4), "the runner has ended")
        assert not cluster.simulation("one")["status"].get("phase")
        with operator:
            assert cluster.ended("one")["phase"] == "Completed"
        assert kubelet.started == ["one"]
