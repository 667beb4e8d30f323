"""Built-in types as structural schemas, to be embedded in a CustomResourceDefinition.

A field that holds a Volume or a PodTemplateSpec could be an object with `x-kubernetes-preserve-unknown-fields`, but
kube-apiserver does not compare such objects exactly: `self == oldSelf` holds there when one key replaces another
(unstructuredMap.Equal in apiserver/pkg/cel/common/valuesunstructured.go). So every field is spelled out.
"""

from collections.abc import Collection

from seatrial.model.documents import Document
from seatrial.model.schema import Schema, schema_named

CORE = "io.k8s.api.core.v1"
TEMPLATE_METADATA = ("name", "namespace", "labels", "annotations", "finalizers")
"""The metadata that a pod template can set."""

_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_FORMS: dict[str, Document] = {
    "quantity": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    "intOrString": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    "time": {"type": "string", "format": "date-time"},
    "bytes": {"type": "string", "format": "byte"},
}


def structural_schema(type_name: str, optional: Collection[str] = ()) -> Document:
    """The schema of a core/v1 type; `optional` are fields (as `spec.containers`) that are not required here."""
    return _schema(schema_named(f"{CORE}.{type_name}"), "", frozenset(optional))


def _schema(schema: Schema, path: str, optional: frozenset[str]) -> Document:
    if schema.type == "object":
        return _object(schema, path, optional)
    if schema.items is not None:
        return {"type": "array", "items": _schema(schema.items, f"{path}[]", optional)}
    if schema.values is not None:
        return {"type": "object", "additionalProperties": _schema(schema.values, f"{path}{{}}", optional)}
    if schema.type in _FORMS:
        return dict(_FORMS[schema.type])
    return {"type": schema.type, **({"format": schema.format} if schema.format else {})}


def _object(schema: Schema, path: str, optional: frozenset[str]) -> Document:
    fields = schema.fields
    if schema.name == _OBJECT_META:
        fields = {name: field for name, field in fields.items() if name in TEMPLATE_METADATA}
    paths = {name: f"{path}.{name}".removeprefix(".") for name in fields}
    properties = {name: _schema(field.schema, paths[name], optional) for name, field in fields.items()}
    required = [name for name, field in fields.items() if field.required and paths[name] not in optional]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}
