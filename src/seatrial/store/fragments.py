"""Counts what revisions of a large document share: a container that grows is not encoded again for each revision.

A Scenario carries its whole result in its status. It is kept as a head, the encoded members of the growing container,
and a tail; a new revision has a new head and tail and shares the pieces. They are joined when the document is read.
"""

from seatrial.store.objects import Stored


def shared_pieces(stored: Stored, previous: Stored | None) -> int:
    """How many pieces an object has in common with what it was before."""
    pieces, earlier = stored.content, previous.content if previous is not None else b""
    if not isinstance(pieces, tuple) or not isinstance(earlier, tuple):
        return 0
    shared = 0
    for piece, before in zip(pieces[1:-1], earlier[1:-1], strict=False):
        if piece is not before:
            break
        shared += 1
    return shared


def new_bytes(stored: Stored, previous: Stored | None) -> int:
    """How much memory a revision takes beyond the one before."""
    pieces = stored.content
    if not isinstance(pieces, tuple):
        return stored.size
    shared = shared_pieces(stored, previous)
    return len(pieces[0]) + len(pieces[-1]) + sum(map(len, pieces[1 + shared : -1]))
