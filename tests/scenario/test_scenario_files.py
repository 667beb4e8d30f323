"""Reading a scenario: what cannot be decoded says file, line and field."""

from pathlib import Path

import pytest

from seatrial.model.errors import ConfigError
from seatrial.model.kind_declaration import custom_resource_definition
from seatrial.scenario.spec.decoding import decode_scenario, read_scenario
from seatrial.scenario.spec.kind import Scenario
from tests.proofs import proves
from tests.scenario.playing import create, operations, pod, scenario

HEAD = """\
apiVersion: simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1
kind: Scenario
metadata:
  name: play
spec:
"""


def refusal(tmp_path: Path, text: str) -> str:
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_scenario(path)
    return str(caught.value).replace(str(tmp_path) + "/", "")


@proves("V1-025")
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("  operations:\n  - step: -1\n", "scenario.yaml:7: spec.operations[0].step: Expected `int` >= 0"),
        ("  operations:\n  - {step: 2147483648}\n", "scenario.yaml:7: spec.operations[0].step: Expected `int` <= "),
        ("  events:\n  - step: a\n", "scenario.yaml:7: spec.events[0].step: Expected `int`, got `str`"),
        ("  operations:\n  - id: x\n    stepp: 1\n    step: 1\n", "scenario.yaml:8: spec.operations[0].stepp: unknown"),
        ("  operation: []\n", "scenario.yaml:6: spec.operation: unknown field"),
        ("  operations: {}\n", "scenario.yaml:6: spec.operations: Expected `array | null`, got `object`"),
    ],
)
def test_a_field_that_cannot_be_decoded_is_named_with_its_line(tmp_path: Path, spec: str, said: str) -> None:
    assert refusal(tmp_path, HEAD + spec).startswith(said)


def test_yaml_that_is_none_names_the_line(tmp_path: Path) -> None:
    assert "line" in refusal(tmp_path, HEAD + "  operations: [")


def test_a_field_given_twice_is_refused(tmp_path: Path) -> None:
    assert "operations" in refusal(tmp_path, HEAD + "  operations: []\n  operations: []\n")


def test_another_kind_is_refused(tmp_path: Path) -> None:
    assert "kind: expected Scenario, got 'Pod'" in refusal(tmp_path, HEAD.replace("Scenario", "Pod"))


def test_two_documents_are_refused(tmp_path: Path) -> None:
    assert "expected one Scenario, found 2" in refusal(tmp_path, f"{HEAD}---\n{HEAD}")


def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path) -> None:
    assert "metadata.name" in refusal(tmp_path, HEAD.replace("name: play", "name: ../play").replace("spec:", ""))


@proves("V2-012")
def test_other_spellings_of_the_kep_are_read(tmp_path: Path) -> None:
    """ID, PatchType and preSimulationControllers are accepted, and written in our spelling."""
    path = tmp_path / "scenario.yaml"
    path.write_text(
        HEAD + "  controllers: {preSimulationControllers: {disabled: [{name: job}]}}\n"
        "  operations:\n  - {ID: a, step: 1, patchOperation: {PatchType: application/merge-patch+json}}\n"
    )
    spec = read_scenario(path)["spec"]
    assert spec["operations"][0] == {
        "id": "a",
        "step": 1,
        "patchOperation": {"patchType": "application/merge-patch+json"},
    }
    assert spec["controllers"] == {"presimulationControllers": {"disabled": [{"name": "job"}]}}


@proves("V1-007", "V1-008", "V2-008", "V2-032")
def test_a_scenario_has_type_metadata_spec_and_status() -> None:
    schema = custom_resource_definition(Scenario)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert {"apiVersion", "kind", "metadata", "spec", "status"} == set(schema["properties"])
    assert {"events", "operations", "controllers"} <= set(schema["properties"]["spec"]["properties"])


@proves("V1-004", "V2-005")
def test_scenarios_are_cluster_scoped() -> None:
    definition = custom_resource_definition(Scenario)
    assert definition["spec"]["scope"] == "Cluster"
    assert definition["metadata"]["name"] == "scenarios.simulation.kube-scheduler-simulator.x-k8s.io"


@proves("V1-014")
def test_the_schema_refuses_nothing_that_must_end_failed() -> None:
    """Two operations in one are stored, since the scenario then fails."""
    both = {**create(1, pod("a")), "doneOperation": {}, "operation": "Nonsense"}
    assert decode_scenario(scenario(operations(both))).spec.operations is not None


@proves("V1-010", "V2-007", "V2-015", "V2-016")
def test_operations_are_merged_by_id() -> None:
    spec = custom_resource_definition(Scenario)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"][
        "spec"
    ]
    for listing in ("events", "operations"):
        assert spec["properties"][listing]["x-kubernetes-patch-merge-key"] == "id"
    chosen = spec["properties"]["controllers"]["properties"]["simulationControllers"]["properties"]
    assert chosen["enabled"]["x-kubernetes-list-type"] == "atomic"
    assert chosen["disabled"]["x-kubernetes-list-map-keys"] == ["name"]


def test_a_json_file_is_read_and_its_doubles_refused(tmp_path: Path) -> None:
    import orjson

    path = tmp_path / "scenario.json"
    path.write_bytes(orjson.dumps(scenario(operations(create(1, pod("a"))))))
    assert read_scenario(path)["spec"]["operations"][0]["step"] == 1
    for text in ('{"kind": "Scenario", "kind": "Scenario"}', '{"kind":"Scenario","kind":"Scenario"}'):
        path.write_text(text)
        with pytest.raises(ConfigError, match="'kind' is given twice"):
            read_scenario(path)
