"""Clusters on the embedded runtime, through the command and the API that it serves."""

import json
import os
import re
import signal
import time
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from seatrial.model.documents import Document
from seatrial.vcsim import processes
from seatrial.vcsim.client import Client
from seatrial.vcsim.main import main
from seatrial.vcsim.processes import start_time
from seatrial.vcsim.state import ClusterRecord
from tests.proofs import proves
from tests.vcsim.files import AMOUNTS, cluster, daemon_set, deployment, group, simulator_job, vcjob, written
from tests.vcsim.processes import User

NAME = "kind-simulator"


def directory(owner: User) -> Path:
    return owner.home / ".vcsimctl" / NAME


def client(owner: User) -> Client:
    return Client(directory(owner) / "kubeconfig")


def nodes(owner: User) -> list[Document]:
    with client(owner) as connected:
        found: list[Document] = connected.get("/api/v1/nodes")["items"]
    return found


def pods(owner: User) -> list[Document]:
    with client(owner) as connected:
        found: list[Document] = connected.get("/api/v1/pods")["items"]
    return found


def run(owner: User, *objects: Document, **spec: object) -> tuple[int, str, str]:
    written(owner.home / "objects.yaml", *objects)
    path = written(owner.home / "test-case.yaml", simulator_job("objects.yaml", **spec))
    answer = owner("run", f"--test={path}", "--settle", "5")
    return answer.code, answer.output, answer.errors


@proves("VC-006", "VC-007", "VC-014", "VC-016")
def test_create_makes_the_control_plane_and_the_fake_nodes(owner: User) -> None:
    """As many nodes as declared, named fake-<name>-<5 characters>."""
    names = [node["metadata"]["name"] for node in nodes(owner)]
    assert len(names) == len(set(names)) == 6
    assert sum(bool(re.fullmatch(r"fake-big-node-[a-z0-9]{5}", name)) for name in names) == 3
    assert sum(bool(re.fullmatch(r"fake-half-[a-z0-9]{5}", name)) for name in names) == 2
    assert f"{NAME}-control-plane" in names


@proves("VC-013", "VC-019")
def test_every_node_is_ready_with_the_amounts_declared(owner: User) -> None:
    """The strings of capacity and allocatable are kept."""
    for node in nodes(owner):
        conditions = {condition["type"]: condition["status"] for condition in node["status"]["conditions"]}
        assert conditions["Ready"] == "True"
        if node["metadata"]["name"].startswith("fake-"):
            assert node["status"]["capacity"] == AMOUNTS
        if node["metadata"]["name"].startswith("fake-half"):
            assert node["status"]["allocatable"] == {"cpu": "64", "memory": "128Gi", "pods": "55"}


@proves("VC-011", "VC-015")
def test_the_name_of_the_cluster_is_that_of_its_control_plane_and_directory(owner: User) -> None:
    """The control plane is a cordoned master."""
    (plane,) = [node for node in nodes(owner) if node["metadata"]["name"] == f"{NAME}-control-plane"]
    assert plane["spec"]["unschedulable"] is True
    assert "node-role.kubernetes.io/master" in plane["metadata"]["labels"]
    assert directory(owner).is_dir()


@proves("VC-005")
def test_the_program_is_called_vcsimctl() -> None:
    """The entry point of the distribution."""
    (entry,) = entry_points(group="console_scripts", name="vcsimctl")
    assert entry.load() is main


@proves("VC-002")
def test_get_status_and_kubeconfig_tell_of_the_cluster(owner: User) -> None:
    """The memory of the server is reported."""
    listed = owner("get", "clusters").output.splitlines()
    assert listed[0].split()[0] == "NAME"
    assert listed[1].split()[:4] == [NAME, "embedded", "Running", "6"]
    told = owner("status").output
    assert "6 of 6 Ready" in told
    assert re.search(r"Memory: +\d+ MB", told)
    assert yaml.safe_load(owner("kubeconfig", NAME).output)["kind"] == "Config"
    assert owner("kubeconfig", NAME, "--path").output.strip() == str(directory(owner) / "kubeconfig")


def test_a_second_cluster_of_the_name_is_refused(owner: User) -> None:
    answer = owner("create", "cluster", "--config", owner.home / "cluster.yaml")
    assert answer.code == 2
    assert "cluster 'kind-simulator' exists already" in answer.errors
    assert "Traceback" not in answer.errors


