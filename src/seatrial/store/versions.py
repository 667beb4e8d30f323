"""Several versions of one kind: each object is stored in one of them and converted when read in another."""

import orjson

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind, Kinds
from seatrial.store.objects import Stored

GroupKind = tuple[str, str]


class Versions:
    """Which version of a kind is stored, and the way between versions."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._stored: dict[GroupKind, Kind] = {}

    def storage_kind(self, kind: Kind) -> Kind:
        """The version in which objects of this kind are stored: the first that is registered unless told otherwise."""
        stored = self._stored.get(kind.group_kind)
        if stored is None:
            versions = (other for other in self._kinds if other.group_kind == kind.group_kind)
            stored = self._stored[kind.group_kind] = next(versions, kind)
        return stored

    def store_as(self, kind: Kind) -> None:
        """Store objects of this kind in this version from now on."""
        self._stored[kind.group_kind] = kind

    def forget(self, kind: Kind) -> None:
        self._stored.pop(kind.group_kind, None)

    def to_storage(self, kind: Kind, document: Document) -> tuple[Kind, Document]:
        """The document in the version it is stored in."""
        stored = self.storage_kind(kind)
        if stored.version != kind.version:
            document["apiVersion"] = stored.api_version
        return stored, document

    def read(self, kind: Kind, stored: Stored) -> Stored:
        """The object in the version asked for."""
        if stored.kind.version == kind.version:
            return stored
        document = stored.document()
        document["apiVersion"] = kind.api_version
        return Stored(kind, stored.namespace, stored.name, stored.revision, orjson.dumps(document))
