"""The types that a schema gives the variables of a rule, with the most elements that their values can have.

The estimate of a rule's cost needs to know how long texts, lists and maps may become: as long as the schema says, or
as long as the largest request.

Upstream: k8s.io/apiserver/pkg/cel/common/schemas.go, pkg/cel/types.go and pkg/cel/limits.go.
"""

import re
from dataclasses import dataclass, field
from typing import Any

MAX_REQUEST_BYTES = 3 * 1024 * 1024
_LITERALS = frozenset(("true", "false", "null", "in"))
_KEYWORDS = frozenset(("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop"))
_KEYWORDS |= {"package", "namespace", "return", "var", "void", "while"}
_ESCAPES = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))
_ESCAPABLE = re.compile(r"[a-zA-Z_./-][a-zA-Z0-9_./-]*")
_FORMATS = {"duration": ("duration", 3, 32), "date": ("timestamp", 12, 12), "date-time": ("timestamp", 21, 32)}
"""Format of a text: its type, and the smallest and largest size in JSON."""


@dataclass(frozen=True, slots=True)
class DeclType:
    """A type of CEL; lists and maps have an element, objects have fields."""

    name: str
    max_elements: int = 0
    min_size: int = 1
    """Bytes that the smallest value takes in JSON."""
    key: "DeclType | None" = None
    element: "DeclType | None" = None
    fields: "dict[str, DeclType]" = field(default_factory=dict)


DYN = DeclType("dyn")
BOOL, INT, UINT, DOUBLE = DeclType("bool", min_size=4), DeclType("int"), DeclType("uint"), DeclType("double")
STRING, BYTES = DeclType("string", min_size=2), DeclType("bytes", min_size=2)
_META = {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}}
_ROOT_FIELDS = {"kind": {"type": "string"}, "apiVersion": {"type": "string"}, "metadata": _META}


def list_of(element: DeclType, most: int = 0) -> DeclType:
    return DeclType("list", most, 2, element=element)


def map_of(key: DeclType, element: DeclType, most: int = 0) -> DeclType:
    return DeclType("map", most, 2, key, element)


def names_in_rules(name: str) -> tuple[str, ...]:
    """The names under which a rule may select a property: none, one, or two where it is a keyword of CEL."""
    if name in _LITERALS:
        return (f"__{name}__",)
    if name in _KEYWORDS:
        return f"__{name}__", name
    if not _ESCAPABLE.fullmatch(name):
        return ()
    for letters, replacement in _ESCAPES:
        name = name.replace(letters, replacement)
    return (name,)


def declared_type(schema: Any, *, root: bool = False) -> DeclType | None:
    """The type of a schema's values; None where a rule cannot see them."""
    if not isinstance(schema, dict):
        return None
    if schema.get("x-kubernetes-int-or-string"):
        return DeclType("dyn", _longest(schema, MAX_REQUEST_BYTES - 2))
    if root or schema.get("x-kubernetes-embedded-resource"):
        schema = schema | {"properties": (schema.get("properties") or {}) | _ROOT_FIELDS}
    match schema.get("type"):
        case "array":
            return _list(schema)
        case "object":
            return _map(schema) if isinstance(schema.get("additionalProperties"), dict) else _object(schema)
        case "string":
            return _string(schema)
        case "boolean":
            return BOOL
        case "number":
            return DOUBLE
        case "integer":
            return INT
    return None


def _longest(schema: dict[str, Any], otherwise: int) -> int:
    """Characters of a text in bytes: each may take four."""
    most = schema.get("maxLength")
    return otherwise if most is None else max(most, 0) * 4


def _string(schema: dict[str, Any]) -> DeclType:
    format_ = schema.get("format")
    if format_ in _FORMATS:
        name, least, most = _FORMATS[format_]
        return DeclType(name, most, least)
    if format_ == "byte":
        length = schema.get("maxLength")
        return DeclType("bytes", MAX_REQUEST_BYTES - 2 if length is None else max(length, 0), 2)
    longest = MAX_REQUEST_BYTES - 2
    if schema.get("enum"):
        longest = max((len(value.encode()) for value in schema["enum"] if isinstance(value, str)), default=0)
    return DeclType("string", _longest(schema, longest), 2)


def _list(schema: dict[str, Any]) -> DeclType | None:
    element = declared_type(schema.get("items"))
    if element is None:
        return None
    most = schema.get("maxItems")
    return list_of(element, (MAX_REQUEST_BYTES - 2) // (element.min_size + 1) if most is None else max(most, 0))


def _map(schema: dict[str, Any]) -> DeclType | None:
    element = declared_type(schema["additionalProperties"])
    if element is None:
        return None
    most = schema.get("maxProperties")
    return map_of(STRING, element, (MAX_REQUEST_BYTES - 2) // (element.min_size + 6) if most is None else max(most, 0))


def _object(schema: dict[str, Any]) -> DeclType:
    fields: dict[str, DeclType] = {}
    required, size = schema.get("required") or (), 2
    for name, known in (schema.get("properties") or {}).items():
        declared = declared_type(known)
        if declared is None:
            continue
        fields.update(dict.fromkeys(names_in_rules(name), declared))
        if name in required and "default" not in known:
            size += len(name.encode()) + declared.min_size + 4
    return DeclType("object", 0, size, fields=fields)
