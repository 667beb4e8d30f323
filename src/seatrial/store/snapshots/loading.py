"""A whole cluster in and out: objects keep their status, uid and age.

What others refer to is loaded first (namespaces, definitions, classes, nodes, volumes), so that admission finds it;
apart from that the order of the documents stays. A namespace that a snapshot leaves out is made.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.store.metadata import copied, metadata_of, ordered
from seatrial.store.objects import Stored
from seatrial.store.options import CreateOptions
from seatrial.store.registry import creating

if TYPE_CHECKING:
    from seatrial.store.store import Store

FIRST = (
    "Namespace",
    "CustomResourceDefinition",
    "PriorityClass",
    "StorageClass",
    "RuntimeClass",
    "ServiceAccount",
    "LimitRange",
    "DeviceClass",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
)
_RESTORED = CreateOptions(restored=True, owned=True)


def load(store: "Store", documents: Iterable[Document], writer: str) -> list[Stored]:
    """Take the objects of a snapshot in; one that is there already is replaced."""
    return [_restore(store, document, writer) for document in in_order(documents)]


def in_order(documents: Iterable[Document]) -> list[Document]:
    """The objects of a snapshot in the order in which they can be taken in; lists are opened."""
    flat = [item for document in documents for item in _items(document)]
    rank = {kind: number for number, kind in enumerate(FIRST)}
    flat.sort(key=lambda document: rank.get(document.get("kind", ""), len(FIRST)))
    return flat


def export(store: "Store") -> list[Document]:
    """Every object, kinds in the order of the registry and objects by namespace and name."""
    return [stored.document() for stored in exported(store)]


def exported(store: "Store") -> list[Stored]:
    """The objects of an export as they are stored."""
    seen: set[tuple[str, str]] = set()
    found: list[Stored] = []
    for kind in store.kinds:
        stored_as = store.versions.storage_kind(kind)
        if stored_as.group_kind not in seen:
            seen.add(stored_as.group_kind)
            found.extend(store.index(stored_as))
    return found


def _items(document: Document) -> list[Document]:
    """The documents of a List, or the document itself."""
    items = document.get("items")
    if isinstance(items, list) and str(document.get("kind", "")).endswith("List"):
        api_version, kind = document.get("apiVersion", ""), document["kind"].removesuffix("List")
        inherited = {"apiVersion": api_version, "kind": kind} if kind else {}
        return [{**inherited, **item} for item in items]
    return [document]


def _restore(store: "Store", document: Document, writer: str) -> Stored:
    kind = kind_of(store, document)
    document = copied(document)
    metadata = metadata_of(document)
    if kind.namespaced:
        _make_namespace(store, metadata.setdefault("namespace", "default"), writer)
    current = store.index(kind).find(metadata.get("namespace", "") if kind.namespaced else "", metadata.get("name", ""))
    if current is None:
        return creating.create(store, kind, document, "", writer, _RESTORED)
    old = current.document()["metadata"]
    for key in ("uid", "creationTimestamp"):
        metadata.setdefault(key, old[key])
    kind, document = store.versions.to_storage(kind, store.rules.decode(kind, document, _RESTORED))
    store.rules.apply_defaults(kind, document)
    document["metadata"]["resourceVersion"] = old["resourceVersion"]
    document = ordered(kind, document)
    if document == current.document():
        return current
    return store.put(kind, document, current, writer=writer)


def _make_namespace(store: "Store", name: str, writer: str) -> None:
    kind = store.kinds.named("v1", "Namespace")
    if kind is not None and isinstance(name, str) and store.find(kind, name) is None:
        store.create(kind, {"metadata": {"name": name}}, writer=writer)


def kind_of(store: "Store", document: Document) -> Kind:
    """The kind a document says it is of; BadRequest where it is not served."""
    api_version, name = document.get("apiVersion"), document.get("kind")
    kind = store.kinds.named(api_version, name) if isinstance(api_version, str) and isinstance(name, str) else None
    if kind is None:
        raise BadRequest(f'no matches for kind "{name}" in version "{api_version}"')
    return kind
