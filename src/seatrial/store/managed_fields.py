"""Field ownership: managedFields for ordinary writes, and server-side apply.

A write without a field manager (that is, by our own code) is not tracked. Ownership is worked out before admission
fills in values, so that no manager owns what the cluster adds. Objects of one shape share one cached set of fields.

This module connects writes of the store with `model.apply`, which computes the fields and their owners.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import orjson

from seatrial.model.apply import InVersion, apply, track_create, track_update
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.model.schema import Schema
from seatrial.model.times import to_time
from seatrial.store.deferral import large
from seatrial.store.metadata import conflict
from seatrial.store.options import PatchOptions, WriteOptions
from seatrial.store.registry.reset_fields import owned_fields

if TYPE_CHECKING:
    from seatrial.store.store import Store

FIELD_SETS_KEPT = 1024
Keyed = Callable[[Document, Document | None], tuple[Document, Schema | None]]
"""Sets the keys in the lists of an applied configuration, and has the schema that merges by them."""
_METADATA_VALUES = ("generateName", "ownerReferences", "finalizers")


def track_creation(store: "Store", kind: Kind, document: Document, options: WriteOptions) -> None:
    """Let the creator own what it made."""
    if options.tracked or not options.field_manager:
        return
    metadata = document["metadata"]
    metadata.pop("managedFields", None)
    key = _shape(kind, document)
    fields = store.known_fields.get(key)
    if fields is None:
        manager = options.field_manager
        fields = large("fields", lambda: key, lambda: _created_fields(store, kind, document, manager))
        store.known_fields[key] = fields
    if not fields:
        return
    metadata["managedFields"] = [
        {
            "manager": options.field_manager,
            "operation": "Update",
            "apiVersion": kind.api_version,
            "time": to_time(store.clock.now()),
            "fieldsType": "FieldsV1",
            "fieldsV1": orjson.Fragment(fields),
        }
    ]


def _shape(kind: Kind, document: Document) -> bytes:
    """The cache key for the fields of a new object: its body, and the keys but not the values of its metadata."""
    metadata = document["metadata"]
    other = {name: metadata[name] for name in _METADATA_VALUES if name in metadata}
    body = {name: value for name, value in document.items() if name != "metadata"}
    names = [list(metadata.get("labels") or ()), list(metadata.get("annotations") or ())]
    return orjson.dumps([kind.api_version, body, *names, other])


def _created_fields(store: "Store", kind: Kind, document: Document, manager: str) -> bytes:
    """The encoded set of fields that the creator of an object owns; empty where it owns none."""
    made = {**document, "metadata": dict(document["metadata"])}
    track_create(
        made,
        manager=manager,
        api_version=kind.api_version,
        now=store.clock.now(),
        schema=store.rules.schema(kind),
        owned=owned_fields(kind, ""),
    )
    entries: list[Document] = made["metadata"].get("managedFields") or []
    return orjson.dumps(entries[0]["fieldsV1"]) if entries else b""


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
        convert=_conversion(store, kind),
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
    keyed = store.keyed_for_apply.get(kind.group_kind)
    schema = store.rules.schema(kind)
    if keyed is not None:
        config, schema = keyed(config, live)
    return apply(
        live,
        config,
        manager=options.field_manager,
        api_version=kind.api_version,
        now=store.clock.now(),
        schema=schema,
        force=options.force,
        subresource=subresource,
        owned=owned_fields(kind, subresource),
        convert=_conversion(store, kind),
    )


def _conversion(store: "Store", kind: Kind) -> InVersion | None:
    """Converts objects of a custom kind to the version of an entry of managedFields."""
    definition = store.definitions.of_kind(kind) if kind.custom else None
    if definition is None or len(definition.versions) == 1:
        return None

    def convert(api_version: str, documents: Sequence[Document]) -> tuple[list[Document], Schema | None] | None:
        found = definition.version(api_version.rpartition("/")[2])
        if found is None or found.kind.api_version != api_version:
            return None
        return store.versions.convert(found.kind, documents, pruned=False), store.rules.schema(found.kind)

    return convert


def only_times_differ(document: Document, old: Document) -> bool:
    """Whether a write would change nothing but the times in managedFields."""
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
