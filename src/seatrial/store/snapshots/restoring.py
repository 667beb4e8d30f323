"""Takes a snapshot in so that a cluster that was at rest stays at rest."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, ConfigError, StatusError
from seatrial.store.objects import Stored
from seatrial.store.snapshots.autoscaling import note_usage
from seatrial.store.snapshots.completion import complete, with_uids
from seatrial.store.snapshots.loading import in_order, kind_of, load
from seatrial.store.snapshots.owners import note_absent_owners
from seatrial.store.snapshots.pod_starts import starting
from seatrial.store.snapshots.revisions import align_revisions
from seatrial.store.snapshots.shapes import misfit
from seatrial.store.snapshots.times import at_present

if TYPE_CHECKING:
    from seatrial.store.store import Store


class SnapshotError(ConfigError):
    """A snapshot that cannot be loaded: names the file and the object."""


def restore_cluster(store: "Store", documents: Iterable[Document], writer: str, path: str = "") -> Sequence[Stored]:
    """Take all objects of a snapshot in; the objects as they are stored."""
    loaded: list[Stored] = []
    for document in prepare(store, documents):
        try:
            loaded += load(store, [document], writer)
        except StatusError as error:
            namespace, name = document["metadata"].get("namespace"), document["metadata"]["name"]
            field = f"{document['kind']} {namespace}/{name}" if namespace else f"{document['kind']} {name}"
            raise SnapshotError(path, field, f"{error}{_remedy(store, document)}") from error
    return settle(store, loaded, writer)


def prepare(store: "Store", documents: Iterable[Document], taken_at: int | None = None) -> list[Document]:
    """The objects in the order in which they can be loaded, with uids, and with their ages kept."""
    flat = in_order(documents)
    for document in flat:
        _check(document)
    return at_present([starting(each) for each in with_uids(flat)], store.clock.now(), taken_at)


def settle(store: "Store", loaded: Sequence[Stored], writer: str) -> Sequence[Stored]:
    """After all objects are loaded: make those that are absent, and note which owners are.

    Controllers must not run between the first load and this.
    """
    absent = [each for each in complete([stored.document() for stored in loaded]) if not _exists(store, each)]
    made = load(store, absent, writer)
    everything = [*loaded, *made]
    align_revisions(store, everything, writer)
    note_absent_owners(store, everything, writer)
    note_usage(store, everything, writer)
    return [store.find(stored.kind, stored.name, stored.namespace) or stored for stored in everything]


def _remedy(store: "Store", document: Document) -> str:
    if store.kinds.named(str(document.get("apiVersion")), document["kind"]) is not None:
        return ""
    return "; add its CustomResourceDefinition to the snapshot, or leave the objects of this kind out"


def _exists(store: "Store", document: Document) -> bool:
    metadata = document["metadata"]
    return store.find(kind_of(store, document), metadata["name"], metadata.get("namespace", "")) is not None


def _check(document: Document) -> None:
    metadata = document.get("metadata")
    if not isinstance(document.get("kind"), str) or not isinstance(metadata, dict):
        raise BadRequest("expected objects with apiVersion, kind and metadata")
    if not isinstance(metadata.get("name"), str):
        raise BadRequest(f"a {document['kind']} has no metadata.name")
    if (wrong := misfit(document)) is not None:
        raise BadRequest(f"{document['kind']} {metadata['name']}: {wrong[0]}: {wrong[1]}")
