import asyncio
from typing import Any

from tests.server.client import Server

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = {"content_type": "application/merge-patch+json"}
APPLY = {"content_type": "application/apply-patch+yaml"}
BOATS = "/apis/example.com/{version}/namespaces/default/boats"
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer"}, "replicas": {"type": "integer"}}},
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
    },
}


def definition() -> dict[str, Any]:
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == "v1",
            "schema": {"openAPIV3Schema": SCHEMA},
            "subresources": {"status": {}, "scale": scale},
            "additionalPrinterColumns": columns,
            "selectableFields": [{"jsonPath": ".spec.size"}],
        }
        for name in ("v1", "v2")
    ]
    names = {"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"}
    spec = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": versions}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return kind | {"metadata": {"name": "boats.example.com"}, "spec": spec}


def boat(name: str, version: str = "v1", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"example.com/{version}", "kind": "Boat", "metadata": {"name": name}, "spec": spec}


def harbour() -> Server:
    server = Server()
    assert server("POST", DEFINITIONS, definition()).status == 201
    return server


def test_a_custom_kind_is_served_in_all_its_versions() -> None:
    server = harbour()
    assert server("POST", BOATS.format(version="v2"), boat("a", "v2", size=3)).status == 201
    for version in ("v1", "v2"):
        read = server("GET", BOATS.format(version=version) + "/a").json()
        assert (read["apiVersion"], read["spec"]) == (f"example.com/{version}", {"size": 3})
        listed = server("GET", BOATS.format(version=version)).json()
        assert listed["items"][0]["apiVersion"] == f"example.com/{version}"


