"""KEP-184 end to end: the operator as a process, and the Pods' containers as processes of a test kubelet."""

import http.client
import json
import re
import shutil
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from seatrial.scenario.spec.kind import API_VERSION
from tests.operator.cluster import Cluster, path_of
from tests.operator.conftest import World
from tests.operator.objects import scenario, simulation, simulator, write_scenario
from tests.proofs import proves

UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SCENARIOS = f"/apis/{API_VERSION}/scenarios"
EXAMPLE = Path(__file__).parents[2] / "examples" / "spread-or-binpack"


def result(directory: Path) -> dict[str, Any]:
    written: dict[str, Any] = json.loads((directory / "result.json").read_bytes())
    return written


class Log:
    """What happened to the objects of the group, in the order of the watch streams' revisions."""

    def __init__(self, cluster: Cluster) -> None:
        self.entries: list[tuple[int, str, str, dict[str, Any]]] = []
        self._watches = [
            cluster.watch(path_of("SchedulerSimulation", "default")),
            cluster.watch(path_of("Simulator", "default")),
            cluster.watch("/api/v1/namespaces/default/pods"),
        ]
        self._threads = [threading.Thread(target=self._read, args=(watch,), daemon=True) for watch in self._watches]
        for thread in self._threads:
            thread.start()

    def _read(self, watch: Any) -> None:
        try:
            for kind, found in watch.events():
                self.entries.append((int(found["metadata"]["resourceVersion"]), kind, found["kind"], found))
        except (OSError, ValueError, AttributeError):
            return

    def close(self) -> None:
        for watch, thread in zip(self._watches, self._threads, strict=True):
            watch.end()
            thread.join(30)
            watch.close()

    def of(self, name: str) -> list[tuple[str, str, dict[str, Any]]]:
        listed = sorted(self.entries, key=lambda entry: entry[0])
        return [(kind, what, found) for _, kind, what, found in listed if found["metadata"]["name"] == name]


@pytest.fixture(scope="module")
def log(world: World) -> Iterator[Log]:
    made = Log(world.cluster)
    yield made
    made.close()


@pytest.fixture(scope="module")
def completed(world: World, log: Log) -> dict[str, Any]:
    """A SchedulerSimulation that has been carried out: its object at the end, with its name `flow`."""
    directory = world.directory / "flow"
    write_scenario(directory)
    world.cluster.create(simulation("flow", directory, simulator={"kubeAPIServerPort": 9999}))
    world.cluster.ended("flow")
    gone = [lambda: world.cluster.pod("flow") is None, lambda: any(e[1] == "DELETED" for e in log.entries)]
    for condition in gone:
        world.cluster.wait_for(condition, "the Pod is gone")
    ended: dict[str, Any] = world.cluster.simulation("flow")
    return ended


@proves("S-001", "S-020", "S-021", "S-022")
def test_a_simulation_completes(world: World, completed: dict[str, Any]) -> None:
    """Both times in UTC, and a message."""
    status = completed["status"]
    assert status["phase"] == "Completed"
    assert UTC.fullmatch(status["startTime"])
    assert UTC.fullmatch(status["completionTime"])
    assert status["message"] == "the result is in /mnt/result.json"


@proves("S-004", "S-007", "S-020", "S-031", "S-032", "S-033")
def test_its_steps_are_in_the_order_of_the_proposal(world: World, completed: dict[str, Any], log: Log) -> None:
    """Each step shows in the watch streams."""
    steps = []
    for kind, what, found in log.of("flow"):
        status = found.get("status") or {}
        if what == "SchedulerSimulation" and kind != "DELETED":
            steps += ["started"] if status.get("startTime") else []
            steps += [status["phase"]] if status.get("phase") else []
        elif what == "Simulator":
            steps.append({"ADDED": "Simulator created", "DELETED": "Simulator deleted"}.get(kind, ""))
        elif what == "Pod" and kind == "MODIFIED":
            states = {each["name"]: each["state"] for each in status.get("containerStatuses") or ()}
            if "terminated" in states.get("scenario-runner", {}):
                assert states["scenario-runner"]["terminated"]["exitCode"] == 0
                steps.append("runner ended")
    order = ["started", "Simulator created", "runner ended", "Simulator deleted", "Completed"]
    assert [step for step in dict.fromkeys(steps) if step] == order


