"""Every way in which a SchedulerSimulation fails, through the operator and the Pods' processes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operator.conftest import World
from tests.operator.objects import node, scenario, simulation, simulator, write_scenario
from tests.operator.processes import OperatorProcess
from tests.proofs import proves

SLOW, BROKEN, CRASHING = "slow:1", "broken:1", "crashing:1"
IMAGES = {SLOW: ("sleep", "60"), BROKEN: ("sh", "-c", "echo it is broken; exit 3"), CRASHING: ("sh", "-c", "exit 7")}
AT_ONCE = {"spec": {"containers": [{"name": "scenario-runner", "args": ["scenario-runner", "--paused", "0"]}]}}


def doubled() -> dict[str, Any]:
    """A scenario that creates one node twice."""
    made = scenario("doubled")
    again = {"id": "again", "step": 1, "createOperation": {"object": node("node-1")}}
    made["spec"]["operations"].insert(2, again)
    return made


def simulations(directory: Path) -> dict[str, dict[str, Any]]:
    """A simulation for each cause."""
    write_scenario(directory / "good")
    write_scenario(directory / "paused", done=False)
    (directory / "bad").mkdir()
    (directory / "bad" / "scenario.json").write_text(json.dumps(doubled()))
    (directory / "undecodable").mkdir()
    (directory / "undecodable" / "scenario.json").write_text('{"kind": "Pod"}')
    good = directory / "good"
    no_result = "/mnt/scenario.json/result.json"
    crashing, idle = ({"image": image, "etcdURL": "http://etcd:2379"} for image in (CRASHING, SLOW))
    return {
        "absent": simulation("absent", good, simulator=idle, scenarioTemplateFilePath="/mnt/absent.yaml"),
        "undecodable": simulation("undecodable", directory / "undecodable", simulator=idle),
        "scenario-failed": simulation("scenario-failed", directory / "bad"),
        "paused": simulation("paused", directory / "paused", simulator={"podTemplate": AT_ONCE}),
        "unwritable": simulation("unwritable", good, simulator=idle, scenarioResultFilePath=no_result),
        "runner-broken": simulation("runner-broken", good, simulator=idle, scenarioRunnerImage=BROKEN),
        "simulator-ended": simulation("simulator-ended", good, simulator=crashing, scenarioRunnerImage=SLOW),
        "late": simulation("late", good, simulator=idle, scenarioRunnerImage=SLOW, activeDeadlineSeconds=2),
        "never-available": simulation("never-available", good, simulator={"image": "none:1", "etcdURL": "http://e"}),
    }


MESSAGES = {
    "absent": "/mnt/absent.yaml: scenarioTemplateFilePath: No such file or directory",
    "undecodable": "/mnt/scenario.json: apiVersion: expected simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
    "scenario-failed": "container scenario-runner ended with exit code 1: scenario doubled Failed:",
    "paused": "scenario small ended Paused, without Done",
    "unwritable": "/mnt/scenario.json/result.json: scenarioResultFilePath: ",
    "runner-broken": "container scenario-runner ended with exit code 3: it is broken",
    "simulator-ended": "container simulator ended with exit code 7",
    "late": "not finished within 2 s",
    "never-available": "the Simulator never-available was not Available within 3 s: container simulator: ErrImagePull",
}


@pytest.fixture(scope="module")
def ended(world: World) -> Iterator[dict[str, dict[str, Any]]]:
    """The status of each at its end."""
    world.kubelet.images |= IMAGES
    made = simulations(world.directory)
    impatient = made.pop("never-available")
    impatient["metadata"]["namespace"] = "impatient"
    world.cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": "impatient"}})
    for document in (impatient, *made.values()):
        world.cluster.create(document)

    def is_waiting() -> bool:
        status = world.cluster.simulator("never-available", "impatient") or {}
        return "ErrImagePull" in ((status.get("status") or {}).get("message") or "")

    world.cluster.wait_for(lambda: world.cluster.simulator("never-available", "impatient"), "it is created")
    world.cluster.wait_for(is_waiting, "the image is not found")
    flags = ("--namespace", "impatient", "--available-timeout", "3")
    with OperatorProcess(world.cluster.kubeconfig, world.directory / "impatient.log", *flags):
        never = world.cluster.ended("never-available", "impatient")
    yield {"never-available": never} | {name: world.cluster.ended(name) for name in made}


@proves("S-013", "S-021", "S-022", "S-034")
@pytest.mark.parametrize("name", MESSAGES)
def test_a_failure_says_why(world: World, ended: dict[str, dict[str, Any]], name: str) -> None:
    """Failed with a message, no completionTime, and the Simulator is deleted."""
    status = ended[name]
    assert status["phase"] == "Failed"
    assert MESSAGES[name] in status["message"]
    assert "completionTime" not in status
    namespace = "impatient" if name == "never-available" else "default"
    assert world.cluster.simulator(name, namespace) is None
    world.cluster.wait_for(lambda: world.cluster.pod(name, namespace) is None, "the Pod is gone")


@pytest.mark.parametrize(("name", "phase"), [("bad", "Failed"), ("paused", "Paused")])
def test_the_result_of_a_failure_is_stored_as_well(
    world: World, ended: dict[str, dict[str, Any]], name: str, phase: str
) -> None:
    found = json.loads((world.directory / name / "result.json").read_bytes())
    assert found["status"]["phase"] == phase


def test_a_failure_is_an_event(world: World, ended: dict[str, dict[str, Any]]) -> None:
    listed = world.cluster.get("/api/v1/namespaces/default/events")["items"]
    found = {event["involvedObject"]["name"]: event for event in listed if event["reason"] == "Failed"}
    assert found["runner-broken"]["type"] == "Warning"
    assert "it is broken" in found["runner-broken"]["message"]


@proves("S-034")
def test_the_result_appears_when_the_scenario_lacks_done_and_the_runner_adds_it(world: World) -> None:
    """`--append-done` instead of a failure."""
    directory = world.directory / "appended"
    write_scenario(directory, done=False)
    arguments = ["scenario-runner", "--append-done"]
    template = {"spec": {"containers": [{"name": "scenario-runner", "args": arguments}]}}
    world.cluster.create(simulation("appended", directory, simulator={"podTemplate": template}))
    assert world.cluster.ended("appended")["phase"] == "Completed"


def test_a_simulator_of_the_same_name_is_left_alone(world: World) -> None:
    cluster = world.cluster
    cluster.create(simulator("taken"))
    directory = world.directory / "taken"
    write_scenario(directory)
    cluster.create(simulation("taken", directory, activeDeadlineSeconds=3))

    def message() -> bool:
        said = (cluster.simulation("taken").get("status") or {}).get("message") or ""
        return "a Simulator taken exists that this SchedulerSimulation does not own" in said

    cluster.wait_for(message, "the message names the other Simulator")
    assert "not finished within 3 s" in cluster.ended("taken")["message"]
    assert cluster.simulator("taken") is not None


def test_an_image_that_needs_an_etcd_says_so(world: World) -> None:
    world.cluster.create(simulator("without-etcd", image="kube-scheduler-simulator:v0.4"))

    def message() -> str:
        return (world.cluster.simulator("without-etcd").get("status") or {}).get("message") or ""

    world.cluster.wait_for(message, "the Simulator has a message")
    assert "set spec.etcdURL, or run the operator with --etcd-image" in message()


def test_a_pod_that_the_cluster_refuses_is_named(world: World) -> None:
    bad = {"spec": {"containers": [{"name": "simulator", "imagePullPolicy": "Sometimes"}]}}
    world.cluster.create(simulator("refused", podTemplate=bad))

    def message() -> bool:
        status = world.cluster.simulator("refused").get("status") or {}
        return "imagePullPolicy" in (status.get("message") or "") and status["phase"] == "Pending"

    world.cluster.wait_for(message, "the message names the field")
