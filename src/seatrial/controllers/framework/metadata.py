"""Small changes to metadata that several controllers make, and a test of it."""

from collections.abc import Callable, Collection

from seatrial.model.documents import Document
from seatrial.store import Memo, Stored

LIKENESSES_KEPT = 4096


def mentioning(*fields: bytes) -> Callable[[Stored], bool]:
    """A test whether the bytes of an object name one of these fields; done once for objects that are alike."""
    known: Memo[int, bool] = Memo(LIKENESSES_KEPT)

    def is_mentioning(stored: Stored) -> bool:
        facets = stored.facets
        found = known.get(facets.likeness) if facets is not None else None
        if found is None:
            data = stored.data
            found = any(field in data for field in fields)
            if facets is not None:
                known[facets.likeness] = found
        return found

    return is_mentioning


is_tied = mentioning(b'"ownerReferences"', b'"finalizers"')
"""Whether an object may have owners or finalizers."""


def drop_owners(document: Document, uids: Collection[str]) -> None:
    """Take the references to these owners away; an empty list is left out."""
    metadata = document["metadata"]
    if kept := [reference for reference in metadata.pop("ownerReferences", []) if reference["uid"] not in uids]:
        metadata["ownerReferences"] = kept
