"""Whole objects, decoded once for all readers and all writes of their status."""

from typing import Any

from seatrial.model.documents import Document
from seatrial.store.objects import Stored
from seatrial.store.views.view import FIELDS_TRACKED, OWN, StatusView, View

_REST = View(dict[str, Any], without=(*OWN, FIELDS_TRACKED))
_STATUS = StatusView(dict[str, Any])


def shared_document(stored: Stored) -> Document:
    """The object decoded, for readers: the parts of it are shared, and metadata.resourceVersion may be an earlier one.

    It is not for pods, and not to be changed.
    """
    rest, facets = _REST.read(stored), stored.facets
    if facets is None:
        return rest
    found = {**rest, "metadata": {**rest["metadata"], "name": stored.name, "uid": facets.uid}}
    if facets.status:
        found["status"] = _STATUS.read(stored)
    else:
        found.pop("status", None)
    return found