@proves("VC-008", "VC-020", "VC-022", "VC-025", "VC-026", "VC-027", "VC-028", "VC-036", "VC-037", "VC-044")
def test_a_test_schedules_deployments_and_reports(owner: User) -> None:
    """Namespaces first, then copies, then the report."""
    code, output, errors = run(owner, deployment(2), namespaces=2)
    assert (code, errors) == (0, "")
    head = ["Test Finished", f"Test: {owner.home}/test-case.yaml", "Status: Success", "-" * 80]
    assert output.splitlines()[:4] == head
    path = Path(output.splitlines()[-1].removeprefix("Test report file path: "))
    assert path.parent == directory(owner) / "report"
    report = json.loads(path.read_text())
    assert report["total"] == 2 * 2 * 2
    shown = json.loads(output[output.index("{") : output.rindex("}") + 1])
    assert shown == {key: report[key] for key in ("perc50", "perc90", "perc99", "max")}
    assert shown["perc50"] <= shown["perc90"] <= shown["perc99"] <= shown["max"]
    assert sum(count for _, count in report["perSecond"]) == report["total"]
    with client(owner) as connected:
        found = connected.get("/api/v1/namespaces?labelSelector=vcsim.volcano.sh/test")["items"]
    created = {item["metadata"]["name"]: item["metadata"]["creationTimestamp"] for item in found}
    assert sorted(created) == ["scheduling-throughput-0", "scheduling-throughput-1"]
    for pod in pods(owner):
        assert pod["spec"]["nodeName"].startswith("fake-")
        assert created[pod["metadata"]["namespace"]] <= pod["metadata"]["creationTimestamp"]


@proves("VC-004")
def test_a_test_may_be_run_again_and_leaves_another_report(owner: User) -> None:
    """Two runs are two files."""
    before = set((directory(owner) / "report").glob("*"))
    for _ in range(2):
        assert run(owner, deployment(1))[0] == 0
    assert len(set((directory(owner) / "report").glob("*")) - before) == 2


@proves("VC-018")
def test_volcano_schedules_its_jobs(owner: User) -> None:
    """A scheduler named volcano is at work, with PodGroups and queues."""
    code, output, errors = run(owner, vcjob(replicas=3), replicasPerNamespace=1)
    assert (code, errors) == (0, "")
    assert "Status: Success" in output
    with client(owner) as connected:
        groups = connected.get("/apis/scheduling.volcano.sh/v1beta1/podgroups")["items"]
    assert [group["spec"]["minMember"] for group in groups] == [3]
    assert {pod["spec"]["schedulerName"] for pod in pods(owner)} == {"volcano"}


@proves("VC-023", "VC-032")
def test_the_rate_is_never_above_what_was_asked_for(owner: User) -> None:
    """Six objects at 4 per second take more than a second."""
    start = time.monotonic()
    assert run(owner, deployment(1), replicasPerNamespace=6, timing={"qps": 4.0, "duration": 30.0})[0] == 0
    assert time.monotonic() - start >= 5 / 4


@proves("VC-023", "VC-037")
def test_creation_stops_after_the_duration(owner: User) -> None:
    """What was not created in time is no success."""
    code, output, errors = run(owner, deployment(1), replicasPerNamespace=50, timing={"qps": 2.0, "duration": 1.0})
    assert code == 1
    assert "Status: Failed" in output
    assert re.search(r"\d of 50 objects were created within the duration of 1 s", errors)


@proves("VC-013", "VC-015", "VC-037")
def test_allocatable_bounds_what_is_scheduled(owner: User) -> None:
    """Pods that fit only where more is allocatable; none is on the control plane."""
    code, _, errors = run(owner, deployment(4, cpu="100"), replicasPerNamespace=1)
    assert code == 1
    assert "3 of 4 pods were scheduled" in errors
    bound = [pod["spec"]["nodeName"] for pod in pods(owner) if pod["spec"].get("nodeName")]
    assert len(bound) == 3
    assert all(name.startswith("fake-big-node-") for name in bound)


@proves("VC-037")
def test_a_daemon_set_is_expected_on_every_node(owner: User) -> None:
    """Its pods do not stand for others that wait."""
    workers = sum(node["metadata"]["name"].startswith("fake-") for node in nodes(owner))
    code, output, errors = run(owner, daemon_set(), replicasPerNamespace=1)
    assert (code, errors) == (0, "")
    path = Path(output.splitlines()[-1].removeprefix("Test report file path: "))
    assert json.loads(path.read_text())["total"] == workers
    code, _, errors = run(owner, daemon_set(), deployment(1, cpu="500"), replicasPerNamespace=1)
    assert code == 1
    assert f"{workers} of {workers + 1} pods were scheduled" in errors


