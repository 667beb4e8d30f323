"""Checks the types of the fields that every object has, before the stages of a snapshot read them.

The rest of an object is checked when it is loaded, against the schema of its kind.
"""

from typing import Any

from seatrial.model.documents import Document

_TEXT, _OBJECT, _LIST = "a string", "an object", "a list of objects"
FIELDS = {
    ("metadata", "namespace"): _TEXT,
    ("metadata", "uid"): _TEXT,
    ("metadata", "creationTimestamp"): _TEXT,
    ("metadata", "labels"): _OBJECT,
    ("metadata", "annotations"): _OBJECT,
    ("metadata", "ownerReferences"): _LIST,
    ("spec",): _OBJECT,
    ("status",): _OBJECT,
    ("status", "conditions"): _LIST,
    ("status", "reservedFor"): _LIST,
    ("spec", "claimRef"): _OBJECT,
    ("spec", "capacity"): _OBJECT,
    ("spec", "template"): _OBJECT,
    ("spec", "template", "metadata"): _OBJECT,
    ("spec", "template", "metadata", "labels"): _OBJECT,
}


def misfit(document: Document) -> tuple[str, str] | None:
    """The first field of a wrong type, and what is expected there."""
    for path, expected in FIELDS.items():
        if path[0] != "metadata" and document.get("kind") == "CustomResourceDefinition":
            continue
        value = _value(document, path)
        if value is not None and not _fits(value, expected):
            return ".".join(path), f"expected {expected}, got {type(value).__name__}"
    return None


def _value(document: Document, path: tuple[str, ...]) -> Any:
    value: Any = document
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _fits(value: Any, expected: str) -> bool:
    if expected == _LIST:
        return isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return isinstance(value, str if expected == _TEXT else dict)
