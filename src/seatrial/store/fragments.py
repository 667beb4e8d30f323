"""Counts what revisions of a large document share: a container that grows is not encoded again for each revision.

A Scenario carries its whole result in its status. It is kept as a head, the encoded members of the growing container,
and a tail; a new revision has a new head and tail and shares the pieces. They are joined when the document is read.
"""

from seatrial.store.objects import Stored


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
