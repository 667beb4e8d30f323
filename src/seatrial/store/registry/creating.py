"""Creates an object: the store sets generated name, uid, creation time and generation.

Upstream: k8s.io/apiserver/pkg/registry/rest/create.go (BeforeCreate) and generic/registry/store.go (Create).
"""

from functools import partial
from typing import TYPE_CHECKING

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time
from seatrial.store.deferral import check_size, large, large_object, meaning
from seatrial.store.field_errors import refusal, required
from seatrial.store.managed_fields import track_creation
from seatrial.store.metadata import already_exists, copied, metadata_of, ordered
from seatrial.store.objects import Stored
from seatrial.store.options import CreateOptions
from seatrial.store.registry.kinds import strategy_of
from seatrial.store.registry.prepare import prepare_create
from seatrial.store.registry.service_addresses import allocate
from seatrial.store.requests import Request
from seatrial.store.uids import LONGEST_BASE

if TYPE_CHECKING:
    from seatrial.store.store import Store

NAME_ATTEMPTS = 8


def create(
    store: "Store", kind: Kind, document: Document, namespace: str, writer: str, options: CreateOptions
) -> Stored:
    """Take a document in as a new object, from a template where it is like others before it."""
    sighting = store.templates.sighting(store, kind, document, namespace, options)
    if sighting is not None:
        made = store.templates.create(store, kind, document, sighting, writer)
        if made is not None:
            return made
    document = document if options.owned else copied(document)
    warnings = len(options.warnings or ())
    stored = _create(store, kind, document, namespace, writer, options)
    if sighting is not None and len(options.warnings or ()) == warnings:
        store.templates.learn(sighting, stored, options)
    return stored


def _create(
    store: "Store", kind: Kind, document: Document, namespace: str, writer: str, options: CreateOptions
) -> Stored:
    metadata = metadata_of(document)
    namespace = settle_namespace(kind, metadata, namespace)
    given, kind = kind, store.versions.written_kind(kind)
    document = large_object(
        "make",
        # Each time the request is made again its body is the same.
        lambda: f"{kind.resource} {namespace}/{metadata.get('name')}".encode(),
        lambda warnings: _made(store, given, document, options.warning(warnings)),
        options.warnings,
        partial(check_size, custom=kind.custom),
    )
    metadata = document["metadata"]
    if metadata.get("resourceVersion") and not options.restored:
        raise BadRequest("resourceVersion should not be set on objects to be created")
    name = settle_name(store, kind, metadata, namespace)
    request = Request(
        store, "CREATE", kind, namespace, name, document, None, "", writer,
        options.user, options.dry_run, options.warnings,
    )  # fmt: skip
    if not (options.restored and metadata.get("uid")):
        # An object that has a uid was admitted by the server that it comes from.
        store.admission.admit(request)
    document = prepare(store, kind, request.document, namespace, restored=options.restored)
    if kind.group_kind == ("", "Service") and (causes := allocate(store, document)):
        raise refusal(kind, name, causes)

    def check() -> None:
        store.rules.validate_create(kind, document, restored=options.restored)

    large("create", lambda: meaning(document), check)
    store.rules.warn(kind, document, None, options)
    if (current := store.index(kind).find(namespace, name)) is not None:
        raise already_exists(kind, current)
    stored_as, stored_document = store.versions.to_storage(kind, document)
    if kind.custom:
        store.definitions.apply_status_default(stored_as, stored_document)
    store.versions.rehearse_read(given, stored_document)
    # Last, since a quota is charged here; what lived before was let in before.
    request.document = document
    if not options.restored:
        store.admission.validate(request)
    if options.dry_run:
        return store.unsaved(stored_as, stored_document)
    return store.put(stored_as, stored_document, None, writer=writer, is_restored=options.restored)


def _made(store: "Store", kind: Kind, document: Document, options: CreateOptions) -> Document:
    """The document in the version that is written, with defaults and the owners of its fields."""
    document = store.rules.decode(kind, document, options)
    if not kind.custom:
        kind, document = store.versions.to_storage(kind, document)
    store.rules.apply_defaults(kind, document)
    track_creation(store, kind, document, options)
    return document


def settle_namespace(kind: Kind, metadata: Document, namespace: str) -> str:
    """The namespace of a write: the request's and the document's must agree."""
    own = metadata.get("namespace") or ""
    if not kind.namespaced:
        metadata.pop("namespace", None)
        return ""
    if own and namespace and own != namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request",
        )
    if not own and not namespace:
        raise BadRequest("an empty namespace may not be set during creation")
    metadata["namespace"] = own or namespace
    return own or namespace


def settle_name(store: "Store", kind: Kind, metadata: Document, namespace: str) -> str:
    """The name given, or one made from generateName."""
    name = metadata.get("name") or ""
    if not isinstance(name, str):
        raise BadRequest("metadata.name: expected a string")
    if name:
        return name
    if kind.group_kind == ("", "LimitRange") and not metadata.get("generateName"):
        # A nameless LimitRange is named by a uid, as its strategy upstream does.
        metadata["name"] = store.identities.uid(kind, namespace, "")
        return str(metadata["name"])
    prefix = metadata.get("generateName") or ""
    if not prefix:
        raise refusal(kind, "", [required("metadata.name", "name or generateName is required")])
    name = metadata["name"] = new_name(store, kind, namespace, prefix)
    return name


def new_name(store: "Store", kind: Kind, namespace: str, prefix: str) -> str:
    """A name made from generateName; the last of several attempts may be taken."""
    index = store.index(kind)
    for _ in range(NAME_ATTEMPTS):
        name = prefix[:LONGEST_BASE] + store.identities.suffix(kind, namespace, prefix)
        if index.find(namespace, name) is None:
            break
    return name


def prepare(store: "Store", kind: Kind, document: Document, namespace: str, *, restored: bool = False) -> Document:
    """The document as it is stored: system metadata set, status as a fresh object has it (or as it was)."""
    metadata, now, identities = document["metadata"], store.clock_of(kind).now(), store.identities_of(kind)
    metadata.pop("resourceVersion", None)
    metadata.pop("selfLink", None)
    store.gated_fields.apply(document)
    if restored:
        if not metadata.get("uid"):
            metadata["uid"] = identities.uid(kind, namespace, metadata["name"])
        metadata.setdefault("creationTimestamp", to_time(now))
        if strategy_of(kind).has_generation:
            metadata.setdefault("generation", 1)
        if "status" in document:
            return ordered(kind, document)
        prepare_create(kind, document, now)
        return ordered(kind, document)
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "generation"):
        metadata.pop(key, None)
    metadata["uid"] = identities.uid(kind, namespace, metadata["name"])
    metadata["creationTimestamp"] = to_time(now)
    if strategy_of(kind).has_generation:
        metadata["generation"] = 1
    prepare_create(kind, document, now)
    return ordered(kind, document)
