"""Custom resources with all that a definition can give them, policies in CEL, and configurations of webhooks."""

import copy
from collections.abc import Iterator
from typing import Any

from tests.outside.differential.every_kind import NAMESPACE
from tests.outside.differential.steps import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    PARTIAL,
    STRATEGIC_PATCH,
    TABLE,
    Answers,
    Step,
)

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
POLICIES = "/apis/admissionregistration.k8s.io/v1"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
Document = dict[str, Any]


def steps() -> Iterator[Step]:
    """Custom resources first, then policies and webhooks."""
    yield from _custom_resources()
    yield from _policies()
    yield from _webhooks()


def _definition() -> Document:
    spec = {
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 9},
            "colour": {"type": "string", "default": "blue", "enum": ["blue", "red"]},
            "replicas": {"type": "integer", "format": "int32"},
            "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "maxItems": 3},
            "rooms": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string"}, "area": {"type": "integer"}},
                },
            },
            "port": {"x-kubernetes-int-or-string": True},
            "extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
        "x-kubernetes-validations": [
            {"rule": "self.size <= 5 || self.colour == 'red'", "message": "large houses are red"},
            {"rule": "!has(oldSelf.replicas) || has(self.replicas)", "message": "replicas stay"},
        ],
    }
    status = {"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        },
        "selectableFields": [{"jsonPath": ".spec.colour"}],
        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
    }
    names = {"plural": "houses", "singular": "house", "kind": "House", "listKind": "HouseList", "shortNames": ["ho"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "houses.diff.example.com"},
        "spec": {"group": "diff.example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def _house(name: str, **spec: Any) -> Document:
    return {"apiVersion": "diff.example.com/v1", "kind": "House", "metadata": {"name": name}, "spec": spec}


def _custom_resources() -> Iterator[Step]:
    path = f"/apis/diff.example.com/v1/namespaces/{NAMESPACE}/houses"
    yield Step("house: define", "POST", DEFINITIONS, _definition(), save="definition")
    yield Step("house: list until it is served", "GET", path, repeat=True)
    yield Step("house: create", "POST", path, _house("a", size=3, replicas=2, tags=["x"]), pause=2)
    yield Step("house: create again", "POST", path, _house("a", size=3))
    for what, spec in _BAD_HOUSES.items():
        yield Step(f"house: {what}", "POST", path, _house("bad", **spec))
    for mode in ("Strict", "Warn", "Ignore"):
        body = _house("unknown", size=1, bogus=1)
        yield Step(f"house: unknown field, {mode}", "POST", f"{path}?fieldValidation={mode}&dryRun=All", body)
    yield Step("house: no kind", "POST", path, {"metadata": {"name": "x"}, "spec": {"size": 1}})
    yield Step("house: another kind", "POST", path, _house("x", size=1) | {"kind": "Hut"})
    yield from _reads(path)
    yield from _writes(path)
    yield Step("house: discovery", "GET", "/apis/diff.example.com/v1")
    yield Step("house: delete", "DELETE", f"{path}/a")
    yield Step("house: delete a collection", "DELETE", path)
    yield Step("house: list what is left", "GET", path)


_BAD_HOUSES: dict[str, Document] = {
    "no size": {},
    "too small": {"size": 0},
    "of the wrong type": {"size": "big"},
    "of another colour": {"size": 1, "colour": "green"},
    "against the rule": {"size": 6},
    "with a tag twice": {"size": 1, "tags": ["x", "x"]},
    "with too many tags": {"size": 1, "tags": ["a", "b", "c", "d"]},
    "with a room twice": {"size": 1, "rooms": [{"name": "r"}, {"name": "r"}]},
    "with a room without a name": {"size": 1, "rooms": [{"area": 1}]},
    "with a bad port": {"size": 1, "port": True},
}


def _reads(path: str) -> Iterator[Step]:
    yield Step("house: get", "GET", f"{path}/a", save="house")
    yield Step("house: get as table", "GET", f"{path}/a", None, TABLE)
    yield Step("house: get as metadata", "GET", f"{path}/a", None, PARTIAL)
    yield Step("house: list", "GET", path)
    yield Step("house: list as table", "GET", path, None, TABLE)
    for selector in ("spec.colour%3Dblue", "spec.colour%3Dred", "metadata.name%3Da", "spec.size%3D3"):
        yield Step(f"house: list by {selector}", "GET", f"{path}?fieldSelector={selector}")
    yield Step("house: get scale", "GET", f"{path}/a/scale", save="scale")
    yield Step("house: get status", "GET", f"{path}/a/status")


def _writes(path: str) -> Iterator[Step]:
    one = f"{path}/a"

    def changed(answers: Answers, name: str, **parts: Any) -> Any:
        document = copy.deepcopy(answers[name])
        for part, fields in parts.items():
            document.setdefault(part, {}).update(fields)
        return document

    yield Step("house: merge patch", "PATCH", one, {"spec": {"size": 4, "extra": {"any": [1]}}}, MERGE_PATCH)
    yield Step("house: json patch", "PATCH", one, [{"op": "replace", "path": "/spec/size", "value": 5}], JSON_PATCH)
    yield Step("house: strategic patch", "PATCH", one, {"spec": {"size": 4}}, STRATEGIC_PATCH)
    yield Step("house: patch against the rule", "PATCH", one, {"spec": {"size": 6}}, MERGE_PATCH)
    yield Step("house: patch against the transition rule", "PATCH", one, {"spec": {"replicas": None}}, MERGE_PATCH)
    yield Step("house: patch of the wrong type", "PATCH", one, {"spec": "x"}, MERGE_PATCH)
    yield Step("house: get before an update", "GET", one, save="house")
    yield Step("house: update", "PUT", one, lambda a: changed(a, "house", spec={"size": 2}))
    yield Step("house: update with the old revision", "PUT", one, lambda a: changed(a, "house", spec={"size": 1}))
    yield Step("house: patch status", "PATCH", f"{one}/status", {"status": {"phase": "Built"}}, MERGE_PATCH)
    yield Step("house: status of the wrong type", "PATCH", f"{one}/status", {"status": {"phase": 1}}, MERGE_PATCH)
    yield Step("house: update scale", "PUT", f"{one}/scale", lambda a: changed(a, "scale", spec={"replicas": 7}))
    yield Step("house: patch scale", "PATCH", f"{one}/scale", {"spec": {"replicas": 3}}, MERGE_PATCH)
    room = _house("b", size=1, rooms=[{"name": "kitchen", "area": 1}])
    yield Step("house: apply", "PATCH", f"{path}/b?fieldManager=one", room, APPLY_PATCH)
    more = _house("b", size=1, rooms=[{"name": "cellar", "area": 2}])
    yield Step("house: apply by another manager", "PATCH", f"{path}/b?fieldManager=two", more, APPLY_PATCH)
    conflict = _house("b", size=2)
    yield Step("house: apply in conflict", "PATCH", f"{path}/b?fieldManager=two", conflict, APPLY_PATCH)
    yield Step("house: apply with force", "PATCH", f"{path}/b?fieldManager=two&force=true", conflict, APPLY_PATCH)
    yield Step("house: get what was applied", "GET", f"{path}/b")


def _policy(kind: str, name: str, **spec: Any) -> tuple[str, Document]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    own = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}}
    constraints = {"resourceRules": [rule], "objectSelector": {"matchLabels": {"policy": name}}}
    return f"{POLICIES}/{kind.lower()[:-1]}ies", own | {"spec": {"matchConstraints": constraints, **spec}}


