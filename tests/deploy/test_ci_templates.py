"""The CI templates: their scripts run on an example, and fail a configuration that crosses a threshold."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.controllers.objects import deployment
from tests.proofs import proves
from tests.whatif.dump import node, small_dump

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "node-saving"


def github_script() -> str:
    action = yaml.safe_load((ROOT / "deploy/ci/github/action.yml").read_text())
    step = action["runs"]["steps"][-1]
    for variable, value in step["env"].items():
        name = variable.removeprefix("SEATRIAL_").lower().replace("_", "-")
        assert value == f"${{{{ inputs.{name} }}}}"
        assert name in action["inputs"]
    assert "${{" not in step["run"]
    return str(step["run"])


def gitlab_script() -> str:
    job = yaml.safe_load((ROOT / "deploy/ci/gitlab.yml").read_text())[".seatrial-compare"]
    (script,) = job["script"]
    return str(script)


SCRIPTS = pytest.mark.parametrize("script", [github_script, gitlab_script])
BAD = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: NoSuchPlugin}]}}
"""


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Runs the script of a template as its CI would."""
    program = tmp_path / "bin" / "seatrial"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom seatrial.cli.main import main\nmain()\n")
    program.chmod(0o755)

    def run(script: str, changed: Path, thresholds: str, **more: str) -> "subprocess.CompletedProcess[str]":
        environment = {
            **os.environ,
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "SEATRIAL_SCENARIO": str(EXAMPLE / "scenario.yaml"),
            "SEATRIAL_BASE": "default",
            "SEATRIAL_CHANGED": str(changed),
            "SEATRIAL_FAIL_IF": thresholds,
            "SEATRIAL_OUT": str(tmp_path / "out put"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            **{f"SEATRIAL_{name.upper()}": value for name, value in more.items()},
        }
        command = ["bash", "-e", "-o", "pipefail", "-c", script]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    return run


@proves("S-036")
@SCRIPTS
def test_a_template_fails_a_configuration_that_crosses_a_threshold(
    script: Callable[[], str], job: Callable[..., "subprocess.CompletedProcess[str]"], tmp_path: Path
) -> None:
    changed = EXAMPLE / "scheduler.most.yaml"
    assert job(script(), changed, "pods_bound < 0\n").returncode == 0
    done = job(script(), changed, "pods_bound < 0\nspread_hostname > 5\n")
    assert done.returncode == 1, done.stderr
    assert "spread_hostname changes by" in done.stderr
    assert {path.name for path in (tmp_path / "out put").iterdir()} == {"compare.html", "compare.md", "junit.xml"}
    assert "nodes_used" in (tmp_path / "out put" / "compare.md").read_text()


@SCRIPTS
def test_a_template_fails_a_configuration_that_cannot_be_read(
    script: Callable[[], str], job: Callable[..., "subprocess.CompletedProcess[str]"], tmp_path: Path
) -> None:
    (tmp_path / "bad.yaml").write_text(BAD)
    done = job(script(), tmp_path / "bad.yaml", "")
    assert done.returncode == 2
    assert "NoSuchPlugin" in done.stderr


@SCRIPTS
def test_a_template_compares_a_dump_with_today(
    script: Callable[[], str], job: Callable[..., "subprocess.CompletedProcess[str]"], tmp_path: Path
) -> None:
    (tmp_path / "cluster.json").write_bytes(small_dump(node("general", 0), node("general", 1), deployment("web", 4)))
    (tmp_path / "prices.yaml").write_text("prices: [{instanceType: m6i.2xlarge, pricePerHour: 0.5}]")
    snapshot, prices = str(tmp_path / "cluster.json"), str(tmp_path / "prices.yaml")
    done = job(script(), EXAMPLE / "scheduler.most.yaml", "", scenario="", snapshot=snapshot, unbind="workloads",
               prices=prices, volcano="yes", kubernetes_version="1.35")  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "out put" / "compare.md").read_text()
    assert "now" in said and "scheduler.most v1.35" in said
    assert "**all of 1 workload ready in every run**" in said
    assert "used_price_per_hour" in said