def test_an_object_gets_defaults_that_its_kind_has_got_since() -> None:
    server = harbour()
    assert server("POST", BOATS.format(version="v1"), boat("a", replicas=1)).status == 201
    changed = server("GET", f"{DEFINITIONS}/boats.example.com").json()
    for version in changed["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["size"]["default"] = 7
    assert server("PUT", f"{DEFINITIONS}/boats.example.com", changed).status == 200
    for version in ("v1", "v2"):
        path = BOATS.format(version=version)
        assert server("GET", f"{path}/a").json()["spec"] == {"replicas": 1, "size": 7}
        assert server("GET", path).json()["items"][0]["spec"]["size"] == 7


def test_a_watch_shows_the_version_it_asked_for() -> None:
    async def story() -> None:
        server = Server()
        await server.send("POST", DEFINITIONS, definition())
        async with server.watch(BOATS.format(version="v2") + "?watch=true") as watch:
            await server.send("POST", BOATS.format(version="v1"), boat("a"))
            assert (await watch.next())["object"]["apiVersion"] == "example.com/v2"

    asyncio.run(story())


def test_unknown_fields_are_pruned_and_wrong_types_refused() -> None:
    server = harbour()
    created = server("POST", BOATS.format(version="v1"), boat("a", size=3, colour="red"))
    assert created.json()["spec"] == {"size": 3}
    assert server("POST", BOATS.format(version="v1"), boat("b", size="large")).status == 422
    strict = server("POST", BOATS.format(version="v1") + "?fieldValidation=Strict", boat("c", colour="red"))
    assert strict.status == 400


def test_printer_columns_scale_and_selectable_fields() -> None:
    server = harbour()
    path = BOATS.format(version="v1")
    server("POST", path, boat("a", size=3))
    server("POST", path, boat("b", size=4))
    table = server("GET", path, accept="application/json;as=Table;v=v1;g=meta.k8s.io").json()
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Size"]
    assert [row["cells"] for row in table["rows"]] == [["a", 3], ["b", 4]]
    patch = server("PATCH", f"{path}/a/scale", {"spec": {"replicas": 5}}, content_type="application/merge-patch+json")
    assert patch.json()["spec"]["replicas"] == 5
    chosen = server("GET", f"{path}?fieldSelector=spec.size%3D4").json()
    assert [item["metadata"]["name"] for item in chosen["items"]] == ["b"]


def test_strategic_merge_is_not_for_custom_kinds_and_protobuf_neither() -> None:
    server = harbour()
    path = BOATS.format(version="v1")
    server("POST", path, boat("a"))
    assert server("PATCH", f"{path}/a", {}, content_type="application/strategic-merge-patch+json").status == 415
    assert server("GET", path, accept="application/vnd.kubernetes.protobuf").status == 406
    assert server("POST", path, b"k8s\0", content_type="application/vnd.kubernetes.protobuf").status == 415


def test_discovery_and_openapi_know_the_kind_until_it_is_gone() -> None:
    server = harbour()
    assert "boats" in {r["name"] for r in server("GET", "/apis/example.com/v1").json()["resources"]}
    index = server("GET", "/openapi/v3").json()["paths"]["apis/example.com/v1"]["serverRelativeURL"]
    document = server("GET", index)
    assert document.header("cache-control") == "public, immutable"
    assert "com.example.v1.Boat" in document.json()["components"]["schemas"]
    server("DELETE", f"{DEFINITIONS}/boats.example.com")
    assert server("GET", BOATS.format(version="v1")).status == 404


def with_schema(schema: dict[str, Any]) -> dict[str, Any]:
    document = definition()
    for version in document["spec"]["versions"]:
        version["schema"] = {"openAPIV3Schema": schema}
        del version["selectableFields"]
    return document


def test_a_new_object_has_the_default_of_its_status() -> None:
    waiting = [{"type": "Accepted", "status": "Unknown"}]
    conditions = {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    status = {"type": "object", "default": {"conditions": waiting}, "properties": {"conditions": conditions}}
    server = Server()
    assert server("POST", DEFINITIONS, with_schema({"type": "object", "properties": {"status": status}})).status == 201
    made = server("POST", BOATS.format(version="v1"), boat("a") | {"status": {"conditions": []}})
    assert made.json()["status"] == {"conditions": waiting}
    assert server("GET", BOATS.format(version="v2") + "/a").json()["status"] == {"conditions": waiting}


def test_a_rule_may_select_fields_that_are_keywords() -> None:
    properties = {"namespace": {"type": "string"}, "for": {"type": "integer"}}
    rule = "self.namespace == 'a' && self.__namespace__ == 'a' && has(self.for)"
    spec = {"type": "object", "properties": properties, "x-kubernetes-validations": [{"rule": rule}]}
    server = Server()
    assert server("POST", DEFINITIONS, with_schema({"type": "object", "properties": {"spec": spec}})).status == 201
    for name, status in (("a", 201), ("b", 422)):
        document = boat(name) | {"spec": {"namespace": name, "for": 1}}
        assert server("POST", BOATS.format(version="v1"), document).status == status


def test_answers_about_a_deprecated_version_carry_a_warning() -> None:
    document = definition()
    document["spec"]["versions"][1] |= {"name": "v1beta1", "deprecated": True}
    server = Server()
    assert server("POST", DEFINITIONS, document).status == 201
    old = '299 - "example.com/v1beta1 Boat is deprecated; use example.com/v1 Boat"'
    assert server("POST", BOATS.format(version="v1beta1"), boat("a", "v1beta1")).header("warning") == old
    assert server("GET", BOATS.format(version="v1beta1") + "/a/status").header("warning") == old
    assert server("GET", BOATS.format(version="v1") + "/a").header("warning") == ""
    document["spec"]["versions"][1] |= {"deprecationWarning": "sail another one"}
    assert server("PATCH", DEFINITIONS + "/boats.example.com", document, **MERGE).status == 200
    assert server("GET", BOATS.format(version="v1beta1")).header("warning") == '299 - "sail another one"'


def test_a_definition_with_items_and_additional_properties_is_applied() -> None:
    text = {"type": "string"}
    fields = {
        "list": {"type": "array", "items": text, "default": ["a"]},
        "map": {"type": "object", "additionalProperties": text},
        "open": {"type": "object", "additionalProperties": True, "x-kubernetes-preserve-unknown-fields": True},
    }
    document = with_schema({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}})
    server = Server()
    path = DEFINITIONS + "/boats.example.com?fieldManager=me"
    for status in (201, 200):
        assert server("PATCH", path, document, **APPLY).status == status


def test_a_definition_with_an_unknown_format_is_taken_with_a_warning() -> None:
    text = {"type": "string", "format": "binary"}
    document = with_schema({"type": "object", "properties": {"format": text, "at": text | {"format": "date-time"}}})
    del document["spec"]["versions"][1]
    server = Server()
    assert server("POST", DEFINITIONS, document).header("warning") == '299 - "unrecognized format \\"binary\\""'
    document["spec"]["names"]["shortNames"] = ["b"]
    assert server("PATCH", DEFINITIONS + "/boats.example.com", document, **MERGE).header("warning") == ""


def test_a_group_of_the_community_needs_an_approval() -> None:
    document = definition()
    document["metadata"]["name"], document["spec"]["group"] = "boats.sea.k8s.io", "sea.k8s.io"
    server = Server()
    assert "protected groups must have approval annotation" in server("POST", DEFINITIONS, document).json()["message"]
    document["metadata"]["annotations"] = {"api-approved.kubernetes.io": "https://example.com/pull/1"}
    conditions = server("POST", DEFINITIONS, document).json()["status"]["conditions"]
    approved = {condition["type"]: condition["message"] for condition in conditions}
    assert approved["KubernetesAPIApprovalPolicyConformant"] == "approved in https://example.com/pull/1"
