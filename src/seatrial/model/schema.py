"""The shape of a kind's documents: one tree for built-in kinds and for custom resources.

Patches, apply, pruning, decoding, protobuf, tables and explain all walk a `Schema`. Built-in types come from the data
file and resolve their fields on first use (some contain themselves); a CustomResourceDefinition's OpenAPI schema is
converted to the same form.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any

from seatrial.model.facts import FieldFacts, facts, type_facts
from seatrial.model.kinds import Kind

_SCALARS = {
    "string": ("string", ""),
    "bool": ("boolean", ""),
    "int32": ("integer", "int32"),
    "int64": ("integer", "int64"),
    "float64": ("number", "double"),
    "bytes": ("bytes", "byte"),
    "interface": ("json", ""),
}
"""Go's scalars as type and format; every other name without a dot is a type of its own (quantity, time, raw, …)."""

_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


@dataclass(frozen=True, eq=False)
class Schema:
    """A type: object, map, array, string, integer, number, boolean, bytes, or one with its own form on the wire.

    The latter are quantity, intOrString, time, microTime, duration, fieldsV1, raw (any object), json (any value) and,
    in CustomResourceDefinitions, schemaOrBool, schemaOrArray and schemaOrStrings.
    """

    type: str
    name: str = ""
    format: str = ""
    items: "Schema | None" = None
    values: "Schema | None" = None
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    enum: tuple[Any, ...] = ()
    nullable: bool = False
    preserves_unknown: bool = False
    embedded: bool = False
    own_fields: "Mapping[str, Field] | None" = None
    merges: bool = False
    """Whether strategic merge patches are known to a kind that is not built in."""

    @cached_property
    def fields(self) -> "Mapping[str, Field]":
        """An object's fields by their name in JSON, in the order Go writes them."""
        if self.own_fields is not None:
            return self.own_fields
        return _fields_of(self.name) if self.name else MappingProxyType({})


@dataclass(frozen=True, eq=False, slots=True)
class Field:
    """A field of an object, how patches and apply treat it, and where Go keeps it."""

    name: str
    schema: Schema
    required: bool = False
    merge_key: str = ""
    patch_strategy: str = ""
    default: Any = None
    pointer: bool = False
    omit_empty: bool = False
    omit_zero: bool = False
    go_type: str = ""
    embedded_in: tuple[str, ...] = ()

    @property
    def patch_strategies(self) -> tuple[str, ...]:
        """The strategies one by one: `merge`, `replace`, `retainKeys`."""
        return tuple(self.patch_strategy.split(",")) if self.patch_strategy else ()

    @property
    def list_type(self) -> str:
        return self.schema.list_type

    @property
    def list_map_keys(self) -> tuple[str, ...]:
        return self.schema.list_map_keys

    @property
    def map_type(self) -> str:
        return self.schema.map_type

    @property
    def enum(self) -> tuple[Any, ...]:
        return self.schema.enum

    @property
    def format(self) -> str:
        return self.schema.format


def schema_of(kind: Kind) -> Schema | None:
    """The schema of a built-in kind; a custom one has its schema in its CustomResourceDefinition."""
    return schema_for(kind.api_version, kind.kind)


def has_strategic_patch(kind: Kind) -> bool:
    """Whether strategic merge patches know how to merge the lists of a kind: those of built-in kinds alone."""
    return not kind.custom and schema_of(kind) is not None


def schema_for(api_version: str, kind: str) -> Schema | None:
    """The schema of anything Kubernetes registers under a name: kinds, their lists, options, Status."""
    name = facts().kinds.get(f"{api_version}/{kind}")
    return None if name is None else schema_named(name)


@cache
def schema_named(name: str) -> Schema:
    """The schema of a Go type by its OpenAPI model name."""
    return Schema("object", name=name, map_type=type_facts(name).map_type)


@cache
def _fields_of(name: str) -> Mapping[str, Field]:
    fields: dict[str, Field] = {}
    for field in type_facts(name).fields or ():
        if field.inline:
            embedded = field.type.rpartition(".")[2]
            for name, lent in _fields_of(field.type).items():
                fields[name] = replace(lent, embedded_in=(embedded, *lent.embedded_in))
        else:
            fields[field.name] = _field(field)
    return MappingProxyType(fields)