@proves("S-017", "S-026", "S-027")
def test_the_pod_runs_simulator_and_runner(completed: dict[str, Any], log: Log) -> None:
    pod = next(found for _, what, found in log.of("flow") if what == "Pod")
    containers = {container["name"]: container for container in pod["spec"]["containers"]}
    assert set(containers) == {"simulator", "scenario-runner"}
    variables = {each["name"]: each["value"] for each in containers["scenario-runner"]["env"]}
    assert variables["SIMULATOR_KUBE_APISERVER_PORT"] == "9999"


@proves("S-028")
def test_the_scenario_begins_after_the_pod(world: World, completed: dict[str, Any], log: Log) -> None:
    pods = [found for _, what, found in log.of("flow") if what == "Pod" and found.get("status", {}).get("startTime")]
    made = result(world.directory / "flow")["metadata"]["creationTimestamp"]
    assert UTC.fullmatch(made)
    assert made >= pods[0]["status"]["startTime"]


@proves("S-014", "S-030")
def test_the_result_is_the_scenario_at_its_end(world: World, completed: dict[str, Any]) -> None:
    found = result(world.directory / "flow")
    assert found["kind"] == "Scenario"
    assert found["metadata"]["name"] == "small"
    assert found["status"]["phase"] == "Succeeded"
    assert {node for node in ("node-1", "node-2") if node in json.dumps(found["status"])} == {"node-1", "node-2"}
    assert not [path for path in (world.directory / "flow").iterdir() if path.name.startswith(".")]


@proves("S-032")
def test_nothing_is_left_but_the_simulation(world: World, completed: dict[str, Any]) -> None:
    """Pod and Service go with the Simulator that owns them."""
    assert world.cluster.simulator("flow") is None
    assert world.cluster.pod("flow") is None
    service = "/api/v1/namespaces/default/services/flow"
    world.cluster.wait_for(lambda: world.cluster.get(service) is None, "the Service is gone")


def test_events_tell_what_the_operator_did(world: World, completed: dict[str, Any]) -> None:
    listed = world.cluster.get("/api/v1/namespaces/default/events")["items"]
    reasons = [event["reason"] for event in listed if event["involvedObject"]["name"] == "flow"]
    assert sorted(reasons) == ["Completed", "SimulatorCreated"]


@proves("S-006", "S-007", "S-008", "S-029")
def test_the_kinds_are_in_the_users_cluster_alone(world: World, completed: dict[str, Any]) -> None:
    """Each simulator has an API server, which runs a Scenario as soon as it is created."""
    cluster = world.cluster
    for name in ("left", "right"):
        cluster.create(simulator(name))
    urls = {}
    for name in ("left", "right"):
        status = cluster.wait_for(partial(available, cluster, name), f"{name} is Available")
        assert status["kubeAPIServerURL"] == f"http://{name}.default.svc:3131"
        pod = world.kubelet.pods[cluster.pod(name)["metadata"]["uid"]]
        urls[name] = pod.ports[3131]
    left, right = (request_to(port) for port in urls.values())
    served = {each["name"] for each in left("GET", f"/apis/{API_VERSION}")["resources"]}
    assert "scenarios" in served
    assert not {"simulators", "schedulersimulations"} & served
    phases = phases_of(urls["left"], lambda: left("POST", SCENARIOS, scenario("only-left")))
    assert [phase for phase in dict.fromkeys(phases) if phase] == ["Pending", "Running", "Succeeded"]
    assert right("GET", SCENARIOS)["items"] == []
    assert not (cluster.get(SCENARIOS) or {}).get("items")


def available(cluster: Cluster, name: str) -> Any:
    status = cluster.simulator(name).get("status") or {}
    return status if status.get("phase") == "Available" else None


def request_to(port: int) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def request(method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"}, method=method
        )
        with opener.open(asked, timeout=60) as answer:
            return json.loads(answer.read())

    return request


