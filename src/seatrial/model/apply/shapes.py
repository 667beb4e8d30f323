"""The merge behaviour of a type's maps and lists, for server-side apply.

A `Shape` is derived from a `Schema` once. Lists are atomic unless their type or patch strategy says otherwise; what has
no schema (raw extensions, free-form objects) is taken whole or key by key as k8s.io/kube-openapi/pkg/schemaconv has it.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from seatrial.model.schema import Field, Schema

_ZEROS: Final = {"string": "", "integer": 0, "number": 0, "boolean": False, "quantity": "0", "intOrString": 0}


@dataclass(frozen=True, eq=False)
class ListShape:
    """A list: atomic, a set (no keys), or keyed."""

    atomic: bool
    keys: tuple[str, ...]
    item_schema: Schema | None

    @property
    def items(self) -> "Shape":
        return shape_of(self.item_schema) if self.item_schema is not None else UNTYPED

    def key_default(self, name: str) -> Any:
        """The default of a missing key of an item; None if the key has no default."""
        field = self.item_schema.fields.get(name) if self.item_schema is not None else None
        if field is None:
            return None
        if field.default is not None:
            return field.default
        built_in = self.item_schema is not None and self.item_schema.own_fields is None
        return _ZEROS.get(field.schema.type) if built_in and not field.pointer else None


@dataclass(frozen=True, eq=False)
class MapShape:
    """An object or a map."""

    atomic: bool
    schema: Schema | None
    values: "Schema | None"
    open: bool
    always: Mapping[str, Any]
    """Fields that exist even if they are not set, as in Go structs, with their empty values."""
    _declared: "dict[str, Shape]" = dataclasses.field(default_factory=dict)

    def declares(self, name: str) -> bool:
        return self.schema is not None and name in self.schema.fields

    def child(self, name: str) -> "Shape | None":
        """The shape of a key's value; None where the key is not allowed."""
        declared = self._declared.get(name)
        if declared is not None:
            return declared
        if self.schema is not None:
            field = self.schema.fields.get(name)
            if field is not None:
                self._declared[name] = shape = shape_of(field.schema, _list_strategy(field))
                return shape
        if self.values is not None:
            return shape_of(self.values)
        return DEDUCED if self.open else None


@dataclass(frozen=True, eq=False)
class Shape:
    """What a value may be; more than one where the type leaves it open."""

    scalar: str = ""
    list: ListShape | None = None
    map: MapShape | None = None


_ATOMIC_LIST: Final = ListShape(atomic=True, keys=(), item_schema=None)
UNTYPED: Final = Shape("untyped", _ATOMIC_LIST, MapShape(True, None, None, True, {}))
DEDUCED: Final = Shape("untyped", _ATOMIC_LIST, MapShape(False, None, None, True, {}))
_SCALARS: Final = {
    "string": Shape("string"),
    "bytes": Shape("string"),
    "integer": Shape("numeric"),
    "number": Shape("numeric"),
    "boolean": Shape("boolean"),
    "raw": UNTYPED,
    "json": DEDUCED,
    "schemaOrBool": DEDUCED,
    "schemaOrArray": DEDUCED,
    "schemaOrStrings": DEDUCED,
    "fieldsV1": Shape(map=DEDUCED.map),
}
_ANY_SCALAR: Final = Shape("untyped")


@lru_cache(maxsize=16384)
def shape_of(schema: Schema, strategy: tuple[str, str] = ("", "")) -> Shape:
    """The shape of a schema; `strategy` is a list field's patch strategy and merge key."""
    if schema.type == "array":
        return Shape(list=_list_shape(schema, *strategy))
    if schema.type == "map":
        return Shape(map=MapShape(schema.map_type == "atomic", None, schema.values, schema.values is None, {}))
    if schema.type == "object":
        fields = schema.fields
        always = {name: _zero(field) for name, field in fields.items() if _is_always_there(field)}
        is_open = schema.preserves_unknown or not fields
        built_in = schema.own_fields is None
        return Shape(map=MapShape(schema.map_type == "atomic", schema, None, is_open, always if built_in else {}))
    if schema.type == "json" and schema.map_type == "atomic":
        return UNTYPED
    return _SCALARS.get(schema.type, _ANY_SCALAR)


def _is_always_there(field: Field) -> bool:
    """Whether Go has the field in every value: structs, and what is written even if empty."""
    is_struct = field.schema.type == "object" and not field.pointer
    return not field.omit_zero and (is_struct or not field.omit_empty)


def _zero(field: Field) -> Any:
    if field.pointer:
        return None
    return {} if field.schema.type == "object" else _ZEROS.get(field.schema.type)


def _list_strategy(field: Field) -> tuple[str, str]:
    return (field.patch_strategy, field.merge_key) if field.patch_strategy else ("", "")


def _list_shape(schema: Schema, strategy: str, merge_key: str) -> ListShape:
    match schema.list_type:
        case "atomic":
            return ListShape(True, (), schema.items)
        case "set":
            return ListShape(False, (), schema.items)
        case "map":
            return ListShape(False, schema.list_map_keys, schema.items)
    if strategy in ("merge", "merge,retainKeys"):
        return ListShape(False, (merge_key,) if merge_key else (), schema.items)
    return ListShape(True, (), schema.items)
