"""Small changes to metadata that several controllers make, and a test of it."""

from collections.abc import Collection

import msgspec

from seatrial.model.documents import Document
from seatrial.store import OwnerReference, Stored, View


class _Metadata(msgspec.Struct, rename="camel"):
    owner_references: list[OwnerReference] | None = None
    finalizers: list[str] | None = None


class _Tied(msgspec.Struct):
    metadata: _Metadata


_TIED = View(_Tied, lambda seen: bool(seen.metadata.owner_references or seen.metadata.finalizers))


def is_tied(stored: Stored) -> bool:
    """Whether an object has owners or finalizers."""
    return _TIED.read(stored)


def drop_owners(document: Document, uids: Collection[str]) -> None:
    """Take the references to these owners away; an empty list is left out."""
    metadata = document["metadata"]
    if kept := [reference for reference in metadata.pop("ownerReferences", []) if reference["uid"] not in uids]:
        metadata["ownerReferences"] = kept
