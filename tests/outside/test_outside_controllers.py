"""The real kube-scheduler and kube-controller-manager as controllers of a scenario, unmodified."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.outside.gate.playing import toy_command
from tests.outside.objects import deployment, node, pod
from tests.outside.processes import OF_THE_PROGRAMS
from tests.proofs import proves
from tests.scenario.playing import create, done, operations, scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
SEATRIAL = Path(sys.executable).with_name("seatrial")
SIX = ("first-steps", "first-steps-events", "preemption-storm", "spread-or-binpack", "node-saving", "topology-spread")
COMPARED = re.compile(r"model: (\d+) decisions compared, none differs")
KUBECONFIG = "--kubeconfig {kubeconfig}"


def play(path: Path, out: Path, *options: str, timeout: str = "60s") -> dict[str, Any]:
    """The Scenario with its status; the timeline has a list of entries by major step."""
    command = [str(SEATRIAL), "run", str(path), "--out", str(out), "--quiet", "--no-report", *OF_THE_PROGRAMS]
    if "--outside" in options:
        command += ["--outside-timeout", timeout]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    scenario: dict[str, Any] = json.loads((out / "result.json").read_bytes())
    return scenario


def scheduler(programs: Path, *more: str) -> tuple[str, str]:
    words = " ".join(more) or KUBECONFIG
    return "--outside", f"scheduler={programs / 'kube-scheduler'} --secure-port 0 {words}"


def written(folder: Path, spec: dict[str, Any]) -> Path:
    path = folder / "scenario.json"
    path.write_text(json.dumps(scenario(spec)))
    return path


def configured(folder: Path, *controllers: dict[str, Any]) -> str:
    path = folder / "outside.json"
    path.write_text(json.dumps({"controllers": controllers}))
    return str(path)


def entries(result: dict[str, Any], *kinds: str) -> dict[str, list[dict[str, Any]]]:
    """The PodResults of some kinds by major step."""
    timeline = result["status"]["scenarioResult"]["timeline"]
    return {
        step: [entry[kind] for entry in listed for kind in kinds if entry.get(kind)]
        for step, listed in timeline.items()
    }


def nodes_of(result: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Where the pods of each major step were bound."""
    return {
        step: {pod["pod"]["metadata"]["name"]: pod["boundTo"] for pod in listed}
        for step, listed in entries(result, "podScheduled").items()
    }


@pytest.fixture
def topology_spread(tmp_path: Path) -> Path:
    """Pods that spread over zones, more of them than fit."""
    zones = {"a": ("n1", "n2"), "b": ("n3",), "c": ("n4",)}
    made = [node(name, cpu="4", zone=zone) for zone, names in zones.items() for name in names]
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "test"}},
    }
    pods = [pod(f"p{n}", cpu="2", topologySpreadConstraints=[constraint]) for n in range(10)]
    items = [*(create(1, one) for one in made), *(create(2, one) for one in pods), done(3)]
    return written(tmp_path, operations(*items))


@pytest.mark.parametrize("name", SIX)
def test_kube_scheduler_decides_as_the_embedded_one(
    name: str, programs: Path, topology_spread: Path, tmp_path: Path
) -> None:
    """Every placement is among the best of the embedded scheduler for the same cluster, and the steps are equal."""
    path = topology_spread if name == "topology-spread" else EXAMPLES / name / "scenario.yaml"
    outside = play(path, tmp_path / "outside", *scheduler(programs), "--explain-with-model")
    embedded = play(path, tmp_path / "embedded")
    compared = COMPARED.search(outside["status"]["message"])
    assert compared, outside["status"]["message"]
    assert int(compared[1]) > 0
    assert outside["status"]["phase"] == embedded["status"]["phase"] == "Succeeded"
    for kind in ("podScheduled", "podPreempted", "podUnscheduled"):
        counts = [{step: len(found) for step, found in entries(run, kind).items()} for run in (outside, embedded)]
        assert counts[0] == counts[1], kind
    assert outside["status"]["stepStatus"]["phase"] == embedded["status"]["stepStatus"]["phase"]


