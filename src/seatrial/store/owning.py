"""Who owns which field: managedFields for ordinary writes, and server-side apply.

A write without a field manager (that is, by our own code) is not tracked. A creator's entry is kept in the lazy form of
`model.apply` and spelled out when somebody reads the object by name.
"""

from typing import TYPE_CHECKING

import orjson

from seatrial.model.apply import apply, materialise, owned_fields, track_lazily, track_update
from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.store.metadata import conflict
from seatrial.store.objects import Stored
from seatrial.store.options import PatchOptions, WriteOptions

if TYPE_CHECKING:
    from seatrial.store.store import Store

_LAZY = b'"managedFields":[{"manager":'


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
    if _LAZY not in stored.data:
        return stored
    document = stored.document()
    materialise(document, store.rules.schema(stored.kind), owned_fields(stored.kind, ""))
    return Stored(stored.kind, stored.namespace, stored.name, stored.revision, orjson.dumps(document))


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