def phases_of(port: int, act: Callable[[], object]) -> Iterator[str]:
    """The phases of the Scenario that an action creates, as they are watched, up to Succeeded."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", f"{SCENARIOS}?watch=true&timeoutSeconds=60")
        stream = connection.getresponse()
        act()
        while line := stream.readline():
            phase = (json.loads(line)["object"].get("status") or {}).get("phase", "")
            yield phase
            if phase == "Succeeded":
                stream.close()
                return


@proves("S-038")
def test_another_spec_restarts_the_pod_of_a_simulator(world: World) -> None:
    cluster = world.cluster
    cluster.create(simulator("changing"))
    cluster.wait_for(lambda: available(cluster, "changing"), "the Simulator is Available")
    before = cluster.pod("changing")["metadata"]["uid"]
    cluster.patch(f"{path_of('Simulator', 'default')}/changing", {"spec": {"kubeAPIServerPort": 4000}})

    def replaced() -> bool:
        pod = cluster.pod("changing")
        return pod is not None and pod["metadata"]["uid"] != before and bool(available(cluster, "changing"))

    cluster.wait_for(replaced, "a new Pod is Available")
    assert available(cluster, "changing")["kubeAPIServerURL"].endswith(":4000")
    ports = cluster.get("/api/v1/namespaces/default/services/changing")["spec"]["ports"]
    assert [port["port"] for port in ports] == [4000, 1212]


@proves("S-002")
def test_one_scenario_with_two_schedulers_shows_which_is_better(world: World) -> None:
    """The example, with a directory of this machine as its volume; the same file, two configurations."""
    directory = world.directory / "example"
    shutil.copytree(EXAMPLE, directory)
    for document in yaml.safe_load_all((EXAMPLE / "simulation.yaml").read_text()):
        document["spec"]["volume"]["hostPath"]["path"] = str(directory)
        world.cluster.create(document)
    for name, nodes in (("spread", 10), ("binpack", 4)):
        assert world.cluster.ended(name)["phase"] == "Completed"
        text = (directory / "results" / f"{name}.json").read_text()
        assert len(set(re.findall(r'"nodeName": ?"([^"]+)"', text))) == nodes


@proves("S-015", "S-016")
def test_volumes_of_other_kinds(world: World) -> None:
    """A ConfigMap with the template, and a result that is lost, with a warning."""
    cluster = world.cluster
    data = {"scenario.json": json.dumps(scenario())}
    cluster.request("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "scenario"}, "data": data})
    document = simulation("from-map", None, volume={"configMap": {"name": "scenario"}})
    lost = world.directory / "lost.json"
    document["spec"]["scenarioResultFilePath"] = str(lost)
    cluster.create(document)
    status = cluster.ended("from-map")
    assert status["phase"] == "Completed", status["message"]
    assert f"scenarioResultFilePath {lost} is outside /mnt" in status["message"]
    listed = cluster.get("/api/v1/namespaces/default/events")["items"]
    warnings = [event["reason"] for event in listed if event["type"] == "Warning"]
    assert "ResultNotPersistent" in warnings


@proves("S-016")
def test_a_claim_holds_template_and_result(world: World) -> None:
    cluster, directory = world.cluster, world.directory / "claimed"
    write_scenario(directory)
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    volume = {**common, "capacity": {"storage": "1Gi"}, "hostPath": {"path": str(directory)}}
    cluster.request("POST", "/api/v1/persistentvolumes", {"metadata": {"name": "disk"}, "spec": volume})
    claim = {**common, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "disk"}
    claims = "/api/v1/namespaces/default/persistentvolumeclaims"
    cluster.request("POST", claims, {"metadata": {"name": "files"}, "spec": claim})
    cluster.create(simulation("claimed", None, volume={"persistentVolumeClaim": {"claimName": "files"}}))
    assert cluster.ended("claimed")["phase"] == "Completed"
    assert result(directory)["status"]["phase"] == "Succeeded"


def test_deleting_a_simulation_stops_it(world: World) -> None:
    directory = world.directory / "deleted"
    write_scenario(directory)
    world.kubelet.images["slow:1"] = ("sleep", "60")
    world.cluster.create(simulation("deleted", directory, scenarioRunnerImage="slow:1"))
    pod = world.cluster.wait_for(lambda: world.cluster.pod("deleted"), "the Pod is created")
    world.cluster.wait_for(lambda: pod["metadata"]["uid"] in world.kubelet.pods, "the Pod runs")
    world.cluster.request("DELETE", f"{path_of('SchedulerSimulation', 'default')}/deleted")
    world.cluster.wait_for(lambda: world.cluster.pod("deleted") is None, "the Pod is gone")
    assert world.cluster.simulator("deleted") is None
