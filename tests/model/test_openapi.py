"""OpenAPI documents hold what clients look for."""

from collections.abc import Iterator
from typing import Any

import pytest

from seatrial.model.builtin import builtin_kinds
from seatrial.model.kinds import Kind
from seatrial.model.openapi import group_versions, openapi_document
from seatrial.model.openapi.descriptions import descriptions

GROUP_VERSIONS = group_versions(builtin_kinds())


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref" and isinstance(item, str):
                yield item.removeprefix("#/components/schemas/")
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


@pytest.mark.parametrize("path", GROUP_VERSIONS)
def test_every_reference_is_there_and_every_kind_is_tagged(path: str) -> None:
    document = openapi_document(GROUP_VERSIONS[path])
    schemas = document["components"]["schemas"]
    assert set(references(document)) <= set(schemas)
    tags = [tag for schema in schemas.values() for tag in schema.get("x-kubernetes-group-version-kind", ())]
    for kind in GROUP_VERSIONS[path]:
        assert tags.count({"group": kind.group, "version": kind.version, "kind": kind.kind}) == 1


def test_patch_takes_field_validation() -> None:
    paths = openapi_document(GROUP_VERSIONS["apis/apps/v1"])["paths"]
    patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert {"dryRun", "fieldManager", "fieldValidation", "force"} == {each["name"] for each in patch["parameters"]}
    assert patch["x-kubernetes-group-version-kind"] == {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert "application/apply-patch+yaml" in patch["requestBody"]["content"]


def test_paths_follow_scope_and_verbs() -> None:
    paths = openapi_document(GROUP_VERSIONS["api/v1"])["paths"]
    assert set(paths["/api/v1/pods"]) == {"get", "parameters"}
    assert set(paths["/api/v1/nodes"]) == {"get", "post", "delete", "parameters"}
    assert set(paths["/api/v1/namespaces/{namespace}/bindings"]) == {"post", "parameters"}
    assert "/api/v1/namespaces/{namespace}/bindings/{name}" not in paths
    binding = paths["/api/v1/namespaces/{namespace}/pods/{name}/binding"]["post"]
    assert binding["x-kubernetes-group-version-kind"]["kind"] == "Binding"


def test_fields_have_types_keys_enums_and_defaults() -> None:
    schemas = openapi_document(GROUP_VERSIONS["api/v1"])["components"]["schemas"]
    container = schemas["io.k8s.api.core.v1.Container"]
    assert container["required"] == ["name"]
    ports = container["properties"]["ports"]
    assert ports["x-kubernetes-list-map-keys"] == ["containerPort", "protocol"]
    assert ports["x-kubernetes-patch-merge-key"] == "containerPort"
    assert container["properties"]["imagePullPolicy"]["enum"] == ["Always", "IfNotPresent", "Never"]
    assert container["properties"]["resources"]["default"] == {}
    assert schemas["io.k8s.api.core.v1.NodeSelector"]["x-kubernetes-map-type"] == "atomic"
    limits = schemas["io.k8s.api.core.v1.ResourceRequirements"]["properties"]["limits"]
    assert limits["additionalProperties"]["$ref"].endswith("api.resource.Quantity")


def test_fields_and_types_are_described() -> None:
    schemas = openapi_document(GROUP_VERSIONS["api/v1"])["components"]["schemas"]
    spec = schemas["io.k8s.api.core.v1.PodSpec"]
    assert spec["description"].startswith("The containers of a pod")
    assert spec["properties"]["nodeName"]["description"].startswith("The node on which the pod runs")
    assert "description" not in spec["properties"]["hostPID"]
    assert schemas["io.k8s.api.core.v1.Pod"]["properties"]["kind"]["description"].startswith("Kind names the type")
    assert "description" not in schemas["io.k8s.api.core.v1.ObjectReference"]["properties"]["kind"]


def test_every_described_field_exists() -> None:
    described = {
        f"{package}.{name}": set(fields) - {""}
        for package, types in descriptions().items()
        for name, fields in types.items()
    }
    assert sum(map(len, described.values())) > 200
    schemas = {
        name: schema
        for kinds in GROUP_VERSIONS.values()
        for name, schema in openapi_document(kinds)["components"]["schemas"].items()
        if name in described
    }
    wrong = {name: fields - set(schemas[name]["properties"]) for name, fields in described.items()}
    assert {name: fields for name, fields in wrong.items() if fields} == {}


def test_a_custom_resource_brings_its_schema() -> None:
    kind = Kind("example.com", "v1", "Thing", "things", custom=True)
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    document = openapi_document([kind], {("example.com/v1", "Thing"): schema})
    thing = document["components"]["schemas"]["com.example.v1.Thing"]
    assert thing["properties"]["spec"] == spec
    assert thing["x-kubernetes-group-version-kind"] == [{"group": "example.com", "version": "v1", "kind": "Thing"}]
    assert "com.example.v1.ThingList" in document["components"]["schemas"]
    assert set(references(document)) <= set(document["components"]["schemas"])
    assert "patch" in document["paths"]["/apis/example.com/v1/namespaces/{namespace}/things/{name}"]
