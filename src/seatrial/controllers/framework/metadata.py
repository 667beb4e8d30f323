"""Small changes to metadata that several controllers make, and a test of it."""

from collections.abc import Collection

from seatrial.model.documents import Document
from seatrial.store import Stored

LIKENESSES_KEPT = 4096
_plain: dict[int, bool] = {}
"""By likeness: whether objects have neither owners nor finalizers."""


def is_plain(stored: Stored) -> bool:
    """Whether an object has neither owners nor finalizers; tested once for objects that are alike."""
    facets = stored.facets
    if facets is None:
        return _names_neither(stored.data)
    found = _plain.get(facets.likeness)
    if found is None:
        if len(_plain) >= LIKENESSES_KEPT:
            _plain.clear()
        found = _plain[facets.likeness] = _names_neither(stored.data)
    return found


def _names_neither(data: bytes) -> bool:
    return b'"ownerReferences"' not in data and b'"finalizers"' not in data


def drop_owners(document: Document, uids: Collection[str]) -> None:
    """Take the references to these owners away; an empty list is left out."""
    metadata = document["metadata"]
    if kept := [reference for reference in metadata.pop("ownerReferences", []) if reference["uid"] not in uids]:
        metadata["ownerReferences"] = kept
