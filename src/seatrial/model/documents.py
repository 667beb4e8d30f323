"""An object's canonical form is its encoded JSON; dicts are decoded when somebody needs one and not kept."""

from typing import Any

import orjson

Document = dict[str, Any]


def encode(document: Any) -> bytes:
    """The JSON bytes of a document."""
    return orjson.dumps(document)


def decode(data: bytes | str) -> Any:
    """A fresh document from its bytes; the caller owns it and may change it."""
    return orjson.loads(data)
