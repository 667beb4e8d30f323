"""--snapshot and --unbind of run, compare and simulate, and what `seatrial snapshot` says."""

import json
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from seatrial.cli.main import build
from seatrial.cli.options.snapshot import DUMP
from seatrial.model.errors import SeatrialError
from seatrial.model.yaml_reader import load_all
from seatrial.scenario.spec import scenario_alone
from tests.outside.processes import Serve
from tests.store.snapshots.objects import Document, lived, node, pod, reference, workload

MOST = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "most.yaml").write_text(MOST)
    return tmp_path


def seatrial(*arguments: str) -> Result:
    return CliRunner().invoke(build(), list(arguments))


def refused(*arguments: str) -> str:
    """The message of a command that cannot use its input: `main` ends with exit code 2."""
    ended = seatrial(*arguments)
    assert isinstance(ended.exception, SeatrialError), ended.output
    return str(ended.exception)


def write(*documents: Document, name: str = "cluster.json") -> str:
    Path(name).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
    return name


def cluster() -> list[Document]:
    """Three nodes with one pod of a ReplicaSet and one of a DaemonSet each."""
    found = [node(f"n{number}") for number in range(3)]
    owner, agents = workload("ReplicaSet", 3), workload("DaemonSet", updatedNumberScheduled=3, currentNumberScheduled=3)
    agents["metadata"] |= {"name": "agent", "uid": "uid-DaemonSet-agent"}
    agents["spec"]["selector"]["matchLabels"] = agents["spec"]["template"]["metadata"]["labels"] = {"app": "agent"}
    found += [owner, agents]
    for number in range(3):
        labels = {"app": "agent", "controller-revision-hash": "abc"}
        agent = pod(f"agent-{number}", agents, on=f"n{number}", **labels)
        found += [pod(f"web-{number}", owner, on=f"n{number}"), agent]
    return found


def test_one_command_compares_a_cluster_with_two_configurations() -> None:
    path = write(*cluster())
    ended = seatrial(
        "compare", "--snapshot", path, "--unbind", "workloads", "--scheduler-config", "default",
        "--scheduler-config", "most.yaml", "--format", "json",
    )  # fmt: skip
    assert ended.exit_code == 0, ended.output
    document = json.loads(ended.stdout)
    measures = {measure["name"]: measure for measure in document["measures"]}
    now, spread, packed = measures["nodes_used"]["values"]
    assert document["runs"][0] == "now"
    assert now == 3
    assert spread > packed == 1


def test_workloads_that_are_not_ready_head_a_comparison() -> None:
    large = pod("large", on="", app="large")
    large["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "900"}}
    words = ("compare", "--snapshot", write(*cluster(), large), "--scheduler-config", "most.yaml")
    said = seatrial(*words).stdout.splitlines()
    assert said[0] == "1 of 3 workloads not ready in every run"
    assert said[1].startswith("  pod default/large: ready in now 0 of 1")
    marked = seatrial(*words, "-f", "markdown").stdout
    assert "**1 of 3 workloads not ready in every run**\n\n- pod default/large: ready in now 0 of 1" in marked
    document = json.loads(seatrial(*words, "-f", "json").stdout)
    (missing,) = [each for each in document["workloads"] if each["name"] == "large"]
    assert missing["why"][1].startswith("large has no node")
    assert (missing["wanted"], missing["ready_end"]) == ([1, 1], [0, 0])


def test_a_snapshot_can_be_run_without_a_scenario() -> None:
    ended = seatrial("run", "--snapshot", write(*cluster()), "--no-report", "--json")
    assert ended.exit_code == 0, ended.output
    assert Path("seatrial-out/cluster/result.json").exists()


@pytest.mark.parametrize("command", ["run", "compare", "serve"])
def test_unbind_goes_with_a_snapshot(command: str) -> None:
    assert "--snapshot" in refused(*command.split(), "--unbind", "all")


def test_a_snapshot_says_what_is_in_it_left_out_and_missing() -> None:
    orphan = pod("a")
    orphan["metadata"]["ownerReferences"] = [reference("ReplicaSet", "gone")]
    orphan["metadata"]["annotations"] = {"kube-scheduler-simulator.sigs.k8s.io/selected-node": "n1", "mine": "1"}
    orphan["spec"] |= {
        "priorityClassName": "vital", "priority": 5,
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "absent"}}],
    }  # fmt: skip
    claim = lived("PersistentVolumeClaim", "c", spec={"storageClassName": "fast"})
    path = write(node(), orphan, claim, lived("Lease", "l", "coordination.k8s.io/v1"))
    ended = seatrial("snapshot", path, "-o", "out.yaml")
    assert ended.exit_code == 0, ended.output
    lines = ended.stdout
    assert "out.yaml: 3 objects" in lines
    assert re.search(r"^ +1 Node$", lines, re.M)
    assert "left out, since they belong to the old server: 1 Lease" in lines
    for kind, done in (
        (
            "ReplicaSet default/gone",
            "kept as before, without a controller; the scheduler spreads such pods by default only",
        ),
        ("PriorityClass vital", "made again with the priority of its pods"),
        ("StorageClass fast", "bound claims stay bound"),
        ("PersistentVolumeClaim default/absent", "waits until you create it"),
    ):
        assert re.search(f"missing: {kind}: .*{done}", lines), lines
    (kept,) = [each for each in load_all(Path("out.yaml").read_text())[0]["items"] if each["kind"] == "Pod"]
    assert kept["metadata"]["annotations"] == {"mine": "1"}


def test_the_help_holds_the_line_that_makes_a_dump() -> None:
    text = re.sub(r"[\s│]+", "", seatrial("snapshot", "--help").stdout)
    assert re.sub(r"\s+", "", DUMP) in text


