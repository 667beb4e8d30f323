"""JSON merge patch (RFC 7386) as github.com/evanphx/json-patch v4 applies it.

Beyond the RFC, nulls inside what is newly added are dropped, also in objects within lists.
"""

from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.patches.refusals import bounded, cannot_unmarshal


@bounded
def apply_merge_patch(document: Document, patch: Any) -> Document:
    """The document with the patch merged in: null deletes, objects merge, all else replaces."""
    if patch is None:
        raise BadRequest("Invalid JSON Patch")
    if not isinstance(patch, dict):
        raise cannot_unmarshal(patch, "map[string]interface {}")
    _merge(document, patch)
    return document


def _merge(document: Document, patch: Document) -> None:
    for key, value in patch.items():
        if value is None:
            document.pop(key, None)
            continue
        current = document.get(key)
        if isinstance(current, dict) and isinstance(value, dict):
            _merge(current, value)
        elif isinstance(current, dict):
            document[key] = value
        else:
            document[key] = _without_nulls(value)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
