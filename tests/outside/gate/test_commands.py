"""`run`, `compare` and `serve` with outside controllers, as commands."""

import asyncio
import base64
import json
import os
import shlex
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from seatrial import api
from seatrial.model.errors import ConfigError
from seatrial.results import Result
from seatrial.results.measure import all_measures
from tests.examples.serving import SCENARIOS
from tests.outside.gate.playing import toy_command
from tests.outside.processes import Serve, wait_until
from tests.scenario.playing import create, done, events, node, operations, pod, scenario

SEATRIAL = Path(sys.executable).with_name("seatrial")
EXAMPLE = Path(__file__).parents[3] / "examples" / "outside-scheduler"


def seatrial(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(SEATRIAL), *arguments], capture_output=True, text=True, timeout=120)


def test_the_example_runs_as_its_first_lines_say(tmp_path: Path) -> None:
    outside = f"scheduler={sys.executable} {EXAMPLE / 'scheduler.py'}"
    options = ("--outside", outside, "--explain-with-model", "--out", str(tmp_path), "--json")
    done = seatrial("run", str(EXAMPLE / "scenario.yaml"), *options)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["phase"], summary["pods"]["scheduled"], summary["pods"]["pending"]) == ("Succeeded", 12, 2)
    (row,) = all_measures()["outside_time"].compute(Result.load(tmp_path).run).to_dicts()
    assert row["decisions"] >= 14
    assert 0 < row["p50"] <= row["p99"] < 120
    assert row["cpu"] > 0
    assert "decisions compared, none differs" in summary["message"]
    assert (tmp_path / "outside" / "scheduler.log").exists()


def test_python_names_programs_as_the_command_does() -> None:
    """Also where the thread has an event loop, as in a notebook."""

    async def run() -> Result:
        return api.run(
            EXAMPLE / "scenario.yaml", outside=f"scheduler={sys.executable} {EXAMPLE / 'scheduler.py'}",
            explain_with_model=True,
        )  # fmt: skip

    result = asyncio.run(run())
    assert (result.phase, result.pods["node"].null_count(), len(result.pods)) == ("Succeeded", 2, 14)
    assert "decisions compared, none differs" in result.message


def test_python_refuses_a_program_that_the_scenario_does_not_name() -> None:
    with pytest.raises(ConfigError, match="the scenario does not name autoscaler"):
        api.run(EXAMPLE / "scenario.yaml", outside=["autoscaler=/bin/true"])


def test_an_outside_scheduler_is_compared_with_a_configuration(tmp_path: Path) -> None:
    outside = f"scheduler={sys.executable} {EXAMPLE / 'scheduler.py'}"
    sides = ("--scheduler-config", "default", "--outside", outside)
    path = str(EXAMPLE / "scenario.yaml")
    done = seatrial("compare", "--scenario", path, *sides, "--out", str(tmp_path), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert [run if isinstance(run, str) else run["name"] for run in json.loads(done.stdout)["runs"]] == [
        "default",
        Path(sys.executable).name,
    ]


def test_options_that_need_an_outside_scheduler_are_refused(tmp_path: Path) -> None:
    path = str(EXAMPLE / "scenario.yaml")
    done = seatrial("run", path, "--explain-with-model", "--out", str(tmp_path / "out"))
    assert (done.returncode, "--explain-with-model: goes with --outside" in done.stderr) == (2, True)
    done = seatrial("run", path, "--outside", "scheduler=/no/such/program", "--out", str(tmp_path / "out"))
    assert (done.returncode, "/no/such/program is not a program" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_controller_that_could_not_take_part_in_a_run_is_refused(tmp_path: Path) -> None:
    path, out = str(EXAMPLE / "scenario.yaml"), ("--out", str(tmp_path / "out"))
    done = seatrial("run", path, "--outside", f"sheduler={sys.executable}", *out)
    assert (done.returncode, "does not name sheduler, only scheduler" in done.stderr) == (2, True)
    running = tmp_path / "outside.yaml"
    running.write_text("controllers: [{name: scheduler}]\n")
    done = seatrial("run", path, "--outside", str(running), *out)
    assert (done.returncode, "controller scheduler: command: missing" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


class Served:
    """The Scenarios of a server, asked for as its administrator."""

    def __init__(self, server: Serve) -> None:
        config = yaml.safe_load(server.kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._tls = ssl.create_default_context(cadata=authority)
        token = next(user["user"]["token"] for user in config["users"] if "token" in user["user"])
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._url = cluster["server"] + SCENARIOS

    def play(self, name: str, spec: dict[str, Any]) -> dict[str, Any]:
        """Create a Scenario and wait until it rests; its status."""
        document = scenario(spec)
        self._send("POST", "", {**document, "metadata": {"name": name}})
        wait_until(lambda: self._status(name).get("phase") in ("Succeeded", "Failed"), 60, f"{name} rests")
        return self._status(name)

    def _status(self, name: str) -> dict[str, Any]:
        return self._send("GET", f"/{name}").get("status") or {}

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self._url + path, data, self._headers, method=method)
        with urllib.request.urlopen(request, context=self._tls) as answer:
            return json.loads(answer.read())


ONE_POD = operations(create(1, node("n1")), create(1, pod("a")), done(1))


def test_without_any_scheduler_a_scenario_fails_with_the_remedy(tmp_path: Path) -> None:
    with Serve(tmp_path / "state", "--no-scheduler", "--controllers", "") as server:
        served = Served(server)
        for name, spec in (("second", ONE_POD), ("first", events(create(1, pod("a")), done(1)))):
            status = served.play(name, spec)
            assert status["phase"] == "Failed"
            assert "--no-scheduler" in status["message"]
            assert "--outside 'scheduler=COMMAND'" in status["message"]


def test_the_server_goes_on_after_an_outside_scheduler_has_crashed(tmp_path: Path) -> None:
    toy = f"scheduler={shlex.join(toy_command('scheduler', MODE='crash'))}"
    with Serve(tmp_path / "state", "--no-scheduler", "--controllers", "", "--outside", toy) as server:
        served = Served(server)
        two = operations(create(1, node("n1")), create(1, pod("a")), create(1, pod("b")), done(1))
        for name in ("one", "two"):
            status = served.play(name, two)
            assert status["phase"] == "Failed"
            assert "outside controller scheduler exited with code 1" in status["message"]


def test_a_scheduler_that_is_already_running_takes_part(tmp_path: Path) -> None:
    """It follows the cluster before, between and after scenarios with the kubeconfig that was placed for it."""
    path = tmp_path / "outside.yaml"
    path.write_text("controllers: [{name: scheduler, user: system:my-scheduler}]\n")
    with Serve(tmp_path / "state", "--no-scheduler", "--controllers", "", "--outside", str(path)) as server:
        placed = server.state / "outside" / "scheduler.kubeconfig"
        environment = os.environ | {"KUBECONFIG": str(placed)}
        with subprocess.Popen(toy_command("scheduler"), env=environment) as toy:
            try:
                served = Served(server)
                for name in ("one", "two"):
                    status = served.play(name, ONE_POD)
                    assert (status["phase"], status.get("message")) == ("Succeeded", "done in step 1")
                    timeline = status["scenarioResult"]["timeline"]["1"]
                    assert [entry["step"]["minor"] for entry in timeline if "podScheduled" in entry] == [1]
            finally:
                toy.terminate()
