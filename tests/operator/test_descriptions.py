"""`kubectl explain` says of every field of our own kinds what it is for."""

from collections.abc import Iterator

import pytest

from seatrial.controllers.stages import serve_stages
from seatrial.controllers.stages.schema import STAGE_SCHEMA
from seatrial.model.documents import Document
from seatrial.operator.kinds import definitions
from seatrial.scenario.scenario_resource import definition
from tests.server.client import Server

FOREIGN = ("podTemplate", "volume")
"""Fields of types that are Kubernetes' own."""


def schemas() -> dict[str, Document]:
    found = {each["spec"]["names"]["kind"]: each for each in (definition(), *definitions())}
    published = {kind: each["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for kind, each in found.items()}
    return published | {"Stage": STAGE_SCHEMA}


def undescribed(schema: Document, path: str = "") -> Iterator[str]:
    for name, field in (schema.get("properties") or {}).items():
        if not path and name in ("apiVersion", "kind", "metadata"):
            continue
        if not field.get("description"):
            yield f"{path}.{name}"
        if name not in FOREIGN:
            yield from undescribed(field, f"{path}.{name}")
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            yield from undescribed(schema[part], f"{path}[]")


@pytest.mark.parametrize("kind", ["Scenario", "Simulator", "SchedulerSimulation", "Stage"])
def test_every_field_is_described(kind: str) -> None:
    schema = schemas()[kind]
    assert schema["description"]
    assert not list(undescribed(schema))


def test_stages_are_published_although_no_definition_serves_them() -> None:
    server = Server()
    serve_stages(server.store)
    document = server("GET", "/openapi/v3/apis/kwok.x-k8s.io/v1alpha1").json()
    [stage] = [each for name, each in document["components"]["schemas"].items() if name.endswith(".Stage")]
    assert stage["properties"]["spec"]["properties"]["delay"]["description"]
    assert stage["x-kubernetes-group-version-kind"] == [
        {"group": "kwok.x-k8s.io", "kind": "Stage", "version": "v1alpha1"}
    ]
