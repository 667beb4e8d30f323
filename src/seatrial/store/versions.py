"""Several versions of one kind: each object is stored in one of them and converted when read in another.

A write of a custom resource is decoded, admitted and validated in the version of the request, and converted to the
storage version last; a definition may name a webhook that converts. Built-in kinds are written in the storage version.
Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go (crdConversionRESTOptionsGetter).
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

import orjson

from seatrial.model.decoding import prune
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.kinds import Kind, Kinds
from seatrial.model.schema import Schema
from seatrial.store.conversions import STORED_AS, convert
from seatrial.store.crd.defaulting import apply_defaults
from seatrial.store.deferral import defers
from seatrial.store.objects import Stored

GroupKind = tuple[str, str]
Converter = Callable[[Kind, Document, Sequence[Document]], list[Document]]
"""Converts objects to a kind by the webhook of its definition; may raise Awaited."""


class Defined(Protocol):
    """Facts about defined kinds that the conversion between their versions needs."""

    def defaults_since(self, kind: Kind, revision: int) -> Document | None:
        """The schema of a kind whose defaults an object of a revision may lack."""

    def schema(self, kind: Kind) -> Schema | None:
        """The schema that prunes objects of a kind."""

    def webhook(self, kind: Kind) -> Document | None:
        """The conversion webhook of a kind; None where its versions differ in nothing but their schemas."""


class Versions:
    """The storage version of each kind, and the conversion between versions."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._stored: dict[GroupKind, Kind] = {}
        self.defined: Defined | None = None
        self.call_webhook: Converter | None = None
        """Set by a server; without it only the apiVersion is changed."""

    @staticmethod
    def key(kind: Kind) -> GroupKind:
        """The group and kind under which objects of a kind are kept."""
        group_kind = kind.group_kind
        return STORED_AS.get(group_kind, group_kind)

    def storage_kind(self, kind: Kind) -> Kind:
        """The version in which objects of this kind are stored: the first one registered, unless set."""
        key = self.key(kind)
        stored = self._stored.get(key)
        if stored is None:
            versions = (other for other in self._kinds if other.group_kind == key)
            stored = self._stored[key] = next(versions, kind)
        return stored

    def written_kind(self, kind: Kind) -> Kind:
        """The version in which a write is admitted and validated."""
        return kind if kind.custom else self.storage_kind(kind)

    def local_kind(self, kind: Kind) -> Kind:
        """The version that code in this process gets: it must not wait for a webhook, so it gets the stored one."""
        if not kind.custom or defers() or self._webhook(kind) is None:
            return kind
        return self.storage_kind(kind)

    def store_as(self, kind: Kind) -> None:
        """Store objects of this kind in this version from now on."""
        self._stored[kind.group_kind] = kind

    def forget(self, kind: Kind) -> None:
        self._stored.pop(kind.group_kind, None)

    def to_storage(self, kind: Kind, document: Document) -> tuple[Kind, Document]:
        """The document in the version it is stored in."""
        stored = self.storage_kind(kind)
        if _differ(stored, kind):
            document["apiVersion"] = kind.api_version
            document = self.convert(stored, [document])[0]
        return stored, document

    def convert(self, kind: Kind, documents: Sequence[Document], *, pruned: bool = True) -> list[Document]:
        """The documents in the version of a kind; custom resources are pruned by its schema."""
        others = [document for document in documents if document["apiVersion"] != kind.api_version]
        if not others:
            return list(documents)
        if not kind.custom:
            return [convert(document, kind) for document in documents]
        webhook = self._webhook(kind)
        if webhook is not None and self.call_webhook is not None:
            converted = iter(self.call_webhook(kind, webhook, others))
        else:
            converted = (orjson.loads(orjson.dumps(convert(document, kind))) for document in others)
        schema = self.defined.schema(kind) if self.defined is not None and pruned else None
        result = []
        for document in documents:
            if document["apiVersion"] != kind.api_version:
                document = next(converted)
                if schema is not None:
                    prune(schema, document)
            result.append(document)
        return result

    def rehearse_read(self, kind: Kind, document: Document) -> None:
        """Convert what is to be stored back to the version of its request, while the request can still be repeated.

        The webhook's answer is kept for the read after the write. A failure is left to that read: as upstream, the
        object is stored by then.
        """
        if kind.custom:
            with suppress(StatusError):
                self.convert(kind, [document])

    def read(self, kind: Kind, stored: Stored) -> Stored:
        """The object in the version asked for, with defaults that its kind has got since it was written."""
        if kind.custom:
            return self._read_custom(kind, [stored])[0]
        if not _differ(stored.kind, kind):
            return stored
        return _with_content(stored, kind, convert(stored.document(), kind))

    def read_all(self, kind: Kind, found: list[Stored]) -> list[Stored]:
        """Objects of one kind in the version asked for; those of a defined kind may be stored in several."""
        if kind.custom:
            return self._read_custom(kind, found)
        if found and _differ(found[0].kind, kind):
            return [self.read(kind, stored) for stored in found]
        return found

    def _read_custom(self, kind: Kind, found: list[Stored]) -> list[Stored]:
        """Defaults are those of the stored version, as upstream; all objects are converted at once."""
        changed: dict[int, Document] = {}
        for place, stored in enumerate(found):
            schema = self.defined.defaults_since(stored.kind, stored.revision) if self.defined is not None else None
            if schema is None and not _differ(stored.kind, kind):
                continue
            document = changed[place] = stored.document()
            if schema is not None:
                apply_defaults(schema, document)
        if not changed:
            return found
        result = list(found)
        for place, document in zip(changed, self.convert(kind, list(changed.values())), strict=True):
            result[place] = _with_content(found[place], kind, document)
        return result

    def _webhook(self, kind: Kind) -> Document | None:
        return self.defined.webhook(kind) if self.defined is not None else None


def _with_content(stored: Stored, kind: Kind, document: Document) -> Stored:
    return Stored(kind, stored.namespace, stored.name, stored.revision, orjson.dumps(document))


def _differ(stored: Kind, kind: Kind) -> bool:
    return stored.version != kind.version or stored.group != kind.group
