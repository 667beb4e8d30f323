"""The questions from Python: the same answers as those of the commands.

Tests: whatif/*.py
"""

import json
from pathlib import Path

import pytest

import seatrial
from seatrial.store.snapshots import Snapshot
from tests.cli.test_what_if import ask
from tests.controllers.objects import deployment, pod
from tests.scenario.playing import done, operations, scenario
from tests.whatif.dump import budget, node, small_dump
from tests.whatif.playing import written
from tests.whatif.test_now import compared, value

WEB = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [
    {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}}  # fmt: skip


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nodes = [node("general", number) for number in range(3)]
    objects = (deployment("web", 6), budget("web", "default", maxUnavailable=1), pod("alone", "alone"))
    return written(tmp_path_factory.mktemp("dump"), small_dump(*nodes, *objects))


def test_every_question_has_the_answer_of_its_command(dump: Path) -> None:
    cluster = seatrial.Cluster.from_snapshot(dump)
    asked = {
        ("drain", "general-00", "--force"): cluster.drain("general-00", force=True),
        ("drain", "-l", "kubernetes.io/hostname=general-01"): cluster.drain(
            selector="kubernetes.io/hostname=general-01"
        ),
        ("remove", "general-01", "--force"): cluster.remove("general-01", force=True),
        ("outage", "general-02", "--vanish"): cluster.outage("general-02", vanish=True),
        ("upgrade", "--pool", "general", "--surge", "2"): cluster.upgrade(pool="general", surge=2),
        ("add", "--pool", "general", "--count", "2"): cluster.add(pool="general", count=2),
        ("scale", "deployment/web", "--replicas", "60"): cluster.scale("deployment/web", 60),
    }
    for words, answer in asked.items():
        assert answer.document() == ask(*words, "--snapshot", dump)[1], words
    assert not cluster.is_started, "questions leave the cluster as it is"


def test_a_cluster_that_was_changed_is_asked_as_it_is_now(dump: Path) -> None:
    cluster = seatrial.Cluster.from_snapshot(dump)
    assert len(cluster.list("pods")) == 7
    cluster.delete("deployment", "web")
    cluster.schedule()
    answer = cluster.drain("general-00", "general-01", force=True)
    assert [workload.name for workload in answer.workloads] == ["alone"]


def test_placing_pods_again_is_compared_with_now(dump: Path, tmp_path: Path) -> None:
    most = Path(__file__).parents[2] / "examples" / "node-saving" / "scheduler.most.yaml"
    comparison = seatrial.Cluster.from_snapshot(dump).compare(most)
    assert [run.name for run in comparison.runs] == ["now", "scheduler.most"]
    words = ("--snapshot", str(dump), "--unbind", "workloads", "--scheduler-config", str(most))
    said = compared(tmp_path, *words)
    assert said["runs"] == ["now", "scheduler.most"]
    for measure in ("nodes_used", "pods_bound", "spread_hostname", "workloads_not_ready", "attempts"):
        assert list(comparison.number(measure).values) == [value(said, measure, place) for place in range(2)]


def test_capacity_counts_pods_and_nodes(dump: Path, tmp_path: Path) -> None:
    cluster = seatrial.Cluster.from_snapshot(dump)
    (tmp_path / "web.json").write_text(json.dumps(WEB))
    (tmp_path / "node.json").write_text(json.dumps(node("general", 7)))
    # By hand: 8 cores a node; 6 pods and the bare one use 0.1 each, so 7 more of one core fit on each node.
    assert cluster.capacity_pods(tmp_path / "web.json").fit == 21
    assert cluster.capacity_nodes(tmp_path / "node.json").nodes == 0


def test_a_question_at_the_end_of_a_scenario(dump: Path, tmp_path: Path) -> None:
    created = [{"step": 1, "createOperation": {"object": {"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "late", "namespace": "default"}, "spec": WEB["spec"]}}}]  # fmt: skip
    (tmp_path / "late.json").write_text(json.dumps(scenario(operations(*created, done(1)))))
    code, answer = ask("outage", "general-00", "general-01", "general-02", "--vanish", "--snapshot", dump,
                       "--scenario", tmp_path / "late.json")  # fmt: skip
    assert code == 1
    assert {row["name"]: row["lost"] for row in answer["workloads"]} == {"web": 0, "alone": 1, "late": 1}
    assert ask("drain", "a") == (2, "--snapshot: expected a cluster: --snapshot FILE, --scenario FILE, or both")


def test_a_lost_pod_of_a_snapshot_without_statuses_is_a_loss() -> None:
    spec = {"nodeName": "general-07", "containers": [{"name": "c", "image": "i"}]}
    bare = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "namespace": "default"}, "spec": spec}
    cluster = seatrial.Cluster(snapshot=Snapshot([node("general", 7), node("general", 8), bare]))
    answer = cluster.drain("general-07", force=True)
    assert not answer.is_well
    assert answer.sentences()[0] == (
        "1 of 1 workload not as ready as before: 1 replica not ready, 1 of them lost for good"
    )
