"""Requests that are made to cost much: each may be refused or answered, and must not hold up others.

Each function is one attack: what it needs first, and the request itself last.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.server.fuzzing import Attack
from tests.store.stock import definition

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
RESOURCE = "/apis/resource.k8s.io/v1"
JSON, YAML = "application/json", "application/yaml"
JSON_PATCH, MERGE = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
TEN = "[0,1,2,3,4,5,6,7,8,9]"
COSTLY = f"{TEN}.all(a, {TEN}.all(b, {TEN}.all(c, {TEN}.all(d, a + b + c + d >= 0))))"
Attacks = Iterator[Attack]


def sent(method: str, path: str, body: Any, media: str = JSON, **headers: str) -> Attack:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Attack(method, path, data, {"content_type": media, **headers})


def config_map(name: str, **fields: Any) -> Attack:
    return sent("POST", MAPS, {"metadata": {"name": name}, **fields})


def pod(name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"app": name}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


def nested(depth: int, inside: str = "1") -> str:
    return '{"a":' * depth + inside + "}" * depth


def defined(group: str, schema: dict[str, Any]) -> Attack:
    made = definition(schema)
    made["metadata"]["name"] = f"widgets.{group}"
    made["spec"]["group"] = group
    return sent("POST", DEFINITIONS, made)


def widget(group: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}


def widgets(group: str) -> str:
    return f"/apis/{group}/v1/namespaces/default/widgets"


def label_selector_with_many_values() -> Attacks:
    values = ",".join(f"v{number}" for number in range(9_000))
    yield Attack("GET", f"{MAPS}?labelSelector=a+in+({values})")


def label_selector_with_many_requirements() -> Attacks:
    yield Attack("GET", f"{MAPS}?labelSelector=" + ",".join(f"k{number}!=v" for number in range(7_000)))


def field_selector_with_many_terms() -> Attacks:
    yield Attack("GET", f"{PODS}?fieldSelector=" + ",".join(f"metadata.name!=n{number}" for number in range(3_000)))


def selector_of_a_deleted_collection() -> Attacks:
    yield Attack("DELETE", f"{MAPS}?labelSelector=" + ",".join(f"k{n}+notin+(a,b,c)" for n in range(3_000)))


def json_patch_of_10_000_operations() -> Attacks:
    yield config_map("patched", data={"a": "b"})
    patch = [{"op": "add", "path": f"/data/k{number}", "value": "v"} for number in range(10_000)]
    yield sent("PATCH", f"{MAPS}/patched", patch, JSON_PATCH)


def json_patch_of_60_000_operations() -> Attacks:
    yield config_map("patched-more", data={"a": "b"})
    patch = [{"op": "test", "path": "/data/a", "value": "b"}] * 60_000
    yield sent("PATCH", f"{MAPS}/patched-more", patch, JSON_PATCH)


def json_patch_that_doubles_by_copies() -> Attacks:
    yield config_map("doubled", data={"a": "b" * 1_000})
    copies = [{"op": "copy", "from": "/metadata", "path": f"/metadata/x{number}"} for number in range(40)]
    yield sent("PATCH", f"{MAPS}/doubled", copies, JSON_PATCH)


def json_patch_with_a_deep_path() -> Attacks:
    yield config_map("pointed", data={"a": "b"})
    yield sent("PATCH", f"{MAPS}/pointed", [{"op": "add", "path": "/a" * 400_000, "value": 1}], JSON_PATCH)


def json_patch_at_the_front_of_a_long_list() -> Attacks:
    finalizers = [f"example.com/f{number}" for number in range(5_000)]
    yield config_map("listed", metadata={"name": "listed", "finalizers": finalizers})
    patch = [{"op": "add", "path": "/metadata/finalizers/0", "value": f"example.com/g{n}"} for n in range(9_000)]
    yield sent("PATCH", f"{MAPS}/listed", patch, JSON_PATCH)


def merge_patch_that_is_deep() -> Attacks:
    yield config_map("merged")
    yield sent("PATCH", f"{MAPS}/merged", nested(200_000).encode(), MERGE)


def strategic_merge_of_a_long_list() -> Attacks:
    yield sent("POST", PODS, pod("listed"))
    containers = [{"name": f"c{number}", "image": "i"} for number in range(8_000)]
    yield sent("PATCH", f"{PODS}/listed", {"spec": {"containers": containers}}, STRATEGIC)


def strategic_merge_with_a_long_order() -> Attacks:
    yield sent("POST", PODS, pod("ordered"))
    order = [{"name": f"c{number}"} for number in range(50_000)]
    yield sent("PATCH", f"{PODS}/ordered", {"spec": {"$setElementOrder/containers": order}}, STRATEGIC)


def apply_of_many_keys() -> Attacks:
    data = {f"k{number}": "v" for number in range(60_000)}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "wide"}, "data": data}
    yield sent("PATCH", f"{MAPS}/wide?fieldManager=a", document, APPLY)


def apply_of_a_long_keyed_list() -> Attacks:
    env = [{"name": f"E{number}", "value": "v"} for number in range(10_000)]
    document = pod("keyed", containers=[{"name": "c", "image": "i", "env": env}])
    yield sent("PATCH", f"{PODS}/keyed?fieldManager=a", document, APPLY)


def apply_that_is_deep() -> Attacks:
    yield defined("deep.example.com", {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    document = json.dumps(widget("deep.example.com", a=None)).replace("null", nested(900))
    yield sent("PATCH", f"{widgets('deep.example.com')}/w?fieldManager=a", document.encode(), APPLY)


def managed_fields_of_a_megabyte() -> Attacks:
    fields: dict[str, Any] = {"f:data": {f"f:k{number}": {} for number in range(4_000)}}
    entry = {"operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1"}
    entries = [{**entry, "manager": f"m{number}", "fieldsV1": fields} for number in range(20)]
    yield config_map("managed", data={"k1": "v"})
    metadata = {"name": "managed", "managedFields": entries}
    yield sent("PUT", f"{MAPS}/managed", {"metadata": metadata, "data": {"k1": "w"}})


def json_that_is_deep() -> Attacks:
    yield sent("POST", MAPS, b"[" * 3_000_000)


def json_of_a_million_values() -> Attacks:
    yield sent("POST", MAPS, b'{"metadata":{"name":"a"},"data":[' + b"[]," * 1_000_000 + b"1]}")


def json_with_a_number_of_3_000_000_digits() -> Attacks:
    yield sent("POST", MAPS, b'{"metadata":{"name":"a","generation":' + b"7" * 3_000_000 + b"}}")


def yaml_with_aliases_that_multiply() -> Attacks:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    yield sent("POST", MAPS, "\n".join(lines).encode(), YAML)


def yaml_of_a_megabyte() -> Attacks:
    text = "metadata: {name: yaml}\ndata:\n" + "".join(f"  k{number}: v\n" for number in range(80_000))
    yield sent("POST", MAPS, text.encode(), YAML)


def gzip_that_grows() -> Attacks:
    yield sent("POST", MAPS, gzip.compress(b'{"data":"' + b" " * 500_000_000, 1), content_encoding="gzip")


def gzip_of_a_long_list() -> Attacks:
    yield Attack("GET", MAPS, None, {"accept_encoding": "gzip"})


def object_of_many_keys() -> Attacks:
    yield config_map("many", data={f"k{number}": "v" for number in range(100_000)})


def object_of_many_labels() -> Attacks:
    yield config_map("labelled", metadata={"name": "labelled", "labels": {f"k{n}": "v" for n in range(50_000)}})


def pod_of_many_tolerations() -> Attacks:
    tolerations = [{"key": f"k{number}", "operator": "Exists"} for number in range(20_000)]
    yield sent("POST", PODS, pod("tolerant", tolerations=tolerations))


def quantity_with_a_huge_exponent() -> Attacks:
    limits = {"cpu": "1e999999999", "memory": "1" * 100_000 + "Ei"}
    yield sent("POST", PODS, pod("huge", containers=[{"name": "c", "image": "i", "resources": {"limits": limits}}]))


def path_of_a_megabyte() -> Attacks:
    yield Attack("GET", f"{MAPS}/" + "a" * 1_000_000)


def many_headers() -> Attacks:
    yield Attack("GET", MAPS, None, {f"x_h{number}": "v" * 50 for number in range(12_000)})


def table_of_a_long_list() -> Attacks:
    yield Attack("GET", MAPS, None, {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})


def watch_that_begins_with_a_long_list() -> Attacks:
    query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    yield Attack("GET", f"{MAPS}?{query}&timeoutSeconds=2")


def validating_policies_of_high_cost() -> Attacks:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["endpoints"]}]
    for number in range(6):
        spec = {"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": COSTLY}]}
        policy = {"metadata": {"name": f"p{number}"}, "spec": spec}
        yield sent("POST", f"{REGISTRATION}/validatingadmissionpolicies", policy)
        bound = {"policyName": f"p{number}", "validationActions": ["Deny"]}
        binding = {"metadata": {"name": f"p{number}"}, "spec": bound}
        yield sent("POST", f"{REGISTRATION}/validatingadmissionpolicybindings", binding)
    yield sent("POST", "/api/v1/namespaces/default/endpoints", {"metadata": {"name": "guarded"}})


def rule_of_low_estimate_and_high_cost() -> Attacks:
    rule = {"rule": "self.l.all(x, self.l.all(y, x + y >= 0))"}
    lists = {"l": {"type": "array", "maxItems": 400, "items": {"type": "integer"}}}
    group = "costly.example.com"
    yield defined(group, {"type": "object", "properties": lists, "x-kubernetes-validations": [rule]})
    yield sent("POST", widgets(group), widget(group, l=list(range(400))))


def definition_of_many_rules() -> Attacks:
    fields = {
        f"f{number}": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": f"self != 'x{number}'"}]}
        for number in range(600)
    }
    yield defined("rules.example.com", {"type": "object", "properties": fields})


def pattern_that_is_slow_to_compile() -> Attacks:
    fields = {"t": {"type": "string", "pattern": r"(\pL{100}[a-z]{3})?" * 9}}
    yield defined("pattern.example.com", {"type": "object", "properties": fields})


def pattern_of_305_kilobytes() -> Attacks:
    fields = {"t": {"type": "string", "pattern": "(a|b)" * 61_000}}
    yield defined("longer.example.com", {"type": "object", "properties": fields})


def device_selector_of_high_cost() -> Attacks:
    spec = {"selectors": [{"cel": {"expression": COSTLY.replace("a + b", "size(device.driver) + a + b")}}] * 30}
    yield sent("POST", f"{RESOURCE}/deviceclasses", {"metadata": {"name": "costly"}, "spec": spec})


def expression_that_is_deep() -> Attacks:
    spec = {"selectors": [{"cel": {"expression": "(" * 40_000 + "true" + ")" * 40_000}}]}
    yield sent("POST", f"{RESOURCE}/deviceclasses", {"metadata": {"name": "deep"}, "spec": spec})


def role_of_many_rules() -> Attacks:
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    rules = [{**rule, "resourceNames": [f"n{number}"]} for number in range(20_000)]
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    yield sent("POST", path, {"metadata": {"name": "many"}, "rules": rules})


def openapi_of_everything() -> Attacks:
    yield Attack("GET", "/openapi/v2")


ATTACKS: tuple[Callable[[], Attacks], ...] = (
    label_selector_with_many_values,
    label_selector_with_many_requirements,
    field_selector_with_many_terms,
    json_patch_of_10_000_operations,
    json_patch_of_60_000_operations,
    json_patch_that_doubles_by_copies,
    json_patch_with_a_deep_path,
    json_patch_at_the_front_of_a_long_list,
    merge_patch_that_is_deep,
    strategic_merge_of_a_long_list,
    strategic_merge_with_a_long_order,
    apply_of_many_keys,
    apply_of_a_long_keyed_list,
    apply_that_is_deep,
    managed_fields_of_a_megabyte,
    json_that_is_deep,
    json_of_a_million_values,
    json_with_a_number_of_3_000_000_digits,
    yaml_with_aliases_that_multiply,
    yaml_of_a_megabyte,
    gzip_that_grows,
    gzip_of_a_long_list,
    object_of_many_keys,
    object_of_many_labels,
    pod_of_many_tolerations,
    quantity_with_a_huge_exponent,
    path_of_a_megabyte,
    many_headers,
    table_of_a_long_list,
    watch_that_begins_with_a_long_list,
    validating_policies_of_high_cost,
    rule_of_low_estimate_and_high_cost,
    definition_of_many_rules,
    pattern_that_is_slow_to_compile,
    pattern_of_305_kilobytes,
    device_selector_of_high_cost,
    expression_that_is_deep,
    role_of_many_rules,
    openapi_of_everything,
    # The last one: it deletes the objects of the lists that others read.
    selector_of_a_deleted_collection,
)
