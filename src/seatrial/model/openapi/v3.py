"""OpenAPI v3: one document per group version, as kubectl explain and the clients' field validation read it.

Built-in types are rendered from the data file in the form upstream's builder gives them, with descriptions of our own
for the types that scheduling is about; a custom resource brings its own schema. Paths follow from the kinds.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.facts import FieldFacts, facts, type_facts
from seatrial.model.kinds import Kind
from seatrial.model.openapi.descriptions import descriptions_of
from seatrial.model.openapi.paths import paths_of

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
_OPTIONS = ("DeleteOptions", "Status", "WatchEvent")
TYPE_META = {
    "apiVersion": "APIVersion defines which group and version of the schema this object is written in.",
    "kind": "Kind names the type of this object within its group and version.",
}
OBJECT_META = "Name, namespace, labels and the other fields that all objects have."
_SPECIAL: dict[str, tuple[str, Document]] = {
    "quantity": (
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        {"oneOf": [{"type": "string"}, {"type": "number"}]},
    ),
    "intOrString": (
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    ),
    "time": (f"{_META}.Time", {"type": "string", "format": "date-time"}),
    "microTime": (f"{_META}.MicroTime", {"type": "string", "format": "date-time"}),
    "fieldsV1": (f"{_META}.FieldsV1", {"type": "object"}),
    "raw": ("io.k8s.apimachinery.pkg.runtime.RawExtension", {"type": "object"}),
    "json": (f"{_EXTENSIONS}.JSON", {}),
    "schemaOrBool": (f"{_EXTENSIONS}.JSONSchemaPropsOrBool", {}),
    "schemaOrArray": (f"{_EXTENSIONS}.JSONSchemaPropsOrArray", {}),
    "schemaOrStrings": (f"{_EXTENSIONS}.JSONSchemaPropsOrStringArray", {}),
}
"""Types with a form of their own: their model name and schema."""

_SCALARS: dict[str, tuple[Document, Any]] = {
    "string": ({"type": "string"}, ""),
    "bool": ({"type": "boolean"}, False),
    "int32": ({"type": "integer", "format": "int32"}, 0),
    "int64": ({"type": "integer", "format": "int64"}, 0),
    "float64": ({"type": "number", "format": "double"}, 0),
    "bytes": ({"type": "string", "format": "byte"}, None),
    "interface": ({"type": "object"}, None),
}
"""Scalars: their schema and the zero value that is the default where a field is always written."""


def group_versions(kinds: Iterable[Kind]) -> dict[str, list[Kind]]:
    """The kinds by the path of their OpenAPI document: `api/v1`, `apis/apps/v1`."""
    found: dict[str, list[Kind]] = {}
    for kind in kinds:
        found.setdefault(f"apis/{kind.api_version}" if kind.group else f"api/{kind.version}", []).append(kind)
    return found


def openapi_document(kinds: Iterable[Kind], custom: Mapping[tuple[str, str], Document] | None = None) -> Document:
    """The document of one group version; `custom` holds the schemas of custom resources by apiVersion and kind."""
    kinds = list(kinds)
    schemas = _Components(kinds, custom or {})
    paths: Document = {}
    for kind in kinds:
        paths.update(paths_of(kind, schemas.name_of))
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": facts().version},
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.rendered.items())),
            "securitySchemes": {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}},
        },
    }


class _Components:
    """The schemas a document needs: its kinds, their lists, options, and all that these refer to."""

    def __init__(self, kinds: list[Kind], custom: Mapping[tuple[str, str], Document]) -> None:
        self.rendered: Document = {}
        self._kinds: dict[str, list[Document]] = {}
        for kind in kinds:
            for spoken in _spoken(kind):
                self._tag(self.name_of(*spoken), *spoken)
            if (schema := custom.get((kind.api_version, kind.kind))) is not None:
                self._add_custom(kind, schema)
        for option in _OPTIONS:
            for api_version in dict.fromkeys(("v1", *(kind.api_version for kind in kinds[:1]))):
                self._tag(f"{_META}.{option}", api_version, option)
        self.rendered[f"{_META}.Patch"] = {"type": "object"}
        for name in list(self._kinds):
            self._add(name)

    def name_of(self, api_version: str, kind: str) -> str:
        """The name a kind's schema has in the document."""
        built_in = facts().kinds.get(f"{api_version}/{kind}")
        if built_in is not None:
            return built_in
        group, _, version = api_version.rpartition("/")
        return ".".join((*reversed(group.split(".")), version, kind))

    def _tag(self, name: str, api_version: str, kind: str) -> None:
        group, _, version = api_version.rpartition("/")
        tags = self._kinds.setdefault(name, [])
        if (tag := {"group": group, "version": version, "kind": kind}) not in tags:
            tags.append(tag)

    def _add(self, name: str) -> None:
        if name in self.rendered or name not in facts().types:
            return
        schema = self.rendered[name] = {"type": "object"}
        schema.update(_object(name, self._refer))
        if name in self._kinds:
            schema["x-kubernetes-group-version-kind"] = self._kinds[name]
            for field, text in TYPE_META.items():
                if field in schema.get("properties", ()):
                    schema["properties"][field]["description"] = text

    def _refer(self, reference: str) -> Document:
        name, special = _SPECIAL.get(reference, (reference, None))
        if special is not None:
            self.rendered.setdefault(name, dict(special))
            if reference.startswith("schemaOr"):
                self._add(f"{_EXTENSIONS}.JSONSchemaProps")
        else:
            self._add(name)
        return {"$ref": f"#/components/schemas/{name}"}

    def _add_custom(self, kind: Kind, schema: Document) -> None:
        """A custom resource's own schema, with the metadata all objects have, and its list."""
        meta = {name: {"type": "string", "description": text} for name, text in TYPE_META.items()}
        object_meta = {"allOf": [self._refer(f"{_META}.ObjectMeta")], "description": OBJECT_META}
        name, list_name = (self.name_of(kind.api_version, each) for each in (kind.kind, kind.list_kind))
        self.rendered[name] = {
            "type": "object",
            **schema,
            "properties": {**(schema.get("properties") or {}), **meta, "metadata": object_meta},
            "x-kubernetes-group-version-kind": self._kinds[name],
        }
        items = {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}}
        self.rendered[list_name] = {
            "type": "object",
            "required": ["items"],
            "properties": {**meta, "metadata": self._refer(f"{_META}.ListMeta"), "items": items},
            "x-kubernetes-group-version-kind": self._kinds[list_name],
        }


