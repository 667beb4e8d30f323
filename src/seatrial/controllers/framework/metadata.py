"""Small changes to metadata that several controllers make."""

from collections.abc import Collection

from seatrial.model.documents import Document


def drop_owners(document: Document, uids: Collection[str]) -> None:
    """Take the references to these owners away; an empty list is left out."""
    metadata = document["metadata"]
    if kept := [reference for reference in metadata.pop("ownerReferences", []) if reference["uid"] not in uids]:
        metadata["ownerReferences"] = kept