@proves("VC-038")
def test_nothing_scheduled_is_an_error_and_no_report(owner: User) -> None:
    """An error, exit code 1, no file."""
    before = set((directory(owner) / "report").glob("*"))
    code, _, errors = run(owner, deployment(1, cpu="500"))
    assert code == 1
    assert "no pod was scheduled" in errors
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    code, _, errors = run(owner, config)
    assert code == 1
    assert "lead to no pod" in errors
    assert set((directory(owner) / "report").glob("*")) == before


def test_an_object_that_the_server_refuses_is_told(owner: User) -> None:
    code, _, errors = run(owner, deployment(-1))
    assert code == 2
    assert "objects.yaml" in errors
    assert "must be greater than or equal to 0" in errors
    assert "Traceback" not in errors


@proves("VC-035")
def test_a_node_that_is_not_ready_takes_no_pod(owner: User) -> None:
    """Not ready, then tainted, then without new pods."""
    with client(owner) as connected:
        worker, *others = [node for node in nodes(owner) if node["metadata"]["name"].startswith("fake-big")]
        name = worker["metadata"]["name"]
        for condition in worker["status"]["conditions"]:
            if condition["type"] == "Ready":
                condition |= {"status": "False", "reason": "KubeletNotReady"}
        connected.request("PUT", f"/api/v1/nodes/{name}/status", worker)
        try:
            end = time.monotonic() + 30
            while "node.kubernetes.io/not-ready" not in str(connected.get(f"/api/v1/nodes/{name}")["spec"]):
                assert time.monotonic() < end
                time.sleep(0.05)
            assert run(owner, deployment(3, cpu="100"), replicasPerNamespace=1)[0] == 1
            bound = {pod["spec"].get("nodeName") for pod in pods(owner)} - {None}
            assert bound == {node["metadata"]["name"] for node in others}
        finally:
            back = connected.get(f"/api/v1/nodes/{name}")
            for condition in back["status"]["conditions"]:
                if condition["type"] == "Ready":
                    condition["status"] = "True"
            connected.request("PUT", f"/api/v1/nodes/{name}/status", back)


@proves("VC-043")
def test_metrics_tell_of_scheduling(owner: User) -> None:
    """Volcano's metrics are among those of the server."""
    assert run(owner, vcjob(replicas=1), replicasPerNamespace=1)[0] == 0
    with client(owner) as connected:
        _, text = connected._send("GET", "/metrics", None)
    assert b"volcano_e2e_scheduling_latency_milliseconds" in text


@proves("VC-034")
def test_report_shows_the_latest_and_says_how_it_was_measured(owner: User) -> None:
    """The difference to a real control plane is stated."""
    assert run(owner, deployment(1))[0] == 0
    told = owner("report")
    assert told.code == 0
    assert "Measured on the embedded runtime" in told.output
    assert "simulated in one process" in told.output


def test_run_names_the_clusters_where_none_is_chosen(user: User) -> None:
    written(user.home / "objects.yaml", deployment())
    path = written(user.home / "test.yaml", simulator_job("objects.yaml"))
    assert "there is no cluster" in user("run", "--test", path).errors
    assert user("run", "--test", path, "--cluster", "x").code == 2
    assert user("delete", "cluster", "x").code == 2


def test_a_damaged_cluster_does_not_hide_the_others(user: User) -> None:
    for name, record in (("broken", "{"), ("sound", json.dumps({"runtime": "embedded", "created": "today"}))):
        root = user.home / ".vcsimctl" / name
        root.mkdir(parents=True)
        written(root / "cluster.yaml", cluster(name=name))
        (root / "runtime.json").write_text(record)
    told = user("get", "clusters")
    assert told.code == 0
    assert [line.split()[:3] for line in told.output.splitlines()[1:]] == [
        ["broken", "-", "Damaged"],
        ["sound", "embedded", "Stopped"],
    ]
    assert "broken/runtime.json: cannot be read" in told.errors
    deleted = user("delete", "cluster", "broken")
    assert "if its server still runs, end the process that has" in deleted.errors


def test_a_process_that_ends_before_its_signal_is_stopped_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(["1", ""])
    monkeypatch.setattr(processes, "start_time", lambda pid: next(times))
    assert processes.stop(2**22 + 1, "1")