def _binding(kind: str, name: str, **spec: Any) -> tuple[str, Document]:
    own = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}}
    return f"{POLICIES}/{kind.lower()}s", own | {"spec": {"policyName": name, **spec}}


def _map(name: str, policy: str, **data: str) -> Document:
    meta = {"name": name, "labels": {"policy": policy}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def _policies() -> Iterator[Step]:
    few = {"expression": "size(object.data) < 3", "message": "too many entries"}
    named = {"expression": "object.metadata.name != 'bad'", "reason": "Forbidden"}
    warned = {"expression": "!('warn' in object.data)", "messageExpression": "'do not ' + object.data.warn"}
    added = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": 'Object{data: {"added": "1"}}'}}
    patch = '[JSONPatch{op: "add", path: "/metadata/labels/patched", value: "yes"}]'
    patched = {"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}
    validating, mutating = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"
    made = (
        _policy(validating, "deny", validations=[few, named]),
        _binding(f"{validating}Binding", "deny", validationActions=["Deny"]),
        _policy(validating, "warn", validations=[warned]),
        _binding(f"{validating}Binding", "warn", validationActions=["Warn"]),
        _policy(mutating, "mutate", mutations=[added, patched], reinvocationPolicy="Never"),
        _binding(f"{mutating}Binding", "mutate"),
    )
    for path, body in made:
        yield Step(f"policy: create {body['kind']} {body['metadata']['name']}", "POST", path, body)
    yield Step("policy: a small map", "POST", MAPS, _map("small", "deny", a="1"), pause=4)
    yield Step("policy: a large map", "POST", MAPS, _map("large", "deny", a="1", b="2", c="3"))
    yield Step("policy: a map with a bad name", "POST", MAPS, _map("bad", "deny", a="1"))
    yield Step("policy: a map that is warned of", "POST", MAPS, _map("warned", "warn", warn="this"))
    yield Step("policy: a map that is changed", "POST", MAPS, _map("changed", "mutate", a="1"))
    yield Step(
        "policy: a policy that does not compile", "POST", *_policy(validating, "x", validations=[{"expression": "a +"}])
    )
    yield Step("policy: a binding without a policy", "POST", f"{POLICIES}/validatingadmissionpolicybindings", {})
    for path, body in made:
        yield Step(f"policy: delete {body['kind']}", "DELETE", f"{path}/{body['metadata']['name']}")


_RULE: Document = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
_BAD_WEBHOOKS: dict[str, Document] = {
    "no name": {"name": ""},
    "a short name": {"name": "short"},
    "a bad name": {"name": "A.b.c"},
    "no client": {"clientConfig": {}},
    "a url and a service": {"clientConfig": {"url": "https://h", "service": {"namespace": "a", "name": "b"}}},
    "plain http": {"clientConfig": {"url": "http://localhost/"}},
    "a url with everything": {"clientConfig": {"url": "https://u:p@localhost/a?b#c"}},
    "a bad service": {"clientConfig": {"service": {"namespace": "", "name": "", "port": 0, "path": "a//b_"}}},
    "side effects": {"sideEffects": "Some"},
    "no side effects": {"sideEffects": None},
    "an unknown failure policy": {"failurePolicy": "Maybe"},
    "an unknown match policy": {"matchPolicy": "Maybe"},
    "no time": {"timeoutSeconds": 0},
    "much time": {"timeoutSeconds": 31},
    "no reviews": {"admissionReviewVersions": []},
    "unknown reviews": {"admissionReviewVersions": ["v9"]},
    "reviews twice": {"admissionReviewVersions": ["v1", "v1"]},
    "no rule": {"rules": [{}]},
    "all and another operation": {"rules": [_RULE | {"operations": ["*", "CREATE"]}]},
    "an unknown operation": {"rules": [_RULE | {"operations": ["EAT"]}]},
    "all and another group": {"rules": [_RULE | {"apiGroups": ["*", "apps"]}]},
    "an empty version": {"rules": [_RULE | {"apiVersions": [""]}]},
    "all and another resource": {"rules": [_RULE | {"resources": ["*", "pods"]}]},
    "all parts and another one": {"rules": [_RULE | {"resources": ["pods/*", "pods/log"]}]},
    "a part of all and of another": {"rules": [_RULE | {"resources": ["*/scale", "pods/scale"]}]},
    "everything and more": {"rules": [_RULE | {"resources": ["*/*", "pods"]}]},
    "an unknown scope": {"rules": [_RULE | {"scope": "Here"}]},
    "a bad selector": {"objectSelector": {"matchLabels": {"a b": "c"}}},
    "a bad namespace selector": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}},
    "a condition without a name": {"matchConditions": [{"expression": "true"}]},
    "a condition without an expression": {"matchConditions": [{"name": "a"}]},
    "a condition with a bad name": {"matchConditions": [{"name": "a b", "expression": "true"}]},
    "a condition twice": {"matchConditions": [{"name": "a", "expression": "true"}] * 2},
    "too many conditions": {"matchConditions": [{"name": f"a{n}", "expression": "true"} for n in range(65)]},
    "a condition that does not compile": {"matchConditions": [{"name": "a", "expression": "a +"}]},
}


def _webhooks() -> Iterator[Step]:
    plain = {
        "name": "w.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [_RULE],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        path = f"{POLICIES}/{kind.lower()}s"

        def configuration(*webhooks: Document, kind: str = kind) -> Document:
            own = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "diff"}}
            return own | {"webhooks": list(webhooks)}

        for what, change in _BAD_WEBHOOKS.items():
            yield Step(f"webhook: {what}, {kind}", "POST", f"{path}?dryRun=All", configuration(plain | change))
        yield Step(f"webhook: one name twice, {kind}", "POST", f"{path}?dryRun=All", configuration(plain, plain))
        bad = {"reinvocationPolicy": "Always"}
        yield Step(f"webhook: reinvocation, {kind}", "POST", f"{path}?dryRun=All", configuration(plain | bad))
        yield Step(f"webhook: a good one, {kind}", "POST", f"{path}?dryRun=All", configuration(plain))
