"""The canonical form of an object is its encoded JSON; dicts are decoded on demand and not kept."""

from typing import Any

import orjson

Document = dict[str, Any]


def encode(document: Any) -> bytes:
    """The JSON bytes of a document."""
    return orjson.dumps(document)


def encode_sorted(document: Any) -> bytes:
    """The JSON bytes of a document whatever the order of its fields."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def decode(data: bytes | str) -> Any:
    """A fresh document from its bytes; the caller owns it and may change it."""
    return orjson.loads(data)
