"""Who owns which field: managedFields for ordinary writes, and server-side apply.

A write without a field manager (that is, by our own code) is not tracked. A creator's entry is kept in the lazy form of
`model.apply` and spelled out when somebody reads the object by name.
"""

from typing import TYPE_CHECKING

import orjson

from seatrial.model.apply import apply, materialise, track_lazily, track_update
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.store.deferral import LARGE
from seatrial.store.metadata import conflict
from seatrial.store.objects import Stored
from seatrial.store.options import PatchOptions, WriteOptions
from seatrial.store.registry.reset_fields import owned_fields

if TYPE_CHECKING:
    from seatrial.store.store import Store

FIELD_SETS_KEPT = 1024
_MANAGED = b'"managedFields":['
_METADATA_VALUES = ("generateName", "ownerReferences", "finalizers")


def track_creation(store: "Store", kind: Kind, document: Document, options: WriteOptions) -> None:
    """Let the creator own what it made."""
    if options.tracked or not options.field_manager:
        return
    track_lazily(document, manager=options.field_manager, api_version=kind.api_version, now=store.clock.now())


def track_change(
    store: "Store", kind: Kind, document: Document, old: Document, subresource: str, options: WriteOptions
) -> None:
    """Let the writer own what it changed."""
    if options.tracked:
        return
    if not options.field_manager:
        _keep_owners(document, old)
        return
    track_update(
        old,
        document,
        manager=options.field_manager,
        api_version=kind.api_version,
        now=store.clock.now(),
        schema=store.rules.schema(kind),
        subresource=subresource,
        owned=owned_fields(kind, subresource),
    )


def applied(
    store: "Store",
    kind: Kind,
    name: str,
    config: Document,
    live: Document | None,
    subresource: str,
    options: PatchOptions,
) -> Document:
    """The object after a server-side apply; `live` None creates it."""
    _check_config(kind, name, config, live)
    return apply(
        live,
        config,
        manager=options.field_manager,
        api_version=kind.api_version,
        now=store.clock.now(),
        schema=store.rules.schema(kind),
        force=options.force,
        subresource=subresource,
        owned=owned_fields(kind, subresource),
    )


def spelled_out(store: "Store", stored: Stored) -> Stored:
    """The object with every entry of its managedFields worked out."""
    if _MANAGED not in stored.data:
        return stored
    document = stored.document()
    managed: list[Document] = document["metadata"].get("managedFields") or []
    if all("fieldsV1" in entry for entry in managed):
        return stored
    if len(managed) == 1:
        document["metadata"]["managedFields"] = _sole_owner(store, stored.kind, document, managed[0])
    else:
        _materialise(store, stored.kind, document)
    return Stored(stored.kind, stored.namespace, stored.name, stored.revision, orjson.dumps(document))


def work_out(store: "Store", kind: Kind, document: Document) -> None:
    """Work the fields of a large new object out beforehand, so that whoever reads it does not wait for them."""
    managed = document["metadata"].get("managedFields") or []
    if len(managed) == 1 and "fieldsV1" not in managed[0] and len(data := orjson.dumps(document)) >= LARGE:
        _sole_owner(store, kind, orjson.loads(data), managed[0])


def _sole_owner(store: "Store", kind: Kind, document: Document, entry: Document) -> list[Document]:
    """The entry of a creator who owns everything: objects from one template have one set of fields."""
    metadata = document["metadata"]
    other = {name: metadata[name] for name in _METADATA_VALUES if name in metadata}
    body = {name: value for name, value in document.items() if name not in ("metadata", "status")}
    key = orjson.dumps([body, list(metadata.get("labels") or ()), list(metadata.get("annotations") or ()), other])
    known = store.known_fields.get(key)
    if known is None:
        _materialise(store, kind, document)
        entries: list[Document] = document["metadata"]["managedFields"]
        known = orjson.dumps(entries[0]["fieldsV1"]) if entries else b""
        if len(store.known_fields) >= FIELD_SETS_KEPT:
            store.known_fields.clear()
        store.known_fields[key] = known
    return [{**entry, "fieldsType": "FieldsV1", "fieldsV1": orjson.Fragment(known)}] if known else []


def _materialise(store: "Store", kind: Kind, document: Document) -> None:
    materialise(document, store.rules.schema(kind), owned_fields(kind, ""))


def only_times_differ(document: Document, old: Document) -> bool:
    """Whether a write would change nothing but when somebody is said to have written."""
    entries, before = document["metadata"].get("managedFields"), old["metadata"].get("managedFields")
    if not entries or not before or len(entries) != len(before):
        return False
    if any(_timeless(entry) != _timeless(other) for entry, other in zip(entries, before, strict=True)):
        return False
    restored = {**document["metadata"], "managedFields": before}
    return {**document, "metadata": restored} == old


def _timeless(entry: Document) -> Document:
    return {key: value for key, value in entry.items() if key != "time"}


def _keep_owners(document: Document, old: Document) -> None:
    managed = old["metadata"].get("managedFields")
    if managed is None:
        document["metadata"].pop("managedFields", None)
    else:
        document["metadata"]["managedFields"] = managed


def _check_config(kind: Kind, name: str, config: Document, live: Document | None) -> None:
    if not isinstance(config, dict):
        raise BadRequest("error decoding YAML: the applied configuration is no object")
    if (config.get("apiVersion"), config.get("kind")) != (kind.api_version, kind.kind):
        given = f"{config.get('apiVersion', '')}, Kind={config.get('kind', '')}"
        raise BadRequest(f"{given} cannot be applied as a {kind.api_version}, Kind={kind.kind}")
    metadata = config.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        raise BadRequest("metadata: expected an object")
    if metadata.setdefault("name", name) != name:
        raise BadRequest(f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})")
    if live is None and metadata.get("uid"):
        why = f"uid mismatch: the provided object specified uid {metadata['uid']}, and no existing object was found"
        raise conflict(kind, name, why)
