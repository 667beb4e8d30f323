"""Pod templates: their short names, and when two are the same.

The hash is ours (of the encoded template, keys sorted: clients send fields in any order), since upstream's is a hash
of Go's memory.
"""

from seatrial.model.documents import Document, encode_sorted

TEMPLATE_HASH = "pod-template-hash"
SAFE = "bcdfghjklmnpqrstvwxz2456789"
"""Letters and digits that make no words."""


def template_hash(template: Document, collisions: int | None) -> str:
    """A short name for a template: FNV-1a over its encoded form, in safe letters."""
    value = 2166136261
    for byte in encode_sorted(template) + (b"" if collisions is None else collisions.to_bytes(8, "little")):
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return "".join(SAFE[ord(digit) % len(SAFE)] for digit in str(value))


def same_template(first: Document, second: Document) -> bool:
    """Equal but for the hash label."""
    return first.get("spec") == second.get("spec") and _meta(first) == _meta(second)


def _meta(template: Document) -> Document:
    meta: Document = template.get("metadata", {})
    labels = {key: value for key, value in meta.get("labels", {}).items() if key != TEMPLATE_HASH}
    return {key: value for key, value in meta.items() if value is not None} | {"labels": labels}
