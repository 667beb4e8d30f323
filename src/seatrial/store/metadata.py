"""The part of an object that the store itself answers for: metadata."""

from typing import cast

import orjson

from seatrial.model.documents import Document
from seatrial.model.errors import AlreadyExists, BadRequest, Conflict, NotFound
from seatrial.model.kinds import Kind
from seatrial.store.objects import Stored

_GRACE = "deletionGracePeriodSeconds"
_ORDER = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    _GRACE,
)
MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def ordered(kind: Kind, document: Document) -> Document:
    """The document with its head in upstream's order, so that equal objects have equal bytes.

    The resourceVersion thereby is the first one in the bytes, which lets a new revision be spliced in.
    """
    metadata = document.get("metadata") or {}
    # A grace period of 0 is said; the other fields of the head are left out where they are empty.
    head = {key: metadata[key] for key in _ORDER if metadata.get(key) or (key == _GRACE and metadata.get(key) == 0)}
    head.setdefault("resourceVersion", "")
    if "resourceVersion" not in metadata:
        head = {key: head[key] for key in _ORDER if key in head}
    head.update((key, value) for key, value in metadata.items() if key not in head and key not in _ORDER)
    result: Document = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": head}
    result.update((key, value) for key, value in document.items() if key not in result)
    return result


def metadata_of(document: Document) -> Document:
    """The metadata of a document that came from outside; BadRequest if it is not an object."""
    metadata = document.setdefault("metadata", {})
    if metadata is None:
        metadata = document["metadata"] = {}
    if not isinstance(metadata, dict):
        raise BadRequest("metadata: expected an object")
    return metadata


def not_found(kind: Kind, name: str) -> NotFound:
    return NotFound(f'{kind.resource} "{name}" not found', group=kind.group, kind=kind.plural, name=name)


def already_exists(kind: Kind, current: Stored) -> AlreadyExists:
    """Upstream's registry/generic/registry/store.go: the message says whether the name will become free."""
    deleted = "object is being deleted: " if "deletionTimestamp" in current.document()["metadata"] else ""
    text = f'{deleted}{kind.resource} "{current.name}" already exists'
    return AlreadyExists(text, group=kind.group, kind=kind.plural, name=current.name)


def conflict(kind: Kind, name: str, why: str = MODIFIED, subresource: str = "") -> Conflict:
    """Upstream's NewConflict: what could not be done, and why."""
    tail = f"/{subresource}" if subresource else ""
    resource = f"{kind.plural}{tail}.{kind.group}" if kind.group else f"{kind.plural}{tail}"
    text = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return Conflict(text, group=kind.group, kind=f"{kind.plural}{tail}", name=name)


_PREFIXES = {
    ("", "Endpoints"): "services/endpoints",
    ("", "Node"): "minions",
    ("", "ReplicationController"): "controllers",
    ("", "Service"): "services/specs",
    ("apiextensions.k8s.io", "CustomResourceDefinition"): "apiextensions.k8s.io/customresourcedefinitions",
    ("apiregistration.k8s.io", "APIService"): "apiregistration.k8s.io/apiservices",
    ("networking.k8s.io", "Ingress"): "ingress",
}
"""The etcd key of a kind, where it is not the plural name: conflicts name the key."""


def uid_mismatch(kind: Kind, namespace: str, name: str, wanted: str, found: str) -> str:
    """The error for a write with the uid of another object, in the words of upstream's storage."""
    prefix = f"{kind.group}/{kind.plural}" if kind.custom else _PREFIXES.get(kind.group_kind, kind.plural)
    key = "/".join(part for part in ("/registry", prefix, namespace, name) if part)
    why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
    return f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"


def copied(document: Document) -> Document:
    """A copy that shares nothing; BadRequest where the document is no JSON."""
    try:
        return cast(Document, orjson.loads(orjson.dumps(document)))
    except (TypeError, orjson.JSONEncodeError) as error:
        raise BadRequest(f"the object provided is no JSON document: {error}") from error
