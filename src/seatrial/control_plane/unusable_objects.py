"""Starts a server whatever its data directory contains: stored objects that stop a start are reported and ignored.

Objects are validated before they are stored, so that a start trusts kinds with many of them; those with few, such as
configurations that every request depends on, are checked to have the types of their kind and the fields that it
requires, and get the defaults that they lack. When the start fails, all objects are: first their types, then, where
that was not enough, whether they are valid. An ignored object stays in the data directory until an object of its name
is written.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeVar

from seatrial.model.documents import Document, encode
from seatrial.model.errors import BadRequest, ConfigError, Invalid, StorageFailed
from seatrial.model.kinds import Kind
from seatrial.store import Store, Stored
from seatrial.store.options import WriteOptions

Check = Literal["few", "types", "rules"]
"""What a stored object must have to be used: the types of its kind (of kinds with few objects, which must have the
required fields as well, or of all), or all that its kind demands."""
FEW = 1000
LARGE = 1024 * 1024
"""Bytes of an object, such as a Scenario with its result, that is checked only when the start has failed."""
REQUIRED = "FieldValueRequired"
T = TypeVar("T")

log = logging.getLogger("seatrial.server")


def started(start: Callable[[Check], T]) -> T:
    """What `start` makes of a data directory, without the objects that stop it."""
    checks: tuple[Check, ...] = ("few", "types", "rules")
    for check in checks:
        try:
            return start(check)
        except (ConfigError, StorageFailed):
            raise
        except Exception as error:
            if check == checks[-1]:
                raise
            log.warning("a stored object stops the start (%s: %s); all are checked", type(error).__name__, error)
    raise AssertionError("the last check returns or raises")


def ignore_unusable_objects(store: Store, check: Check) -> None:
    """Take out of a store, and report, the objects that do not pass."""
    for stored in list(_suspects(store, check)):
        try:
            document = _checked(store, stored, check)
        except Exception as error:  # noqa: BLE001  whatever is wrong with the object, it is reported
            log.warning("%s %s is ignored: %s", stored.kind.kind, _full_name(stored), error)
            store.restore(None, stored)
            continue
        if document != stored.document():
            store.restore(Stored(stored.kind, stored.namespace, stored.name, stored.revision, encode(document)), stored)


def _suspects(store: Store, check: Check) -> Iterator[Stored]:
    """The objects to check, of kinds that are served; no part of a server reads the others."""
    seen = set()
    for kind in store.kinds:
        index = store.index(kind)
        if id(index) not in seen and (check != "few" or len(index) <= FEW):
            seen.add(id(index))
            yield from (stored for stored in index if check != "few" or stored.size < LARGE)


def _checked(store: Store, stored: Stored, check: Check) -> Document:
    """The object as it would have been stored; an error says what is wrong with it."""
    document, kind = stored.document(), stored.kind
    metadata = document.get("metadata") if isinstance(document, dict) else None
    if not isinstance(metadata, dict):
        raise BadRequest("metadata: expected an object")
    if (metadata.get("name"), metadata.get("namespace") or "") != (stored.name, stored.namespace):
        raise BadRequest("metadata.name: is not the name under which the object is stored")
    for field in ("uid", "creationTimestamp"):
        if not metadata.get(field):
            raise BadRequest(f"metadata.{field}: is missing")
    metadata["resourceVersion"] = str(stored.revision)
    if check == "rules":
        document = _without_nulls(document)
    if kind.custom and check != "rules":
        # A custom resource is defaulted when it is read; that its metadata can be read is enough here.
        head = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
        return {**document, **store.rules.decode(kind, head, WriteOptions(field_validation="Ignore"))}
    document = store.rules.decode(kind, document, WriteOptions(field_validation="Ignore"))
    store.rules.apply_defaults(kind, document)
    if check == "rules":
        store.rules.validate_create(kind, document, restored=True)
    elif check == "few":
        _check_required(store, kind, document)
    return document


def _without_nulls(value: Any) -> Any:
    """A value without the fields that are null, which some kinds allow and few readers expect."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _check_required(store: Store, kind: Kind, document: Document) -> None:
    """Raise Invalid where a field is missing without which no controller can use the object.

    What is wrong otherwise stays: an earlier version may have allowed it.
    """
    try:
        store.rules.validate_create(kind, document, restored=True)
    except Invalid as refused:
        if any(cause.reason == REQUIRED for cause in refused.causes):
            raise


def _full_name(stored: Stored) -> str:
    return f"{stored.namespace}/{stored.name}" if stored.namespace else stored.name
