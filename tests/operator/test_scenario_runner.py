"""`seatrial scenario-runner` against the API server of a simulator, and what it makes of template files."""

import json
import os
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seatrial.model.errors import ConfigError
from seatrial.model.yaml_reader import dump
from seatrial.operator.scenario_runner import RunnerError, RunnerOptions, ScenarioRunner
from seatrial.operator.scenario_template import read_template
from seatrial.scenario.spec.kind import API_VERSION
from tests.operator.kubelet import SEATRIAL, free_port
from tests.operator.objects import node, scenario, write_scenario
from tests.outside.processes import Serve
from tests.proofs import proves

SCENARIOS = f"/apis/{API_VERSION}/scenarios"
EVENTS_DONE = {"step": 3, "operation": "Done", "doneOperation": {"done": True}}


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    with Serve(tmp_path_factory.mktemp("simulator"), "--insecure") as serve:
        yield serve


def run(port: int, template: Path, result: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run it as its container does: everything in the environment."""
    variables = {
        "SIMULATOR_KUBE_APISERVER_PORT": str(port),
        "SCENARIO_TEMPLATE_FILE_PATH": str(template),
        "SCENARIO_RESULT_FILE_PATH": str(result),
    }
    return subprocess.run(
        [*SEATRIAL, "scenario-runner", *flags],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | variables,
        check=False,
    )


def served(simulator: Serve, name: str) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{simulator.url}{SCENARIOS}/{name}", timeout=60) as answer:
        return json.loads(answer.read())


@proves("S-024", "S-030", "S-031")
def test_it_creates_the_scenario_and_stores_its_result(simulator: Serve, tmp_path: Path) -> None:
    """The file holds the Scenario as the API server has it, and the exit code is 0."""
    template = write_scenario(tmp_path, "stored")
    done = run(simulator.port, template, tmp_path / "results" / "result.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "results" / "result.json").read_bytes()) == served(simulator, "stored")
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["result.json"]


def test_a_runner_that_is_started_again_follows_the_same_scenario(simulator: Serve, tmp_path: Path) -> None:
    template = write_scenario(tmp_path, "again")
    for _ in range(2):
        done = run(simulator.port, template, tmp_path / "result.json")
        assert done.returncode == 0, done.stderr
    assert "scenario again exists already" in done.stderr


def test_yaml_and_generators_that_read_files_are_expanded(simulator: Serve, tmp_path: Path) -> None:
    document = scenario("generated", pods=0)
    document["spec"]["generators"] = [{"step": 1, "from": {"file": "nodes.yaml"}}]
    (tmp_path / "scenario.yaml").write_text(dump(document))
    (tmp_path / "nodes.yaml").write_text(dump(node("from-file")))
    done = run(simulator.port, tmp_path / "scenario.yaml", tmp_path / "result.json")
    assert done.returncode == 0, done.stderr
    assert "from-file" in (tmp_path / "result.json").read_text()


def test_a_file_that_the_simulator_refuses_is_named(simulator: Serve, tmp_path: Path) -> None:
    document = scenario("refused")
    document["spec"]["operations"][0]["step"] = -1
    (tmp_path / "scenario.json").write_text(json.dumps(document))
    done = run(simulator.port, tmp_path / "scenario.json", tmp_path / "result.json")
    assert done.returncode == 2
    assert f"{tmp_path}/scenario.json: " in done.stderr
    assert "spec.operations[0].step" in done.stderr
    assert not (tmp_path / "result.json").exists()


def test_an_api_server_that_never_comes_is_named(tmp_path: Path) -> None:
    port = free_port()
    done = run(port, write_scenario(tmp_path), tmp_path / "result.json", "--wait", "0")
    assert done.returncode == 1
    assert f"http://127.0.0.1:{port} was not ready within 0 s" in done.stderr


def test_a_result_that_was_there_stays_until_the_new_one_is_whole(simulator: Serve, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    result.write_text("old")
    assert run(simulator.port, tmp_path / "absent.json", result).returncode == 2
    assert result.read_text() == "old"
    assert run(simulator.port, write_scenario(tmp_path, "new"), result).returncode == 0
    assert json.loads(result.read_bytes())["metadata"]["name"] == "new"


@proves("S-034")
def test_a_simulator_that_is_gone_ends_the_runner(tmp_path: Path) -> None:
    """A server that answers twice, when it is ready and when the Scenario is created, and then no more."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer_twice() -> None:
        for body in (b"ok", b"{}"):
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
        listener.close()

    thread = threading.Thread(target=answer_twice)
    thread.start()
    port = listener.getsockname()[1]
    options = RunnerOptions(write_scenario(tmp_path), tmp_path / "result.json", port, silence=0.5)
    with pytest.raises(RunnerError, match=f"http://127.0.0.1:{port} no longer answers"):
        ScenarioRunner(options, lambda text: None).run()
    thread.join(10)


@pytest.mark.parametrize("text", ["[1, 2", "{}", "apiVersion: v1\nkind: Pod\n"])
def test_what_is_no_scenario_is_refused_with_its_path(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"scenario\.yaml"):
        read_template(path)


def test_json_goes_out_as_it_is(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, "plain")
    template = read_template(path)
    assert (template.name, template.body) == ("plain", path.read_bytes())


def test_done_is_appended_in_the_spelling_of_the_scenario(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, done=False)
    operations = json.loads(read_template(path, append_done=True).body)["spec"]["operations"]
    assert operations[-1] == {"step": 2, "doneOperation": {}}
    create = {"id": "n", "step": 3, "operation": "Create", "createOperation": {"object": node("n")}}
    path.write_text(json.dumps({**scenario("first"), "spec": {"events": [create]}}))
    events = json.loads(read_template(path, append_done=True).body)["spec"]["events"]
    assert events[-1] == EVENTS_DONE
