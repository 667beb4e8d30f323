"""Several versions of one kind: each object is stored in one of them and converted when read in another."""

from collections.abc import Callable

import orjson

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind, Kinds
from seatrial.store.conversions import STORED_AS, convert
from seatrial.store.crd.defaulting import apply_defaults
from seatrial.store.objects import Stored

GroupKind = tuple[str, str]


class Versions:
    """The storage version of each kind, and the conversion between versions."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._stored: dict[GroupKind, Kind] = {}
        self.defaults: Callable[[Kind, int], Document | None] = _no_defaults
        """The schema of a defined kind whose defaults an object of a revision may lack."""

    @staticmethod
    def key(kind: Kind) -> GroupKind:
        """The group and kind under which objects of a kind are kept."""
        group_kind = kind.group_kind
        return STORED_AS.get(group_kind, group_kind)

    def storage_kind(self, kind: Kind) -> Kind:
        """The version in which objects of this kind are stored: the first one registered, unless set."""
        key = self.key(kind)
        stored = self._stored.get(key)
        if stored is None:
            versions = (other for other in self._kinds if other.group_kind == key)
            stored = self._stored[key] = next(versions, kind)
        return stored

    def store_as(self, kind: Kind) -> None:
        """Store objects of this kind in this version from now on."""
        self._stored[kind.group_kind] = kind

    def forget(self, kind: Kind) -> None:
        self._stored.pop(kind.group_kind, None)

    def to_storage(self, kind: Kind, document: Document) -> tuple[Kind, Document]:
        """The document in the version it is stored in."""
        stored = self.storage_kind(kind)
        if _differ(stored, kind):
            document["apiVersion"] = kind.api_version
            document = convert(document, stored)
        return stored, document

    def read(self, kind: Kind, stored: Stored) -> Stored:
        """The object in the version asked for, with defaults that its kind has got since it was written."""
        schema = self.defaults(kind, stored.revision) if kind.custom else None
        differs = _differ(stored.kind, kind)
        if not differs and schema is None:
            return stored
        document = convert(stored.document(), kind) if differs else stored.document()
        if schema is not None:
            apply_defaults(schema, document)
        return Stored(kind, stored.namespace, stored.name, stored.revision, orjson.dumps(document))

    def read_all(self, kind: Kind, found: list[Stored]) -> list[Stored]:
        """Objects of one kind in the version asked for; those of a defined kind may be stored in several."""
        if kind.custom or (found and _differ(found[0].kind, kind)):
            return [self.read(kind, stored) for stored in found]
        return found


def _no_defaults(kind: Kind, revision: int) -> None:
    """Of kinds that no definition has: all defaults are filled in when an object is written."""


def _differ(stored: Kind, kind: Kind) -> bool:
    return stored.version != kind.version or stored.group != kind.group
