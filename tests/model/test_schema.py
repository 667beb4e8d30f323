"""Schemas of built-in kinds and of custom resources have one form."""

from seatrial.model.builtin import builtin_kinds
from seatrial.model.schema import Field, Schema, schema_for, schema_from_openapi, schema_of


def at(schema: Schema | None, path: str) -> Field:
    """The field at a dotted path; lists and maps are passed through."""
    assert schema is not None
    *parents, last = path.split(".")
    for name in parents:
        schema = schema.fields[name].schema
        schema = schema.items or schema.values or schema
    return schema.fields[last]


def pod() -> Schema | None:
    return schema_for("v1", "Pod")


def test_every_served_kind_and_its_list_has_a_schema() -> None:
    for kind in builtin_kinds():
        assert schema_of(kind), kind
        if "list" in kind.verbs:
            assert schema_for(kind.api_version, kind.list_kind), kind


def test_every_field_of_every_kind_resolves() -> None:
    seen: set[str] = set()
    todo = [schema_of(kind) for kind in builtin_kinds()]
    while todo:
        schema = todo.pop()
        if schema is None or (schema.name and schema.name in seen):
            continue
        seen.add(schema.name)
        todo += [schema.items, schema.values, *(field.schema for field in schema.fields.values())]
    assert len(seen) > 450


def test_inline_types_lend_their_fields() -> None:
    assert at(pod(), "spec.volumes.emptyDir").schema.type == "object"
    assert at(pod(), "apiVersion").schema.type == "string"


def test_patch_and_apply_keys_are_both_known() -> None:
    ports = at(pod(), "spec.containers.ports")
    assert (ports.merge_key, ports.patch_strategies) == ("containerPort", ("merge",))
    assert (ports.list_type, ports.list_map_keys) == ("map", ("containerPort", "protocol"))
    assert at(pod(), "spec.volumes").patch_strategies == ("merge", "retainKeys")
    spread = at(pod(), "spec.topologySpreadConstraints")
    assert (spread.merge_key, spread.list_map_keys) == ("topologyKey", ("topologyKey", "whenUnsatisfiable"))
    assert at(pod(), "metadata.finalizers").list_type == "set"


def test_atomic_structs_and_defaults_and_enums_are_known() -> None:
    assert at(pod(), "spec.nodeSelector").map_type == "atomic"
    assert at(pod(), "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution").map_type == "atomic"
    assert at(pod(), "spec.containers.ports.protocol").default == "TCP"
    assert "ClusterFirst" in at(pod(), "spec.dnsPolicy").enum


def test_types_with_a_form_of_their_own_are_named() -> None:
    limits = at(pod(), "spec.containers.resources.limits").schema
    assert limits.type == "map"
    assert limits.values is not None
    assert limits.values.type == "quantity"
    assert at(pod(), "spec.containers.livenessProbe.httpGet.port").schema.type == "intOrString"
    assert at(pod(), "metadata.creationTimestamp").schema.type == "time"
    assert at(schema_for("coordination.k8s.io/v1", "Lease"), "spec.renewTime").schema.type == "microTime"
    assert at(pod(), "spec.containers.name").required


CUSTOM = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer", "format": "int32", "default": 1},
                "port": {"x-kubernetes-int-or-string": True},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "anything": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "free": {"x-kubernetes-preserve-unknown-fields": True},
                "rules": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "properties": {"name": {"type": "string"}}},
                },
            },
        }
    },
}


def test_a_custom_schema_has_the_same_form() -> None:
    schema = schema_from_openapi(CUSTOM, root=True)
    assert schema.fields["spec"].required
    assert at(schema, "spec.replicas").default == 1
    assert at(schema, "spec.port").schema.type == "intOrString"
    assert at(schema, "spec.labels").schema.type == "map"
    assert at(schema, "spec.anything").schema.preserves_unknown
    assert at(schema, "spec.free").schema.type == "json"
    assert at(schema, "spec.rules").list_map_keys == ("name",)
    assert at(schema, "metadata.ownerReferences").merge_key == "uid"
