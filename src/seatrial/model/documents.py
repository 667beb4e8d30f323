"""The canonical form of an object is its encoded JSON; dicts are decoded on demand and not kept."""

from typing import Any

import orjson

Document = dict[str, Any]


def encode(document: Any) -> bytes:
    """The JSON bytes of a document."""
    return orjson.dumps(document)


def encode_to_keep(document: Any) -> bytes:
    """The JSON bytes of a document in a piece of memory that is no larger than they are.

    orjson writes into a buffer of at least 4 KiB that it doubles, and what is left of it is rarely of use again: with
    50,000 pods kept as it returns them they take three times their size.
    """
    return bytes(memoryview(orjson.dumps(document)))


def encode_sorted(document: Any) -> bytes:
    """The JSON bytes of a document whatever the order of its fields."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def encode_arrays(document: Any) -> bytes:
    """The JSON bytes of a document in which lists of numbers may be NumPy arrays."""
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)


def decode(data: bytes | str) -> Any:
    """A fresh document from its bytes; the caller owns it and may change it."""
    return orjson.loads(data)
