"""The difference between two states of an object, as the merge patch that leads from one to the other."""

from typing import Any

from seatrial.model.documents import Document

BOOKKEEPING = frozenset({"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp"})


def merge_diff(old: Document, new: Document) -> Document:
    """A JSON merge patch of what was changed on purpose: status and the server's bookkeeping are left out."""
    patch = _diff(_meant(old), _meant(new))
    return patch if isinstance(patch, dict) else {}


def _meant(document: Document) -> Document:
    meant = {key: value for key, value in document.items() if key != "status"}
    metadata = document.get("metadata") or {}
    meant["metadata"] = {key: value for key, value in metadata.items() if key not in BOOKKEEPING}
    return meant


def _diff(old: Document, new: Document) -> Document:
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if key in old and before == value:
            continue
        patch[key] = _diff(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return patch