def test_pods_of_absent_owners_are_counted_in_a_run() -> None:
    orphans = [pod(f"p{number}") for number in range(3)]
    for orphan in orphans:
        orphan["metadata"]["ownerReferences"] = [reference("ReplicaSet", "gone")]
    ended = seatrial("run", "--snapshot", write(node(), *orphans), "--no-report")
    assert "ReplicaSet default/gone: not in the snapshot, referred to by 3 Pods; kept as before" in ended.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no objects found"),
        ("apiVersion: v1\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\n", "kind: a list has none"),
        ("apiVersion: example.com/v1\nkind: W\nmetadata: {name: w}\n", "add its CustomResourceDefinition"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: w, uid: x}\nspec: []\n", "spec: expected an object, got list"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: w, uid: x}\nspec: {nodeName: 3}\n", "Pod w: Pod in version"),
        ("- a\n", "expected objects"),
        ("a: [\n", "cluster.yaml"),
    ],
)
def test_a_file_that_is_no_cluster_is_refused(text: str, message: str) -> None:
    Path("cluster.yaml").write_text(text)
    said = refused("run", "--snapshot", "cluster.yaml", "--no-report")
    assert said.startswith("cluster.yaml: ")
    assert message in said


def test_a_dump_can_be_created_by_a_generator() -> None:
    write(*cluster(), name="dump.json")
    done = {"id": "done", "step": 2, "operation": "Done", "doneOperation": {}}
    scenario = {
        "apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "made"},
        "spec": {"events": [done], "generators": [{"step": 1, "from": {"file": "dump.json"}}]},
    }
    Path("scenario.json").write_text(json.dumps(scenario))
    ended = seatrial("run", "scenario.json", "--no-report", "--json")
    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.stdout)["pods"]["created"] == 6


def test_a_snapshot_of_a_live_cluster_is_the_cluster(tmp_path: Path) -> None:
    path = Path(write(*cluster())).resolve()
    with Serve(tmp_path / "state", "--snapshot", str(path)) as server:
        kubeconfig = str(server.kubeconfig)
        ended = seatrial("snapshot", "--kubeconfig", kubeconfig, "--context", "seatrial", "-o", "live.yaml")
        assert ended.exit_code == 0, (ended.output, ended.exception)
        assert "nowhere" in refused("snapshot", "--kubeconfig", kubeconfig, "--context", "nowhere")
    assert re.search(r"^ +6 Pods$", ended.stdout, re.M)
    run = seatrial("run", "--snapshot", "live.yaml", "--no-report", "--json")
    assert json.loads(run.stdout)["pods"]["created"] == 0


def test_a_path_is_a_snapshot_for_the_python_api() -> None:
    from seatrial.api import run

    result = run(scenario_alone("rest"), snapshot=write(*cluster()))
    assert result.phase == "Succeeded"
    assert len(result.pods) == 6


def test_a_dump_is_no_scenario_and_the_right_command_is_named() -> None:
    for path in (write(*cluster()), "several.yaml"):
        Path("several.yaml").write_text(yaml.safe_dump_all(cluster()))
        said = refused("run", path)
        assert said.startswith(f"{path}: is a dump of a cluster and no Scenario: `seatrial run --snapshot {path}`")


def test_a_run_fails_where_workloads_are_not_ready() -> None:
    large = pod("large", on="", app="large")
    large["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "900"}}
    words = ("run", "--snapshot", write(*cluster(), large), "--no-report", "-q", "--fail-if")
    ended = seatrial(*words, "workloads_not_ready > 0")
    assert ended.exit_code == 1
    assert "over the line: cluster: workloads_not_ready is 1" in ended.stderr
    assert seatrial(*words, "workloads_not_ready > 1").exit_code == 0
    assert "one run has no change" in refused(*words, "workloads_not_ready > 5%")


def test_a_dump_with_kinds_of_volcano_needs_no_scenario() -> None:
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {
        "name": "gang", "namespace": "default"}, "spec": {"minMember": 1, "queue": "default"}}  # fmt: skip
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "default"},
             "spec": {"weight": 1}}  # fmt: skip
    member = pod("member", on="", app="member")
    member["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "gang"}
    member["spec"]["schedulerName"] = "volcano"
    ended = seatrial("run", "--snapshot", write(*cluster(), queue, group, member), "--no-report", "--json")
    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.stdout)["pods"]["scheduled"] == 1


def test_a_sweep_plays_a_snapshot_alone() -> None:
    write(*cluster())
    Path("sweep.yaml").write_text("snapshot: cluster.json\nunbind: workloads\nschedulerConfigs: [default, most.yaml]\n")
    ended = seatrial("sweep", "sweep.yaml", "--out", "swept")
    assert ended.exit_code == 0, ended.output
    import polars as pl

    used = pl.read_parquet("swept/sweep.parquet")["nodes_used"].to_list()
    assert used == [2, 1]
    Path("sweep.yaml").write_text("unbind: workloads\n")
    assert "expected Scenario files, a snapshot, or both" in refused("sweep", "sweep.yaml")


def test_the_workloads_head_the_summary_of_a_run_from_a_snapshot() -> None:
    large = pod("large", on="", app="large")
    large["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "900"}}
    said = seatrial("run", "--snapshot", write(*cluster(), large), "--no-report").stdout.splitlines()
    assert said[1].split() == ["workloads", "1", "of", "3", "not", "ready"]
    assert "default/large has 0 of 1 ready: large has no node: " in said[2]
    ended = seatrial("run", "--snapshot", write(*cluster()), "--no-report", "--json")
    assert json.loads(ended.stdout)["workloads"] == {"total": 2, "notReady": []}
