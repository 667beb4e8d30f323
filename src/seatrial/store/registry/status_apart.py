"""Edits of objects whose status is large and written all the time, as that of a Running Scenario.

An edit takes longer than the time between two writes of the status, and it leaves the status alone. So it is worked out
from the rest of the object, and is put beside the status of the moment, which stays encoded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from seatrial.model.documents import Document, encode
from seatrial.model.kinds import Kind
from seatrial.store.objects import Stored

if TYPE_CHECKING:
    from seatrial.store.store import Store


@dataclass(frozen=True, slots=True)
class Apart:
    """An object and its status."""

    key: bytes
    """Equal for as long as nothing but the status changes."""
    read: Callable[[], Document]
    """Makes the object, of whose status only a part is there."""
    status: bytes = b""
    """The encoded status; empty where the object has none, or is edited as a whole."""


Split = Callable[[Stored], Apart]


def split(store: "Store", kind: Kind, current: Stored, subresource: str) -> Apart:
    """An object as it is edited: apart from its status where its kind says so, else as a whole."""
    apart = store.status_apart.get(kind.group_kind) if not subresource else None
    if apart is not None:
        found: Apart = apart(current)
        return found
    return Apart(str(current.revision).encode(), lambda: store.versions.read(kind, current).document())


def with_status(document: Document, status: bytes) -> Document:
    """The object with an encoded status, if there is one."""
    return {**document, "status": orjson.Fragment(status)} if status else document


def put_beside(store: "Store", document: Document, current: Stored, status: bytes, writer: str) -> Stored:
    """Commit an edited object with an encoded status."""
    rest = {key: value for key, value in document.items() if key != "status"}

    def pieces(revision: int) -> tuple[bytes, ...]:
        rest["metadata"]["resourceVersion"] = str(revision)
        return (encode(rest)[:-1] + b',"status":' + status + b"}",)

    return store.write_pieces(current, pieces, writer=writer, subresource="")
