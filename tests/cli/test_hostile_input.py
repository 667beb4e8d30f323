"""Input that no run can satisfy: one message that says what and where, exit code 1 or 2, no traceback, no files."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.cli.test_broken_extensions import PROFILE, SPEC
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod

SEATRIAL = Path(sys.executable).with_name("seatrial")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(spec: dict[str, Any], **annotations: str) -> str:
    document = scenario(spec)
    document["metadata"]["annotations"] = annotations
    Path("scenario.json").write_bytes(orjson.dumps(document))
    return "scenario.json"


def run(*arguments: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command as a process; `limit` is the size of the largest file that it can write."""

    def bound() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [str(SEATRIAL), "run", "--no-report", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, preexec_fn=bound)


def refused(result: subprocess.CompletedProcess[str], code: int = 2) -> str:
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr


def generated(**generator: object) -> dict[str, Any]:
    body = {"createOperation": {"object": node("n-${index}")}}
    return operations(done(2)) | {"generators": [{"step": 1, **body, **generator}]}


def test_a_step_after_the_end_of_the_calendar_fails_the_scenario() -> None:
    duration = {"simulation.kube-scheduler-simulator.x-k8s.io/step-duration": "8760h"}
    said = refused(run(written(operations(create(1, node("a")), done(2_000_000)), **duration), "-q"), 1)
    assert "step 2000000 would begin after the year 9999" in said


def test_a_run_duration_beyond_the_calendar_never_ends() -> None:
    key = "simulation.kube-scheduler-simulator.x-k8s.io/run-duration"
    long = pod("x")
    long["metadata"]["annotations"] = {key: "2500000h"}
    for _ in range(2):
        result = run(written(operations(create(1, node("a")), create(2, long), done(3))), "-q", "--drain")
        assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("expression", ["+".join(["1"] * 20_000), "(" * 3_000 + "1" + ")" * 3_000])
def test_a_deep_generator_expression_is_refused(expression: str) -> None:
    said = refused(run(written(generated(count=1, id="${index}", step=f"${{={expression}}}"))))
    assert "spec.generators[0]" in said
    assert "nested too deeply" in said or "is not an expression" in said


@pytest.mark.parametrize("kind", ["file", "csv"])
def test_a_device_is_no_file_for_a_generator(kind: str) -> None:
    generator = {"step": 1, "from": {kind: "/dev/zero"}}
    if kind == "csv":
        generator["createOperation"] = {"object": node("n-${index}")}
    said = refused(run(written(operations(done(2)) | {"generators": [generator]})))
    assert "/dev/zero: is a device, expected a file" in said


@pytest.mark.parametrize("arguments", [["/dev/zero"], ["scenario.json", "--snapshot", "/dev/zero"]])
def test_a_device_is_no_input(arguments: list[str]) -> None:
    written(SPEC)
    assert "/dev/zero: is a device, expected a file" in refused(run(*arguments))


def test_a_count_that_cannot_fit_into_memory_is_refused_before_it_is_tried() -> None:
    said = refused(run(written(generated(count=9_999_999))))
    assert "spec.generators[0].count: the scenario would need about" in said
    assert "--force" in said


def test_replicas_that_cannot_fit_into_memory_are_refused() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod("x")["spec"]}
    spec = {"replicas": 2_000_000_000, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    workload = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    said = refused(run(written(operations(create(1, workload), done(2)))))
    assert "spec.operations[0].createOperation.object.spec.replicas" in said


PLUGIN = """
import time
from seatrial.plugins import Plugin

class Boom(Plugin):
    def filter_one(self, pod, node):
        {body}
"""


def own(body: str) -> list[str]:
    Path("own.py").write_text(PLUGIN.format(body=body))
    Path("profile.yaml").write_text(PROFILE)
    return [written(SPEC), "-q", "--plugins", "own.py", "--scheduler-config", "profile.yaml"]


def test_a_plugin_that_raises_system_exit_fails_the_scenario() -> None:
    assert "plugin Boom on pod default/x: SystemExit: 7" in refused(run(*own("raise SystemExit(7)")), 1)


@pytest.mark.parametrize("body", ["Path('started').touch() or time.sleep(999)", "Path('started').touch() or spin()"])
def test_one_interruption_ends_a_plugin_that_never_returns(body: str) -> None:
    arguments = own(f"return {body}")
    spin = "\nfrom pathlib import Path\n\ndef spin():\n    while True:\n        pass\n"
    Path("own.py").write_text(Path("own.py").read_text() + spin)
    process = subprocess.Popen([str(SEATRIAL), "run", "--no-report", *arguments], stderr=subprocess.PIPE, text=True)
    try:
        while not Path("started").exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 1
    assert "which did not return; the result is partial" in said
    assert "Traceback" not in said
    result = orjson.loads(Path("seatrial-out/play/result.json").read_bytes())
    assert result["status"]["phase"] == "Failed"


def test_nothing_is_left_of_results_that_cannot_be_written_whole() -> None:
    many = operations(*[create(1, node(f"n-{index}")) for index in range(60)], done(2))
    refused(run(written(many), "--out", "deep/out", limit=8_192))
    assert not Path("deep").exists()


def test_earlier_results_stay_when_new_ones_cannot_be_written() -> None:
    assert run(written(SPEC), "--out", "out", "-q").returncode == 0
    before = {name: Path("out", name).read_bytes() for name in os.listdir("out")}  # noqa: PTH208
    many = operations(*[create(1, node(f"n-{index}")) for index in range(60)], done(2))
    refused(run(written(many), "--out", "out", limit=8_192))
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before
