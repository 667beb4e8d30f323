"""Checks that set and map lists have no duplicates, and that embedded resources have apiVersion and kind.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/{listtype,objectmeta}.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, invalid, required

_EMBEDDED = "x-kubernetes-embedded-resource"


def needs_list_checks(schema: Any) -> bool:
    """Whether a schema has sets, maps or embedded resources anywhere."""
    if not isinstance(schema, dict):
        return False
    if schema.get("x-kubernetes-list-type") in ("set", "map") or schema.get(_EMBEDDED):
        return True
    inner = (schema.get("items"), schema.get("additionalProperties"), *(schema.get("properties") or {}).values())
    return any(map(needs_list_checks, inner))


def list_causes(schema: Document, value: Any, path: str) -> Iterator[Cause]:
    """Errors for duplicate items, and for embedded resources without apiVersion or kind."""
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        yield from _repeated(schema, items, value, path)
        for index, item in enumerate(value):
            yield from list_causes(items, item, f"{path}[{index}]")
    elif isinstance(value, dict):
        if schema.get(_EMBEDDED):
            yield from _embedded(value, path)
        properties, extra = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, item in value.items():
            if key in properties:
                yield from list_causes(properties[key], item, f"{path}.{key}" if path else key)
            elif isinstance(extra, dict):
                yield from list_causes(extra, item, f"{path}[{key}]")


def _repeated(schema: Document, items: Document, value: list[Any], path: str) -> Iterator[Cause]:
    match schema.get("x-kubernetes-list-type"):
        case "set":
            keys: list[Any] = value
        case "map":
            keys = [_key(schema, items, item) for item in value]
        case _:
            return
    seen: set[bytes] = set()
    for index, key in enumerate(keys):
        encoded = orjson.dumps(key, option=orjson.OPT_SORT_KEYS)
        if encoded in seen:
            yield duplicate(f"{path}[{index}]", key)
        seen.add(encoded)


def _key(schema: Document, items: Document, item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    properties = items.get("properties") or {}
    defaults = {
        key: properties[key]["default"]
        for key in schema.get("x-kubernetes-list-map-keys") or ()
        if "default" in properties.get(key, {})
    }
    names = schema.get("x-kubernetes-list-map-keys") or ()
    return {name: item.get(name, defaults.get(name)) for name in names if name in item or name in defaults}


def _embedded(value: Document, path: str) -> Iterator[Cause]:
    for key in ("apiVersion", "kind"):
        here = f"{path}.{key}" if path else key
        if key not in value:
            yield required(here)
        elif not isinstance(value[key], str):
            yield invalid(here, value[key], "must be a string")
        elif not value[key]:
            yield invalid(here, value[key], "must not be empty")
