"""Objects as the scheduler assumes them to be until the API server has its write.

Upstream: volumebinding/passive_assume_cache.go. An assumed object counts only as long as the stored one has the
revision it was made from.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.scheduler.framework.cluster import ObjectLister
from seatrial.scheduler.volumes.claims import metadata_of


class AssumedObjects:
    """One kind of objects, with what is assumed about them."""

    def __init__(self, cluster: ObjectLister, kind: str) -> None:
        self._cluster = cluster
        self._kind = kind
        self._assumed: dict[tuple[str, str], Document] = {}

    def get(self, name: str, namespace: str = "") -> Document | None:
        """An object as it is assumed to be."""
        stored = self._cluster.get(self._kind, name, namespace)
        return None if stored is None else self._current(stored)

    def stored(self, name: str, namespace: str = "") -> Document | None:
        """An object as the API server has it."""
        return self._cluster.get(self._kind, name, namespace)

    def all(self) -> Iterator[Document]:
        """All objects, by name."""
        for stored in self._cluster.list(self._kind):
            yield self._current(stored)

    def assume(self, document: Document) -> None:
        """From now on the object is taken to be this."""
        self._assumed[_key(document)] = document

    def restore(self, document: Document) -> None:
        """The object is what the API server has."""
        self._assumed.pop(_key(document), None)

    def _current(self, stored: Document) -> Document:
        assumed = self._assumed.get(_key(stored)) if self._assumed else None
        if assumed is None:
            return stored
        if metadata_of(assumed).get("resourceVersion") != metadata_of(stored).get("resourceVersion"):
            return stored
        return assumed


def _key(document: Document) -> tuple[str, str]:
    metadata = metadata_of(document)
    return metadata.get("namespace") or "", metadata.get("name", "")