def _spoken(kind: Kind) -> Iterator[tuple[str, str]]:
    """Every kind that the paths of a kind accept or return, as apiVersion and kind."""
    yield kind.api_version, kind.kind
    if "list" in kind.verbs:
        yield kind.api_version, kind.list_kind
    for part in kind.subresource_facts:
        yield part.api_version, part.kind


def _object(name: str, refer: Callable[[str], Document]) -> Document:
    properties: Document = {}
    required = []
    meanings = descriptions_of(name)
    for field in _flattened(name):
        properties[field.name] = _property(field, refer)
        if meaning := meanings.get(field.name):
            properties[field.name]["description"] = meaning
        if field.required:
            required.append(field.name)
    schema: Document = {"properties": properties} if properties else {}
    if meaning := meanings.get(""):
        schema["description"] = meaning
    if required:
        schema["required"] = required
    if map_type := type_facts(name).map_type:
        schema["x-kubernetes-map-type"] = map_type
    return schema


def _flattened(name: str) -> Iterator[FieldFacts]:
    for field in type_facts(name).fields or ():
        if field.inline:
            yield from _flattened(field.type)
        else:
            yield field


def _property(field: FieldFacts, refer: Callable[[str], Document]) -> Document:
    schema = _type(field.type, refer)
    if "$ref" in schema:
        schema = {"allOf": [schema]}
        if "." in field.type and not field.pointer:
            schema["default"] = {}
    elif not field.pointer and not field.omit_empty and (zero := _SCALARS.get(field.type, ({}, None))[1]) is not None:
        schema["default"] = zero
    if field.default is not None:
        schema["default"] = field.default
    if field.enum:
        (schema["items"] if field.type.startswith("[]") else schema)["enum"] = list(field.enum)
    for keyword, value in (
        ("nullable", field.nullable),
        ("x-kubernetes-list-map-keys", list(field.list_map_keys)),
        ("x-kubernetes-list-type", field.list_type),
        ("x-kubernetes-map-type", field.map_type),
        ("x-kubernetes-patch-merge-key", field.merge_key),
        ("x-kubernetes-patch-strategy", field.patch_strategy),
        ("format", field.format),
    ):
        if value:
            schema[keyword] = value
    return schema


def _type(reference: str, refer: Callable[[str], Document]) -> Document:
    reference = reference.removeprefix("~")
    if reference.startswith("[]"):
        return {"type": "array", "items": _element(reference[2:], refer)}
    if reference.startswith("{}"):
        return {"type": "object", "additionalProperties": _element(reference[2:], refer)}
    if reference in _SCALARS:
        return dict(_SCALARS[reference][0])
    return refer(reference)


def _element(reference: str, refer: Callable[[str], Document]) -> Document:
    """The schema of a list's or map's elements, which are always written."""
    schema = _type(reference, refer)
    if "$ref" in schema:
        return {"allOf": [schema], "default": {}} if "." in reference else schema
    zero = _SCALARS.get(reference, ({}, None))[1]
    return schema if zero is None else {**schema, "default": zero}
