"""Large documents as parts: a container that grows piece by piece is not encoded again for each revision.

A Scenario carries its whole result in its status. It is kept as a head, the encoded members of the growing container,
and a tail; a new revision has a new head and tail and shares the pieces. They are joined when the document is read.
"""

from dataclasses import dataclass

import orjson

from seatrial.model.documents import Document
from seatrial.store.objects import Stored

_MARK = b"\x01"
"""Never in JSON: control characters are escaped there."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The members of one container in a document, each encoded once."""

    path: tuple[str, ...]
    pieces: tuple[bytes, ...] = ()
    is_list: bool = False

    def with_member(self, key: str, value: object) -> "Parts":
        """With one more member of an object."""
        return self._with(orjson.dumps(key) + b":" + orjson.dumps(value))

    def with_item(self, value: object) -> "Parts":
        """With one more item of a list."""
        return self._with(orjson.dumps(value))

    def _with(self, piece: bytes) -> "Parts":
        return Parts(self.path, (*self.pieces, b"," + piece if self.pieces else piece), self.is_list)


def encode_with_parts(document: Document, parts: Parts) -> tuple[bytes, ...]:
    """The document with the container of `parts` in its place, as a head, the pieces, and a tail."""
    opening, closing = (b"[", b"]") if parts.is_list else (b"{", b"}")
    *parents, last = parts.path
    container = document
    for key in parents:
        container = container.setdefault(key, {})
    container[last] = orjson.Fragment(opening + _MARK + closing)
    head, _, tail = orjson.dumps(document).partition(_MARK)
    return (head, *parts.pieces, tail)


def without_parts(stored: Stored) -> Document:
    """The document with its growing container empty, whose pieces are thus not decoded."""
    content = stored.content
    if isinstance(content, bytes):
        return stored.document()
    document: Document = orjson.loads(content[0] + content[-1])
    return document


def shared_pieces(stored: Stored, previous: Stored | None) -> int:
    """How many pieces an object has in common with what it was before."""
    if previous is None or isinstance(stored.content, bytes) or isinstance(previous.content, bytes):
        return 0
    shared = 0
    for piece, before in zip(stored.content[1:-1], previous.content[1:-1], strict=False):
        if piece is not before:
            break
        shared += 1
    return shared


def new_bytes(stored: Stored, previous: Stored | None) -> int:
    """How much memory a revision takes beyond the one before."""
    pieces = stored.content
    if isinstance(pieces, bytes):
        return len(pieces)
    shared = shared_pieces(stored, previous)
    return len(pieces[0]) + len(pieces[-1]) + sum(map(len, pieces[1 + shared : -1]))
