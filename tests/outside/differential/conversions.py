"""Custom resources in several versions: converted by a webhook on loopback, or in their apiVersion alone."""

import copy
from collections.abc import Iterator
from typing import Any

from tests.outside.differential.every_kind import NAMESPACE
from tests.outside.differential.extensions import DEFINITIONS
from tests.outside.differential.steps import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, TABLE, Answers, Step

GROUP = "conversion.example.com"
GONE = "https://127.0.0.1:1/convert"
Document = dict[str, Any]


def convert(request: Document) -> Document:
    """What the webhook answers: v1 has one text `address`, v2 has `name` and `port`; port 13 is bad luck."""
    objects = [_moved(each, request["desiredAPIVersion"]) for each in request["objects"]]
    if any("13" in str(each.get("spec")) for each in objects):
        return {"result": {"status": "Failure", "message": "bad luck"}}
    return {"convertedObjects": objects, "result": {"status": "Success"}}


def _moved(document: Document, version: str) -> Document:
    document = copy.deepcopy(document)
    spec = document.get("spec") or {}
    if version == f"{GROUP}/v2" and "address" in spec:
        name, _, port = spec.pop("address").partition(":")
        spec |= {"name": name, "port": int(port)}
    elif version == f"{GROUP}/v1" and "name" in spec:
        spec["address"] = f"{spec.pop('name')}:{spec.pop('port')}"
    if "rename" in (document["metadata"].get("annotations") or {}):
        document["metadata"]["name"] = "renamed"
    document["apiVersion"] = version
    return document


def steps(client: Document) -> Iterator[Step]:
    """By a webhook first, then without one."""
    yield from _refused(client)
    yield from _converted(client)
    yield from _relabelled()


def _version(name: str, stored: bool, /, **properties: Document) -> Document:
    spec = {"type": "object", "properties": {**properties, "kept": {"type": "string", "default": f"by-{name}"}}}
    status = {"type": "object", "properties": {"ready": {"type": "boolean"}}}
    return {
        "name": name,
        "served": True,
        "storage": stored,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
        "subresources": {"status": {}},
        "selectableFields": [{"jsonPath": f".spec.{next(iter(properties))}"}],
        "additionalPrinterColumns": [
            {"name": key, "type": value["type"], "jsonPath": f".spec.{key}"} for key, value in properties.items()
        ],
    }


def _definition(plural: str, conversion: Document | None) -> Document:
    kind = plural[:-1].capitalize()
    spec: Document = {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": plural, "singular": plural[:-1], "kind": kind, "listKind": f"{kind}List"},
        "versions": [
            _version("v1", False, address={"type": "string", "pattern": ".+:.+"}),
            _version("v2", True, name={"type": "string"}, port={"type": "integer", "maximum": 9000}),
        ],
    }
    if conversion is not None:
        spec["conversion"] = conversion
    own = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return own | {"metadata": {"name": f"{plural}.{GROUP}"}, "spec": spec}