def _field(field: FieldFacts) -> Field:
    return Field(
        name=field.name,
        schema=_field_schema(field),
        required=field.required,
        merge_key=field.merge_key,
        patch_strategy=field.patch_strategy,
        default=field.default,
        pointer=field.pointer,
        omit_empty=field.omit_empty,
        omit_zero=field.omit_zero,
        go_type=field.go or _go_type(field.type),
    )


def _field_schema(field: FieldFacts) -> Schema:
    schema = _referred(field.type)
    if schema.items is not None:
        items = replace(schema.items, enum=field.enum) if field.enum else schema.items
        return replace(
            schema, items=items, list_type=field.list_type, list_map_keys=field.list_map_keys, nullable=field.nullable
        )
    if field.map_type or field.enum or field.format or field.nullable:
        return replace(
            schema,
            map_type=field.map_type or schema.map_type,
            enum=field.enum,
            format=field.format or schema.format,
            nullable=field.nullable,
        )
    return schema


def _go_type(reference: str) -> str:
    """How Go writes a type that has no name of its own; error texts of the API show it."""
    if reference.startswith("[]"):
        return f"[]{_go_type(reference[2:])}"
    if reference.startswith("{}"):
        return f"map[string]{_go_type(reference[2:])}"
    return "[]uint8" if reference == "bytes" else ".".join(reference.split(".")[-2:])


@cache
def _referred(reference: str) -> Schema:
    """The schema a field's type names; see tools/facts for the notation."""
    if reference.startswith("~"):
        return _referred(reference[1:])
    if reference.startswith("[]"):
        return Schema("array", items=_referred(reference[2:]))
    if reference.startswith("{}"):
        return Schema("map", values=_referred(reference[2:]))
    if "." in reference:
        return schema_named(reference)
    type_, format_ = _SCALARS.get(reference, (reference, ""))
    return Schema(type_, format=format_)


def metadata_schema() -> Schema:
    """The schema of metadata, which objects of every kind have."""
    return schema_named(_OBJECT_META)


def schema_from_openapi(document: Mapping[str, Any], *, root: bool = False) -> Schema:
    """The schema of an OpenAPI v3 document as CustomResourceDefinitions have it.

    At the root (and where `x-kubernetes-embedded-resource` says so) apiVersion, kind and metadata are there even if
    the document does not mention them.
    """
    keywords: dict[str, Any] = {
        "format": document.get("format", ""),
        "list_type": document.get("x-kubernetes-list-type", ""),
        "list_map_keys": tuple(document.get("x-kubernetes-list-map-keys") or ()),
        "map_type": document.get("x-kubernetes-map-type", ""),
        "enum": tuple(document.get("enum") or ()),
        "nullable": bool(document.get("nullable")),
        "preserves_unknown": bool(document.get("x-kubernetes-preserve-unknown-fields")),
        "merges": root and document.get("x-kubernetes-patch-strategy") == "merge",
        "embedded": root or bool(document.get("x-kubernetes-embedded-resource")),
    }
    if document.get("x-kubernetes-int-or-string"):
        return Schema("intOrString", **keywords)
    match document.get("type"):
        case "array":
            return Schema("array", items=schema_from_openapi(document.get("items") or {}), **keywords)
        case "object" | None if keywords["embedded"] or document.get("properties"):
            return Schema("object", own_fields=_custom_fields(document, keywords["embedded"]), **keywords)
        case "object" if (values := document.get("additionalProperties")) is not None and values is not False:
            return Schema(
                "map", values=schema_from_openapi(values if isinstance(values, dict) else _ANYTHING), **keywords
            )
        case "object":
            return Schema("object", **keywords)
        case None:
            return Schema("json", **keywords)
        case type_:
            return Schema(str(type_), **keywords)


_ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}


def _custom_fields(document: Mapping[str, Any], embedded: bool) -> Mapping[str, Field]:
    required = set(document.get("required") or ())
    fields: dict[str, Field] = {}
    for name, value in (document.get("properties") or {}).items():
        fields[name] = Field(
            name,
            schema_from_openapi(value),
            name in required,
            merge_key=value.get("x-kubernetes-patch-merge-key", ""),
            patch_strategy=value.get("x-kubernetes-patch-strategy", ""),
            default=value.get("default"),
        )
    if embedded:
        fields["apiVersion"] = Field("apiVersion", _referred("string"))
        fields["kind"] = Field("kind", _referred("string"))
        fields["metadata"] = Field("metadata", metadata_schema())
    return MappingProxyType(fields)
