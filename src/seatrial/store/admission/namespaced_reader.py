"""Cached reads of the store for admission, and the Forbidden error.

Classes, limits and namespaces are read for every pod and seldom change, so their documents are kept by revision.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from seatrial.model.documents import Document
from seatrial.model.errors import Cause, Forbidden
from seatrial.store.memo import Memo
from seatrial.store.requests import Request

if TYPE_CHECKING:
    from seatrial.store.objects import Stored
    from seatrial.store.store import Store

_MOST_KEPT: Final = 4096


class Reader:
    """Documents of a store by name; they are shared, so never changed."""

    def __init__(self) -> None:
        self._kept: Memo[tuple[str, str, str, str], tuple[int, Document]] = Memo(_MOST_KEPT)

    def find(self, store: "Store", api_version: str, kind: str, name: str, namespace: str = "") -> Document | None:
        """The object of that name, or None."""
        known = store.kinds.named(api_version, kind)
        stored = store.find(known, name, namespace) if known is not None and name else None
        return self._document(stored) if stored is not None else None

    def all(self, store: "Store", api_version: str, kind: str, namespace: str = "") -> list[Document]:
        """The objects of a kind, of one namespace where one is named, in order."""
        known = store.kinds.named(api_version, kind)
        return [self._document(stored) for stored in store.list(known, namespace)] if known is not None else []

    def _document(self, stored: "Stored") -> Document:
        key = (stored.kind.group, stored.kind.kind, stored.namespace, stored.name)
        kept = self._kept.get(key)
        if kept is not None and kept[0] == stored.revision:
            return kept[1]
        document = stored.document()
        self._kept[key] = (stored.revision, document)
        return document


def forbidden(request: Request, why: str, causes: Sequence[Cause] = ()) -> Forbidden:
    """The refusal of a write, in upstream's words."""
    kind = request.kind
    return Forbidden(
        f'{kind.resource} "{request.name}" is forbidden: {why}',
        group=kind.group,
        kind=kind.plural,
        name=request.name,
        causes=causes,
    )


def joined(faults: Sequence[str]) -> str:
    """Several faults as Go's aggregate prints them."""
    unique = list(dict.fromkeys(faults))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