def test_every_preempted_pod_names_its_preemptor(programs: Path, tmp_path: Path) -> None:
    result = play(EXAMPLES / "preemption-storm" / "scenario.yaml", tmp_path, *scheduler(programs))
    preempted = [pod for listed in entries(result, "podPreempted").values() for pod in listed]
    assert preempted
    assert all(pod["preemptedBy"] and pod["preemptedAt"] and not pod["scheduleResult"] for pod in preempted)


def test_ten_runs_give_the_same_steps(programs: Path, topology_spread: Path, tmp_path: Path) -> None:
    """At parallelism 1: the same pods are bound in the same major and minor steps; ties may fall differently."""
    config = tmp_path / "config.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 1\n")
    runs = []
    for number in range(10):
        result = play(topology_spread, tmp_path / str(number), *scheduler(programs, "--config", str(config)))
        bound = [pod for listed in entries(result, "podScheduled").values() for pod in listed]
        runs.append(sorted((pod["pod"]["metadata"]["name"], str(pod["boundAt"])) for pod in bound))
    assert 0 < len(runs[0]) < 10
    assert all(run == runs[0] for run in runs)


@proves("V2-070")
def test_kube_scheduler_and_an_autoscaler_run_until_neither_can_do_more(programs: Path, tmp_path: Path) -> None:
    """Nodes of the autoscaler give kube-scheduler new work in the same step."""
    items = [create(1, node("n1", pods="1")), *(create(1, pod(name)) for name in "abcd"), done(2)]
    path = written(tmp_path, operations(*items, simulated=("scheduler", "autoscaler")))
    toy = {"name": "autoscaler", "command": list(toy_command("autoscaler")), "quiet": "2s"}
    result = play(path, tmp_path / "out", *scheduler(programs), "--outside", configured(tmp_path, toy))
    assert result["status"]["phase"] == "Succeeded"
    assert sorted(nodes_of(result)["1"].values()) == ["n1", "n2", "n3"]
    assert len(entries(result, "podUnscheduled")["1"]) == 1


def test_kube_controller_manager_prepares_for_kube_scheduler(
    programs: Path, controller_manager: Path, tmp_path: Path
) -> None:
    """A Deployment becomes pods by the real controllers before the scheduler gets its turn."""
    spec = operations(create(1, node("n1")), create(1, deployment("web", 3)), done(2))
    spec["controllers"]["presimulationControllers"] = {
        "disabled": [{"name": "*"}],
        "enabled": [{"name": name} for name in ("kube-controller-manager", "pod", "node")],
    }
    outside = {
        "name": "kube-controller-manager",
        "command": [
            str(controller_manager), "--kubeconfig", "{kubeconfig}", "--secure-port", "0",
            "--leader-elect=false", "--controllers=deployment-controller,replicaset-controller",
        ],
        "watches": ["apps/v1/Deployment", "apps/v1/ReplicaSet", "v1/Pod"],
        "quiet": "2s",
    }  # fmt: skip
    path = written(tmp_path, spec)
    result = play(path, tmp_path / "out", *scheduler(programs), "--outside", configured(tmp_path, outside))
    assert result["status"]["phase"] == "Succeeded"
    assert list(nodes_of(result)["1"].values()) == ["n1"] * 3
    bound = entries(result, "podScheduled")["1"]
    assert all(pod["createdAt"] == {"major": 1, "minor": 0} for pod in bound)


@proves("V1-113")
def test_a_changed_scheduler_in_go_takes_part(tmp_path: Path) -> None:
    """One call at the top of its loop, over net/http; it reports no failures and polls."""
    if shutil.which("go") is None:
        pytest.skip("there is no go on PATH to build the scheduler with")
    program = tmp_path / "goscheduler"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=Path(__file__).parent / "goscheduler", check=True)
    items = [create(1, node("n1", pods="2")), *(create(1, pod(name)) for name in "abcd")]
    path = written(tmp_path, operations(*items, create(2, node("n2", pods="1")), done(2)))
    result = play(path, tmp_path / "out", "--outside", f"scheduler={program}")
    assert result["status"]["phase"] == "Succeeded"
    assert {step: sorted(bound.values()) for step, bound in nodes_of(result).items()} == {
        "1": ["n1", "n1"],
        "2": ["n2"],
    }
    assert len(entries(result, "podUnscheduled")["1"]) == 2