def test_a_server_that_does_not_answer_is_told(user: User) -> None:
    """The process runs (this one stands in for it), and nobody listens."""
    root = user.home / ".vcsimctl" / "deaf"
    root.mkdir(parents=True)
    written(root / "cluster.yaml", cluster(name="deaf"))
    record = {"runtime": "embedded", "pid": os.getpid(), "started": start_time(os.getpid())}
    (root / "runtime.json").write_text(json.dumps(record))
    named = {
        "name": "x",
        "cluster": {"server": "http://127.0.0.1:1"},
        "user": {},
        "context": {"cluster": "x", "user": "x"},
    }
    config = {"current-context": "x", "clusters": [named], "users": [named], "contexts": [named]}
    written(root / "kubeconfig", config)
    told = user("status", "deaf")
    assert told.code == 1
    assert "Unreachable" in told.output


@pytest.mark.parametrize("name", ["..", "../..", "a/b", ".", "none"])
def test_a_name_is_never_a_path(user: User, name: str) -> None:
    (user.home / "cluster.yaml").write_text("precious")
    (user.home / ".vcsimctl").mkdir()
    answer = user("delete", "cluster", name)
    assert answer.code == 2
    assert "no such cluster" in answer.errors
    assert (user.home / "cluster.yaml").exists()


@proves("VC-006")
def test_a_killed_server_is_noticed_and_deleted(user: User) -> None:
    """A cluster from `--config FILE`."""
    config = written(user.home / "cluster.yaml", cluster(group(count=1), name="doomed"))
    assert user("create", "cluster", "--config", config, "--set-context").code == 0
    context = yaml.safe_load((user.home / ".kube" / "config").read_text())["current-context"]
    assert context == "vcsim-doomed"
    root = user.home / ".vcsimctl" / "doomed"
    record = ClusterRecord(**json.loads((root / "runtime.json").read_text()))
    os.kill(record.pid, signal.SIGKILL)
    end = time.monotonic() + 30
    while user("status").code == 0:
        assert time.monotonic() < end
    told = user("status")
    assert told.code == 1
    assert "Stopped" in told.output
    assert f"its server (pid {record.pid}) has ended" in told.output
    assert user("delete", "cluster", "--name", "doomed").code == 0
    assert not (user.home / ".vcsimctl").exists()
    assert yaml.safe_load((user.home / ".kube" / "config").read_text())["contexts"] == []


def test_a_stopped_cluster_starts_again_with_its_data(user: User) -> None:
    config = written(user.home / "cluster.yaml", cluster(group(count=2), name="phoenix"))
    assert user("create", "cluster", "--config", config, "--set-context").code == 0
    try:
        assert "runs already" in user("start", "cluster", "phoenix").output
        root = user.home / ".vcsimctl" / "phoenix"
        with Client(root / "kubeconfig") as client:
            client.create("/api/v1/namespaces", {"metadata": {"name": "kept"}})
        os.kill(ClusterRecord(**json.loads((root / "runtime.json").read_text())).pid, signal.SIGKILL)
        while user("status").code == 0:
            pass
        assert "`vcsimctl start cluster phoenix`" in user("status").output
        again = user("start", "cluster")
        assert again.code == 0, again.errors
        assert "3 of 3 Ready" in user("status").output
        with Client(user.home / ".kube" / "config") as client:
            assert client.get("/api/v1/namespaces/kept")
    finally:
        user("delete", "cluster", "phoenix")


@pytest.mark.parametrize(
    ("runtime", "needed"),
    [("kwok", ("kwokctl", "vc-scheduler", "--manifests")), ("kind", ("kind", "docker", "--manifests"))],
)
def test_what_a_runtime_needs_is_said_before_anything_is_made(
    user: User, runtime: str, needed: tuple[str, ...]
) -> None:
    config = written(user.home / "cluster.yaml", cluster())
    binaries = [text for name in needed[:2] for text in ("--binary", f"{name}=/none")]
    answer = user("create", "cluster", "--config", config, "--runtime", runtime, *binaries)
    assert answer.code == 2
    assert all(name in answer.errors for name in needed)
    assert "nothing was made" in answer.errors
    assert not (user.home / ".vcsimctl").exists()


@proves("VC-001", "VC-002")
@pytest.mark.long
def test_ten_thousand_nodes(user: User) -> None:
    """Created in seconds, within 500 MB."""
    config = written(user.home / "cluster.yaml", cluster(group(count=10_000)))
    made = user("create", "cluster", "--config", config)
    try:
        assert made.code == 0, made.errors
        found = re.search(r"10001 nodes Ready in ([\d.]+) s, (\d+) MB", made.output)
        assert found
        assert int(found[2]) < 500
        assert "10001 of 10001 Ready" in user("status").output
    finally:
        user("delete", "cluster", NAME)
