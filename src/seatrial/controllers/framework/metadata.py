"""Small changes to metadata that several controllers make."""

from collections.abc import Callable, Collection
from typing import Any

from seatrial.model.documents import Document


def drop_finalizer(document: Document, finalizer: str) -> None:
    """Take a finalizer away; an empty list is left out."""
    _keep(document["metadata"], "finalizers", lambda other: other != finalizer)


def drop_owners(document: Document, uids: Collection[str]) -> None:
    """Take the references to these owners away; an empty list is left out."""
    _keep(document["metadata"], "ownerReferences", lambda reference: reference["uid"] not in uids)


def _keep(meta: Document, field: str, is_kept: Callable[[Any], bool]) -> None:
    kept = [item for item in meta.pop(field, []) if is_kept(item)]
    if kept:
        meta[field] = kept
