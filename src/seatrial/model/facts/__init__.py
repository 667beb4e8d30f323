"""The facts about Kubernetes' built-in kinds: the data files in this folder, made by `tools/facts/update`.

`kubernetes.json.z` holds every Go type of the API as it looks on the wire, and discovery; `newer.json.z` the kinds that
a later release serves besides. They are read once, on first use, and a type is decoded on first use, since a run
touches a dozen kinds of some hundreds.
"""

import zlib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec


class FieldFacts(msgspec.Struct, frozen=True, rename="camel"):
    """One field of a type; an inline field has no name and lends its own fields to the type around it."""

    type: str
    go: str = ""
    name: str = ""
    number: int = 0
    pointer: bool = False
    omit_empty: bool = False
    omit_zero: bool = False
    inline: bool = False
    required: bool = False
    nullable: bool = False
    patch_strategy: str = ""
    merge_key: str = ""
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    format: str = ""
    enum: tuple[str, ...] = ()
    default: Any = None


class TypeFacts(msgspec.Struct, frozen=True, rename="camel"):
    """A type: its fields in the order Go writes them."""

    fields: tuple[FieldFacts, ...] | None = ()
    map_type: str = ""


class ResourceFacts(msgspec.Struct, frozen=True, rename="camel"):
    """A resource or subresource as discovery lists it; group and version only where they differ from its list."""

    name: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    singular_name: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    group: str = ""
    version: str = ""


class VersionFacts(msgspec.Struct, frozen=True):
    """A version of a group; `served` is whether an API server serves it by default."""

    version: str
    served: bool
    resources: tuple[ResourceFacts, ...]


class GroupFacts(msgspec.Struct, frozen=True):
    """A group with its versions, the preferred one first."""

    name: str
    versions: tuple[VersionFacts, ...]


class Facts(msgspec.Struct, frozen=True):
    """The whole file; types are keyed by OpenAPI model name, kinds by `apiVersion/kind`."""

    version: str
    types: dict[str, msgspec.Raw]
    kinds: dict[str, str]
    groups: tuple[GroupFacts, ...]


@cache
def facts() -> Facts:
    """The facts of the Kubernetes release this package follows."""
    base, more = _read("kubernetes.json.z"), newer_facts()
    return msgspec.structs.replace(base, types={**more.types, **base.types}, kinds={**more.kinds, **base.kinds})


@cache
def newer_facts() -> Facts:
    """The kinds that a later release serves by default besides those of `facts`, and the types that they add."""
    return _read("newer.json.z")


def _read(name: str) -> Facts:
    data = files(__name__).joinpath(name).read_bytes()
    return msgspec.json.decode(zlib.decompress(data), type=Facts)


@cache
def type_facts(name: str) -> TypeFacts:
    """The facts of one type, by its OpenAPI model name."""
    return msgspec.json.decode(facts().types[name], type=TypeFacts)