def _webhook(client: Document, *reviews: str) -> Document:
    return {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": list(reviews)}}


def _object(kind: str, name: str, version: str, /, **spec: Any) -> Document:
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _refused(client: Document) -> Iterator[Step]:
    service = {"namespace": "", "name": "", "port": 0, "path": "a//b_"}
    conversions: dict[str, Document] = {
        "no strategy": {},
        "an unknown strategy": {"strategy": "Magic"},
        "no webhook": {"strategy": "Webhook"},
        "no client": _webhook({}, "v1"),
        "a webhook without the strategy": _webhook(client, "v1") | {"strategy": "None"},
        "no reviews": _webhook(client),
        "reviews twice": _webhook(client, "v1", "v1"),
        "bad reviews": _webhook(client, "V"),
        "unknown reviews": _webhook(client, "v9"),
        "plain http": _webhook({"url": "http://localhost/"}, "v1"),
        "a url with everything": _webhook({"url": "https://user:pass@localhost/a?b#c"}, "v1"),
        "a url without a host": _webhook({"url": "https:///a"}, "v1"),
        "a bad service": _webhook({"service": service}, "v1"),
        "a url and a service": _webhook({"url": "https://h", "service": {"namespace": "a", "name": "b"}}, "v1"),
    }
    for what, conversion in conversions.items():
        yield Step(f"conversion: {what}", "POST", f"{DEFINITIONS}?dryRun=All", _definition("bads", conversion))


def _converted(client: Document) -> Iterator[Step]:
    first, second = (f"/apis/{GROUP}/{version}/namespaces/{NAMESPACE}/hosts" for version in ("v1", "v2"))
    definition = f"{DEFINITIONS}/hosts.{GROUP}"

    def host(name: str, version: str, /, **spec: Any) -> Document:
        return _object("Host", name, version, **spec)

    yield Step("conversion: define", "POST", DEFINITIONS, _definition("hosts", _webhook(client, "v1")))
    yield Step("conversion: list until it is served", "GET", first, repeat=True)
    yield Step("conversion: create", "POST", f"{first}?fieldManager=a", host("a", "v1", address="x:1"), pause=2)
    yield Step("conversion: create in the stored version", "POST", second, host("b", "v2", name="y", port=2))
    yield Step("conversion: bad in the version of the request", "POST", first, host("bad", "v1", address="none"))
    yield Step("conversion: bad in the stored version only", "POST", first, host("c", "v1", address="x:9999"))
    yield Step("conversion: dry run", "POST", f"{first}?dryRun=All", host("d", "v1", address="x:1"))
    yield Step("conversion: refused", "POST", first, host("e", "v1", address="x:13"))
    renamed = host("f", "v1", address="x:1")
    renamed["metadata"]["annotations"] = {"rename": ""}
    yield Step("conversion: renamed", "POST", first, renamed)
    yield from _read_converted(first, second)
    patch = {"spec": {"port": 3}}
    yield Step("conversion: patch in the other version", "PATCH", f"{second}/a?fieldManager=b", patch, MERGE_PATCH)
    yield Step("conversion: owners after the patch", "GET", f"{first}/a", save="host")
    yield Step("conversion: merge patch", "PATCH", f"{first}/a", {"spec": {"address": "z:4"}}, MERGE_PATCH)
    operation = [{"op": "replace", "path": "/spec/address", "value": "z:5"}]
    yield Step("conversion: json patch", "PATCH", f"{first}/a", operation, JSON_PATCH)
    yield Step(
        "conversion: patch that cannot be converted", "PATCH", f"{first}/a", {"spec": {"address": "z:13"}}, MERGE_PATCH
    )
    yield Step("conversion: patch status", "PATCH", f"{first}/a/status", {"status": {"ready": True}}, MERGE_PATCH)
    yield Step("conversion: get before an update", "GET", f"{first}/a", save="host")
    yield Step("conversion: update", "PUT", f"{first}/a", lambda a: _with(a["host"], address="w:6"))
    yield Step(
        "conversion: update with the old revision", "PUT", f"{first}/a", lambda a: _with(a["host"], address="w:7")
    )
    yield from _applied(first, second)
    yield from _stored_elsewhere(first, second, definition)
    yield Step("conversion: delete", "DELETE", f"{first}/a")
    yield Step("conversion: delete the definition", "DELETE", definition)


def _with(document: Document, /, **spec: Any) -> Document:
    document = copy.deepcopy(document)
    document["spec"] |= spec
    return document


def _read_converted(first: str, second: str) -> Iterator[Step]:
    for path, version in ((first, "v1"), (second, "v2")):
        for name in ("a", "b", "c", "e", "f"):
            yield Step(f"conversion: get {name} in {version}", "GET", f"{path}/{name}")
        yield Step(f"conversion: list in {version}", "GET", f"{path}?limit=500")
        yield Step(f"conversion: table in {version}", "GET", f"{path}?limit=500", None, TABLE)
    yield Step("conversion: list by a field", "GET", f"{first}?fieldSelector=spec.address%3Dx:1")
    yield Step("conversion: list by a field of another version", "GET", f"{first}?fieldSelector=spec.name%3Dx")
    query = "watch=true&resourceVersion=0&timeoutSeconds=2"
    yield Step("conversion: watch", "GET", f"{first}?{query}&fieldSelector=metadata.name%3Da")


def _applied(first: str, second: str) -> Iterator[Step]:
    def apply(what: str, path: str, manager: str, version: str, query: str = "", /, **spec: Any) -> Step:
        body = _object("Host", "applied", version, **spec)
        return Step(f"conversion: {what}", "PATCH", f"{path}/applied?fieldManager={manager}{query}", body, APPLY_PATCH)

    yield apply("apply", first, "one", "v1", address="x:1")
    yield apply("apply in the other version", second, "two", "v2", name="x", port=2)
    yield apply("apply the same in the other version", second, "two", "v2", name="x", port=1)
    yield apply("apply with force", second, "two", "v2", "&force=true", name="x", port=2)
    yield apply("apply by the first in the other version", second, "one", "v2", "&force=true", name="w", port=2)
    yield Step("conversion: get what was applied", "GET", f"{first}/applied")


def _stored_elsewhere(first: str, second: str, definition: str) -> Iterator[Step]:
    """Another storage version, and a webhook that is gone."""

    def storing(answers: Answers) -> Document:
        document: Document = copy.deepcopy(answers["definition"])
        for version in document["spec"]["versions"]:
            version["storage"] = version["name"] == "v1"
        return document

    def without(answers: Answers) -> Document:
        document: Document = copy.deepcopy(answers["definition"])
        document["spec"]["versions"] = [each for each in document["spec"]["versions"] if each["name"] == "v1"]
        return document

    def broken(bundle: str) -> list[Document]:
        path = "/spec/conversion/webhook/clientConfig"
        operations = [{"op": "replace", "path": f"{path}/url", "value": GONE}]
        return operations if not bundle else [{"op": "replace", "path": f"{path}/caBundle", "value": bundle}]

    yield Step("conversion: get the definition", "GET", definition, save="definition")
    yield Step("conversion: store in v1", "PUT", definition, storing, save="definition")
    yield Step("conversion: remove a stored version", "PUT", definition, without, pause=2)
    yield Step("conversion: get after the change", "GET", f"{second}/b", save="host")
    yield Step("conversion: update to the new storage version", "PUT", f"{second}/b", lambda a: a["host"])
    yield Step("conversion: get in the new storage version", "GET", f"{first}/b")
    yield Step("conversion: no bundle", "PATCH", definition, broken("bm8gUEVN"), JSON_PATCH)
    yield Step("conversion: break the webhook", "PATCH", definition, broken(""), JSON_PATCH)
    yield Step("conversion: get without the webhook", "GET", f"{second}/a", pause=4)
    yield Step("conversion: get in the stored version without it", "GET", f"{first}/b")
    yield Step("conversion: create without it", "POST", second, _object("Host", "g", "v2", name="x", port=1))
    yield Step("conversion: patch without it", "PATCH", f"{second}/a", {"spec": {"port": 1}}, MERGE_PATCH)


def _relabelled() -> Iterator[Step]:
    first, second = (f"/apis/{GROUP}/{version}/namespaces/{NAMESPACE}/ports" for version in ("v1", "v2"))
    yield Step("no conversion: define", "POST", DEFINITIONS, _definition("ports", None))
    yield Step("no conversion: list until it is served", "GET", first, repeat=True)
    port = _object("Port", "a", "v1", address="x:1")
    yield Step("no conversion: create", "POST", f"{first}?fieldManager=a", port, pause=2)
    yield Step("no conversion: get in the stored version", "GET", f"{second}/a")
    yield Step("no conversion: get", "GET", f"{first}/a")
    yield Step("no conversion: list", "GET", f"{first}?limit=500")
    patch = {"spec": {"port": 3}}
    yield Step("no conversion: patch", "PATCH", f"{second}/a?fieldManager=b", patch, MERGE_PATCH)
    yield Step("no conversion: get after the patch", "GET", f"{first}/a")
    yield Step("no conversion: delete", "DELETE", f"{second}/a")
