"""Our own kinds are Structs: one declaration, from which the Kind record and the CRD schema are derived.

Fields are snake case in Python and camel case on the wire (said once, in `Part`). What JSON Schema cannot say
of a field (merge keys, list types) is put into `msgspec.Meta(extra_json_schema={"x-kubernetes-…": …})`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import inspect

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind


class Part(msgspec.Struct, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A piece of one of our documents; unknown fields are errors."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column that `kubectl get` prints."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0

    @classmethod
    def age(cls) -> "Column":
        return cls("Age", ".metadata.creationTimestamp", "date")


class Resource(Part):
    """A document of one of our kinds."""

    record: ClassVar[Kind]
    columns: ClassVar[tuple[Column, ...]] = ()

    api_version: str = ""
    kind: str = ""
    metadata: dict[str, Any] = {}


R = TypeVar("R", bound=type[Resource])
Descriptions = Mapping[type[Part], Mapping[str, str]]
"""What fields are for, by Struct and by the name on the wire, for kinds that do not say it field by field."""


def kind(
    api_version: str, *, plural: str, namespaced: bool, status: bool = True, short_names: tuple[str, ...] = ()
) -> Callable[[R], R]:
    """Declare a Resource to be a kind of the API."""
    group, _, version = api_version.rpartition("/")

    def declare(resource: R) -> R:
        resource.record = Kind(
            group,
            version,
            resource.__name__,
            plural,
            namespaced=namespaced,
            singular=resource.__name__.lower(),
            short_names=short_names,
            subresources=("status",) if status else (),
            custom=True,
        )
        return resource

    return declare


def openapi_of(resource: type[Part], descriptions: Descriptions | None = None) -> Document:
    """The structural schema of a Struct, as a CustomResourceDefinition has it."""
    return _schema(inspect.type_info(resource), descriptions or {})


def custom_resource_definition(resource: type[Resource], descriptions: Descriptions | None = None) -> Document:
    """The CustomResourceDefinition that serves a kind of ours in any cluster."""
    record = resource.record
    schema = openapi_of(resource, descriptions)
    schema["properties"]["metadata"] = {"type": "object"}
    version: Document = {
        "name": record.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": [
            {"name": column.name, "jsonPath": column.path, "type": column.type}
            | ({"priority": column.priority} if column.priority else {})
            for column in resource.columns
        ],
    }
    if "status" in record.subresources:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": record.resource},
        "spec": {
            "group": record.group,
            "names": {
                "kind": record.kind,
                "listKind": record.list_kind,
                "plural": record.plural,
                "singular": record.singular,
                **({"shortNames": list(record.short_names)} if record.short_names else {}),
            },
            "scope": "Namespaced" if record.namespaced else "Cluster",
            "versions": [version],
        },
    }


_SCALARS: dict[type, Document] = {
    inspect.StrType: {"type": "string"},
    inspect.BoolType: {"type": "boolean"},
    inspect.FloatType: {"type": "number"},
}


def _schema(info: inspect.Type, texts: Descriptions) -> Document:
    if isinstance(info, inspect.Metadata):
        return _described(_schema(info.type, texts), info.extra_json_schema or {})
    if isinstance(info, inspect.UnionType):
        members = [member for member in info.types if not isinstance(member, inspect.NoneType)]
        nullable: Document = {"nullable": True} if len(members) < len(info.types) else {}
        return (_schema(members[0], texts) if len(members) == 1 else _anything()) | nullable
    if isinstance(info, inspect.StructType):
        own = _texts(info.cls, texts)
        properties = {field.encode_name: _described(_schema(field.type, texts), own(field)) for field in info.fields}
        required = [field.encode_name for field in info.fields if field.required]
        about = info.cls.__dict__.get("__doc__")
        return {
            **({"description": about.partition("\n\n")[0]} if about else {}),
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
        }
    if isinstance(info, inspect.ListType | inspect.VarTupleType):
        return {"type": "array", "items": _schema(info.item_type, texts)}
    if isinstance(info, inspect.DictType):
        if isinstance(info.value_type, inspect.AnyType):
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {"type": "object", "additionalProperties": _schema(info.value_type, texts)}
    if isinstance(info, inspect.IntType):
        bounds = {"minimum": info.ge, "maximum": info.le}
        return {"type": "integer", "format": "int64"} | {k: v for k, v in bounds.items() if v is not None}
    return dict(_SCALARS.get(type(info)) or _anything())


def _texts(struct: type, texts: Descriptions) -> Callable[[inspect.Field], Document]:
    """The descriptions of a Struct's fields, those that it inherits included."""
    known = {name: text for base in reversed(struct.__mro__) for name, text in texts.get(base, {}).items()}
    return lambda field: {"description": known[field.encode_name]} if field.encode_name in known else {}


def _described(schema: Document, more: Document) -> Document:
    """A schema with what its field says; a description of the field comes before that of its type."""
    described = {"description": more["description"], **schema} if "description" in more else dict(schema)
    return described | more


def _anything() -> Document:
    return {"x-kubernetes-preserve-unknown-fields": True}
