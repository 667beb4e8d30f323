"""Scenarios on a `seatrial serve` process over real HTTP: large ones, killed ones, and the simulator's own routes."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seatrial.cli.serve import chosen_controllers
from tests.examples.serving import SCENARIOS, request, status_of, wait_for
from tests.outside.processes import Serve, wait_until
from tests.proofs import proves
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod

MEBIBYTE = 1024 * 1024
NODES, PODS = "/api/v1/nodes", "/api/v1/namespaces/default/pods"
CONFIGURATION = "/api/v1/schedulerconfiguration"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serve]:
    with Serve(tmp_path / "state", "--insecure") as server:
        yield server


def named(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    document = scenario(spec)
    return {**document, "metadata": {**document["metadata"], "name": name}}


def large(name: str, size: int) -> dict[str, Any]:
    """A Scenario of about `size` bytes: ConfigMaps as large as they may be."""
    filler = "x" * 1_000_000
    maps = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m-{n}"}, "data": {"filler": filler}}
        for n in range(size // len(filler))
    ]
    return named(name, operations(*(create(1, item) for item in maps), done(1)))


def slow(name: str, scheduler: str = "default-scheduler") -> dict[str, Any]:
    """A Scenario that takes a while, in many steps, since each of its pods is scheduled."""
    pods = [(step, f"p-{step}-{n}") for step in range(2, 200) for n in range(20)]
    steps = [create(step, pod(each, cpu="1m", schedulerName=scheduler)) for step, each in pods]
    nodes = [create(1, node(f"n-{n}", cpu="64", pods="1000")) for n in range(100)]
    return named(name, operations(*nodes, *steps, done(200)))


@proves("V1-006", "V2-006")
@pytest.mark.parametrize("mebibytes", [5, 50])
def test_a_large_scenario_is_accepted_and_played(server: Serve, mebibytes: int) -> None:
    body = json.dumps(large("large", (mebibytes + 1) * MEBIBYTE)).encode()
    assert len(body) > mebibytes * MEBIBYTE
    assert request(server.url + SCENARIOS, body, "POST")["metadata"]["name"] == "large"
    assert wait_for(server.url, "large", ("Succeeded", "Failed"))["status"]["phase"] == "Succeeded"


@proves("V1-006", "V2-006")
def test_what_is_larger_than_allowed_is_refused_with_413(tmp_path: Path) -> None:
    with Serve(tmp_path, "--insecure", "--max-request-bytes", str(3 * MEBIBYTE // 2)) as server:
        refused = request(server.url + SCENARIOS, large("large", 5 * MEBIBYTE), "POST")
        assert (refused["code"], refused["reason"]) == (413, "RequestEntityTooLarge")
        assert str(3 * MEBIBYTE // 2) in refused["message"]
        assert request(server.url + SCENARIOS, large("small", MEBIBYTE), "POST")["kind"] == "Scenario"


@proves("V1-103", "V1-104", "V2-086")
def test_a_scenario_that_ran_when_the_server_was_killed_has_failed(tmp_path: Path) -> None:
    """And one that was Pending is played."""
    data = ("--insecure", "--data-dir", str(tmp_path / "data"))
    server = Serve(tmp_path / "state", *data)
    server.start()
    request(server.url + SCENARIOS, slow("first"), "POST")
    request(server.url + SCENARIOS, named("second", operations(create(1, node("n")), done(1))), "POST")
    wait_until(lambda: _step(server, "first") >= 3, 30, "the first scenario is in its third step")
    assert status_of(server.url, "first")["phase"] == "Running"
    server.stop(signal.SIGKILL)
    with Serve(tmp_path / "state", *data, port=server.port) as again:
        status = status_of(again.url, "first")
        assert status["phase"] == "Failed"
        assert status["message"].startswith("the controller restarted while the Scenario was running")
        assert wait_for(again.url, "second", ("Succeeded", "Failed"))["status"]["phase"] == "Succeeded"


@proves("V1-105")
def test_a_scenario_that_runs_when_the_server_is_stopped_is_marked(tmp_path: Path) -> None:
    data = ("--insecure", "--data-dir", str(tmp_path / "data"))
    server = Serve(tmp_path / "state", *data)
    server.start()
    request(server.url + SCENARIOS, slow("play"), "POST")
    wait_until(lambda: _step(server, "play") >= 2, 30, "the scenario is under way")
    assert server.stop(signal.SIGTERM) == 0
    with Serve(tmp_path / "state", *data, port=server.port) as again:
        status = status_of(again.url, "play")
    assert status["phase"] == "Failed"
    assert status["message"].startswith("the server was stopped while the Scenario was running")


@proves("V1-004", "V1-005", "V2-005")
def test_scenarios_are_served_by_the_simulator_without_a_namespace(server: Serve) -> None:
    group = SCENARIOS.rpartition("/")[0]
    listed = {each["name"]: each["namespaced"] for each in request(server.url + group)["resources"]}
    assert listed["scenarios"] is False
    document = named("play", operations(create(1, node("n")), done(1)))
    refused = request(f"{server.url}{group}/namespaces/default/scenarios", document, "POST")
    assert refused["code"] == 404
    assert request(server.url + SCENARIOS, document, "POST")["metadata"]["name"] == "play"
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    scopes = {
        each["spec"]["names"]["plural"]: each["spec"]["scope"] for each in request(server.url + definitions)["items"]
    }
    assert scopes["scenarios"] == "Cluster"


def _step(server: Serve, name: str) -> int:
    step = (status_of(server.url, name).get("stepStatus") or {}).get("step") or {}
    return int(step.get("major", 0))


def test_the_scheduler_configuration_is_read_and_changed(server: Serve) -> None:
    before = request(server.url + CONFIGURATION)
    assert before["kind"] == "KubeSchedulerConfiguration"
    assert [profile["schedulerName"] for profile in before["profiles"]] == ["default-scheduler"]
    request(server.url + NODES, node("n"), "POST")
    request(server.url + PODS, pod("mine", schedulerName="mine"), "POST")
    assert request(server.url + CONFIGURATION, {"profiles": [{"schedulerName": "mine"}]}, "POST") is None
    wait_until(lambda: _node_of(server, "mine") == "n", 10, "the new profile has placed its pod")
    assert [p["schedulerName"] for p in request(server.url + CONFIGURATION)["profiles"]] == ["mine"]


def test_a_bad_scheduler_configuration_is_refused_and_the_old_one_stays(server: Serve) -> None:
    before = request(server.url + CONFIGURATION)
    bad = {"profiles": [{"schedulerName": "a", "plugins": {"score": {"enabled": [{"name": "Nobody"}]}}}]}
    refused = request(server.url + CONFIGURATION, bad, "POST")
    assert refused["code"] == 400
    assert "Nobody" in refused["message"]
    assert request(server.url + CONFIGURATION, ["no", "object"], "POST")["code"] == 400
    assert request(server.url + CONFIGURATION) == before


@proves("V1-044", "V1-108")
def test_a_change_of_configuration_over_http_fails_a_running_scenario(server: Serve) -> None:
    request(server.url + SCENARIOS, slow("play"), "POST")
    wait_until(lambda: _step(server, "play") >= 2, 30, "the scenario is under way")
    request(server.url + CONFIGURATION, {"profiles": [{"schedulerName": "mine"}]}, "POST")
    status = status_of(server.url, "play")
    assert status["phase"] == "Failed"
    assert "configuration was changed" in status["message"]


def test_a_reset_leaves_the_server_as_it_began(server: Serve) -> None:
    before = request(server.url + CONFIGURATION)
    request(server.url + CONFIGURATION, {"profiles": [{"schedulerName": "mine"}]}, "POST")
    request(server.url + NODES, node("n"), "POST")
    request(server.url + PODS, pod("p"), "POST")
    request(server.url + SCENARIOS, slow("play", "mine"), "POST")
    wait_until(lambda: status_of(server.url, "play").get("phase") == "Running", 30, "the scenario runs")
    assert request(f"{server.url}/api/v1/reset", method="PUT") is None
    for path in (NODES, PODS, SCENARIOS):
        assert request(server.url + path)["items"] == []
    assert request(server.url + CONFIGURATION) == before
    request(server.url + NODES, node("n"), "POST")
    request(server.url + PODS, pod("p"), "POST")
    wait_until(lambda: _node_of(server, "p") == "n", 10, "the server schedules again")


def _node_of(server: Serve, name: str) -> str:
    return str((request(f"{server.url}{PODS}/{name}").get("spec") or {}).get("nodeName", ""))


@pytest.mark.parametrize(
    ("given", "names", "modules"),
    [
        (None, None, ()),
        ([""], (), ()),
        (["job, pod"], ("job", "pod"), ()),
        (["a/own.py"], None, ("a/own.py",)),
        (["my.module", "job"], ("job",), ("my.module",)),
    ],
)
def test_controllers_are_names_or_modules(given: list[str] | None, names: Any, modules: tuple[str, ...]) -> None:
    assert chosen_controllers(given) == (names, modules)
