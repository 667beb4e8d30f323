"""The definitions of Simulator and SchedulerSimulation, as an API server enforces them."""

from pathlib import Path
from typing import Any

import pytest

from seatrial.operator.kinds import IMAGE, definitions
from tests.operator.cluster import path_of
from tests.operator.objects import simulation, simulator
from tests.proofs import proves
from tests.server.client import Reply, Server

MERGE = {"content-type": "application/merge-patch+json"}
SIMULATIONS, SIMULATORS = (path_of(kind, "default") for kind in ("SchedulerSimulation", "Simulator"))


@pytest.fixture
def server() -> Server:
    made = Server()
    for definition in definitions():
        reply = made("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        assert reply.status == 201, reply.body
    return made


@pytest.fixture
def created(server: Server) -> dict[str, Any]:
    reply = server("POST", SIMULATIONS, simulation("one", Path("/data")))
    assert reply.status == 201, reply.body
    simulation_one: dict[str, Any] = reply.json()
    return simulation_one


def patch(server: Server, change: dict[str, Any]) -> Reply:
    return server("PATCH", f"{SIMULATIONS}/one", {"spec": change}, **MERGE)


def schema(kind: str) -> dict[str, Any]:
    found = next(each for each in definitions() if each["spec"]["names"]["kind"] == kind)
    properties: dict[str, Any] = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return properties


@proves("S-003", "S-010", "S-037")
def test_a_simulation_has_scenario_files_and_the_spec_of_a_simulator() -> None:
    """By file, and never inline."""
    properties = schema("SchedulerSimulation")
    assert {"apiVersion", "kind", "metadata", "spec", "status"} <= set(properties)
    assert set(properties["spec"]["properties"]) == {
        "simulatorSpec",
        "scenarioTemplateFilePath",
        "scenarioResultFilePath",
        "volume",
        "scenarioRunnerImage",
        "activeDeadlineSeconds",
    }
    assert properties["spec"]["properties"]["simulatorSpec"]["properties"] == schema("Simulator")["spec"]["properties"]


@proves("S-038")
def test_a_simulator_has_the_fields_of_its_proposal() -> None:
    properties = schema("Simulator")
    assert set(properties["spec"]["properties"]) - {"schedulerPluginPaths", "outsideScheduler"} == {
        "kubeAPIServerPort",
        "simulatorServerPort",
        "kubeSchedulerConfigurationPath",
        "etcdURL",
        "corsAllowedOriginList",
        "image",
        "podTemplate",
    }
    assert set(properties["status"]["properties"]) == {"phase", "message", "kubeAPIServerURL"}
    assert properties["status"]["properties"]["phase"]["enum"] == ["Pending", "Creating", "Available"]


@proves("S-009")
def test_simulations_are_namespaced(server: Server) -> None:
    path = SIMULATIONS.replace("/namespaces/default", "")
    assert server("POST", path, simulation("one", Path("/data"))).status in (404, 405)
    assert {each["spec"]["scope"] for each in definitions()} == {"Namespaced"}


@proves("S-018")
def test_images_and_ports_have_defaults(created: dict[str, Any]) -> None:
    spec = created["spec"]
    assert spec["scenarioRunnerImage"] == spec["simulatorSpec"]["image"] == IMAGE
    assert (spec["simulatorSpec"]["kubeAPIServerPort"], spec["simulatorSpec"]["simulatorServerPort"]) == (3131, 1212)


CHANGES = {
    "simulatorSpec": {"kubeAPIServerPort": 9999},
    "scenarioTemplateFilePath": "/mnt/other.yaml",
    "scenarioResultFilePath": "/mnt/other.json",
    "volume": {"hostPath": {"path": "/elsewhere"}},
    "scenarioRunnerImage": "other:1",
    "activeDeadlineSeconds": 60,
}


@proves("S-011", "S-012", "S-014", "S-016", "S-018")
@pytest.mark.parametrize("field", CHANGES)
def test_no_field_of_a_simulation_can_be_updated(server: Server, created: dict[str, Any], field: str) -> None:
    reply = patch(server, {field: CHANGES[field]})
    assert reply.status == 422
    assert [cause["field"] for cause in reply.json()["details"]["causes"]] == [f"spec.{field}"]
    assert "cannot be updated" in reply.json()["message"]


@proves("S-011", "S-016")
@pytest.mark.parametrize(
    "change",
    [
        {"volume": {"hostPath": None, "emptyDir": {}}},
        {"volume": None},
        {"simulatorSpec": {"podTemplate": {"spec": {"nodeSelector": {"disk": "ssd"}}}}},
        {"simulatorSpec": {"etcdURL": "http://etcd:2379"}},
    ],
)
def test_neither_can_what_is_inside(server: Server, created: dict[str, Any], change: dict[str, Any]) -> None:
    """One kind of volume for another, an optional field that was absent."""
    assert patch(server, change).status == 422


def test_metadata_can_be_updated(server: Server, created: dict[str, Any]) -> None:
    reply = server("PATCH", f"{SIMULATIONS}/one", {"metadata": {"labels": {"a": "b"}}}, **MERGE)
    assert reply.status == 200, reply.body


def test_a_simulator_can_be_updated(server: Server) -> None:
    assert server("POST", SIMULATORS, simulator("one")).status == 201
    reply = server("PATCH", f"{SIMULATORS}/one", {"spec": {"kubeAPIServerPort": 9999}}, **MERGE)
    assert reply.json()["spec"]["kubeAPIServerPort"] == 9999


@proves("S-019", "S-023")
def test_the_phase_is_written_through_the_status_subresource(server: Server, created: dict[str, Any]) -> None:
    """Failed and Completed are the phases; until then there is none."""
    assert "status" not in created
    ignored = server("PATCH", f"{SIMULATIONS}/one", {"status": {"phase": "Completed"}}, **MERGE)
    assert "status" not in ignored.json()
    for phase, code in (("Running", 422), ("Failed", 200), ("Completed", 200)):
        assert server("PATCH", f"{SIMULATIONS}/one/status", {"status": {"phase": phase}}, **MERGE).status == code


def test_kubectl_prints_the_phase(server: Server, created: dict[str, Any]) -> None:
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    columns = server("GET", SIMULATIONS, accept=accept).json()["columnDefinitions"]
    assert [column["name"] for column in columns] == ["Name", "Phase", "Started", "Completed", "Message", "Age"]
    assert next(column["priority"] for column in columns if column["name"] == "Message") == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scenarioTemplateFilePath", ""),
        ("scenarioResultFilePath", None),
        ("simulatorSpec", {"kubeAPIServerPort": 70000}),
        ("simulatorSpec", {"podTemplate": {"spec": {"containers": [{"image": "without-name"}]}}}),
        ("activeDeadlineSeconds", 0),
        ("volume", {"hostPath": {}}),
    ],
)
def test_bad_values_are_refused(server: Server, field: str, value: object) -> None:
    document = simulation("bad", Path("/data"))
    document["spec"][field] = value
    reply = server("POST", SIMULATIONS, document)
    assert reply.status == 422
    assert f"spec.{field}" in reply.json()["message"]


@proves("S-037")
def test_an_inline_scenario_is_an_unknown_field(server: Server) -> None:
    document = simulation("inline", Path("/data"), scenario={"operations": []})
    reply = server("POST", f"{SIMULATIONS}?fieldValidation=Strict", document)
    assert reply.status == 400
    assert 'unknown field "spec.scenario"' in reply.json()["message"]
