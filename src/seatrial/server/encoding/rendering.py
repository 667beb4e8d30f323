"""Renders an object for one client: in its version and encoding, as object, Table row or metadata alone."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import orjson

from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import StatusError
from seatrial.model.kinds import Kind
from seatrial.server.encoding import protobuf as protobufs
from seatrial.server.encoding.negotiation import JSON, OBJECT, PARTIAL, PROTOBUF, TABLE, YAML, Form
from seatrial.server.encoding.versions import convert_data
from seatrial.server.encoding.yaml import to_yaml
from seatrial.server.messages import Answer
from seatrial.server.tables.table import Table
from seatrial.store import Stored
from seatrial.store.deferral import measure

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
META = "meta.k8s.io"
ENCODED_AT_ONCE = 64 * 1024
"""Bytes of an object that is encoded in a moment, in whatever form."""


@dataclass(frozen=True, slots=True)
class ListMeta:
    """The head of a list."""

    revision: int
    continuation: str = ""
    remaining: int = 0

    def document(self, *, whole: bool = False) -> Document:
        """The metadata; the `whole` one, of custom resources, has an empty token where nothing follows."""
        document: Document = {"resourceVersion": str(self.revision)}
        if self.continuation or whole:
            document["continue"] = self.continuation
        if self.remaining:
            document["remainingItemCount"] = self.remaining
        return document


@dataclass(frozen=True, slots=True)
class ListFrame:
    """The text of a list around its items."""

    head: bytes
    separator: bytes
    tail: bytes
    media: str


class Rendering:
    """The rendering of objects of one kind for one request."""

    def __init__(
        self,
        kind: Kind,
        form: Form,
        table: Table | None = None,
        *,
        pretty: bool = False,
        convert: Callable[[Kind, Stored], Stored] | None = None,
    ) -> None:
        """`convert` reads a custom resource in another version than the stored one; it may raise Deferred."""
        self.kind = kind
        self._convert = convert
        self.form = form
        self._table = table
        self._pretty = pretty
        self._has_columns = True

    @property
    def key(self) -> object:
        """Equal for renderings that look the same."""
        return self.kind.api_version, self.form, self._table.key if self._table else None, self._has_columns

    @property
    def changes_after_first(self) -> bool:
        """Whether the events after the first one look different."""
        return self._table is not None and self._has_columns

    def after_first(self) -> "Rendering":
        """The rendering of all events but the first: as upstream, one Table of a watch defines the columns."""
        rendering = copy(self)
        rendering._has_columns = False
        return rendering

    def data(self, stored: Stored) -> bytes:
        """The JSON of the object in the requested version."""
        if stored.kind.api_version == self.kind.api_version:
            return stored.data
        if self._convert is not None:
            return self._convert(self.kind, stored).data
        return convert_data(stored.data, stored.kind, self.kind)

    def in_version(self, stored: Stored) -> Stored:
        """A custom resource in the requested version, in which a selector reads it; other objects as they are."""
        if self._convert is None or stored.kind.api_version == self.kind.api_version:
            return stored
        return self._convert(self.kind, stored)

    def answer(self, stored: Stored, status: int = 200) -> Answer:
        """One object as an answer."""
        shape, encoding = self.form.shape, self.form.encoding
        if not shape and encoding == JSON and not self._pretty:
            return Answer(self.data(stored), status)
        return self._encoded(lambda: decode(self.data(stored)), status, large=stored.size > ENCODED_AT_ONCE)

    def document_answer(self, document: Document, status: int = 200) -> Answer:
        """A document of this kind as an answer."""
        return self._encoded(lambda: document, status, large=measure(document, ENCODED_AT_ONCE) is None)

    def _encoded(self, read: Callable[[], Document], status: int, *, large: bool) -> Answer:
        """An object in the form of the request; a large one is encoded on another thread."""
        media = self._media

        def body() -> bytes:
            document = self._shaped(read())
            if media == PROTOBUF:
                return protobufs.encode(document)
            return to_yaml(document) if media == YAML else self._json(document)

        return Answer(b"", status, media, encode=body) if large else Answer(body(), status, media)

    def _shaped(self, document: Document) -> Document:
        """The object, or the Table or the metadata that stand for it."""
        if self.form.shape == TABLE and self._table is not None:
            revision = (document.get("metadata") or {}).get("resourceVersion", "")
            return self._table.document([document], {"resourceVersion": revision}, self.form.version)
        return partial(document, self.form.version) if self.form.shape == PARTIAL else document

    def _json(self, document: Document) -> bytes:
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 if self._pretty else 0)

    @property
    def streams_lists(self) -> bool:
        """Whether a list can be sent item by item; a protobuf begins with its length."""
        return self.form.encoding != PROTOBUF

    def encodes_at_once(self, stored: Stored) -> bool:
        """Whether an item of a list is made in a moment."""
        return stored.size <= ENCODED_AT_ONCE or (self._is_json and not self.form.shape and not self.is_indented)

    @property
    def _is_json(self) -> bool:
        return self.form.encoding not in (PROTOBUF, YAML)

    @property
    def is_indented(self) -> bool:
        """Whether lists are indented JSON; Tables are not."""
        return self._pretty and self._is_json and self.form.shape != TABLE

    def item(self, stored: Stored) -> bytes:
        """One item of a list, encoded: the row of a Table, or an object."""
        if self.form.shape == TABLE and self._table is not None:
            row = self._table.row(decode(self.data(stored)), self.form.version)
            return to_yaml([row]) if self.form.encoding == YAML else encode(row)
        if self.form.encoding == PROTOBUF:
            document = decode(self.data(stored))
            return protobufs.message(partial(document, self.form.version) if self.form.shape == PARTIAL else document)
        data = self._json_item(stored)
        if self.form.encoding == YAML:
            return to_yaml([decode(data)])
        if self.is_indented:
            return b"\n    " + orjson.dumps(decode(data), option=orjson.OPT_INDENT_2).replace(b"\n", b"\n    ")
        return data

    def _json_item(self, stored: Stored) -> bytes:
        """One item of a JSON list."""
        if self.form.shape == PARTIAL:
            return encode(partial(stored.document(), self.form.version))
        # Items of built-in kinds carry no kind and apiVersion of their own, as with upstream's typed lists.
        return self.data(stored) if self.kind.custom else _without_type(self.data(stored))

    def list_frame(self, meta: ListMeta, *, empty: bool) -> ListFrame:
        """The text around the items of a list."""
        document, key = self._list_document(meta), "items"
        if self.form.shape == TABLE and self._table is not None:
            document, key = self._table.of_rows([], meta.document(), self.form.version), "rows"
            del document["rows"]
        if self.form.encoding == YAML:
            return ListFrame(to_yaml(document) + f"{key}:{' []' if empty else ''}\n".encode(), b"", b"", self._media)
        if self.is_indented:
            head = self._json(document).removesuffix(b"\n}") + f',\n  "{key}": ['.encode()
            return ListFrame(head, b",", b"]\n}" if empty else b"\n  ]\n}", self._media)
        return ListFrame(encode(document)[:-1] + f',"{key}":['.encode(), b",", b"]}", self._media)

    def protobuf_list(self, items: list[bytes], meta: ListMeta) -> Answer:
        """A whole list of items that `item` has made."""
        return Answer(protobufs.encode_list(self._list_document(meta), items), content_type=PROTOBUF)

    @property
    def _media(self) -> str:
        return self.form.encoding if self.form.encoding in (PROTOBUF, YAML) else JSON

    def _list_document(self, meta: ListMeta) -> Document:
        kind, api_version = self.kind.list_kind, self.kind.api_version
        if self.form.shape == PARTIAL:
            kind, api_version = "PartialObjectMetadataList", f"{META}/{self.form.version}"
        return {
            "kind": kind,
            "apiVersion": api_version,
            "metadata": meta.document(whole=self.kind.custom and self.form.shape == OBJECT),
        }

    def event(self, type: str, stored: Stored, revision: int | None = None) -> bytes:
        """A watch event; `revision` replaces the object's own."""
        data = self.data(stored)
        if revision is not None:
            document = decode(data)
            document["metadata"]["resourceVersion"] = str(revision)
            data = encode(document)
        if not self.form.shape and self.form.encoding != PROTOBUF:
            return self._framed(type, data)
        document = decode(data)
        if self.form.shape == TABLE and self._table is not None:
            meta = {"resourceVersion": document["metadata"]["resourceVersion"]}
            return self._framed(type, encode(self._event_table(self._table, [document], meta)))
        return self._framed_document(type, document)

    def bookmark(self, revision: int, *, initial_events_end: bool = False) -> bytes:
        """A bookmark event: everything up to `revision` has been sent."""
        metadata: Document = {"resourceVersion": str(revision)}
        if initial_events_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        document: Document = {"kind": self.kind.kind, "apiVersion": self.kind.api_version, "metadata": metadata}
        if self.form.shape == TABLE and self._table is not None:
            table = self._event_table(self._table, [], {"resourceVersion": str(revision)})
            table["rows"] = (
                [{"cells": [], "object": partial(document, self.form.version)}] if initial_events_end else []
            )
            return self._framed("BOOKMARK", encode(table))
        return self._framed_document("BOOKMARK", document)

    def _event_table(self, table: Table, documents: list[Document], meta: Document) -> Document:
        document = table.document(documents, meta, self.form.version)
        return document if self._has_columns else document | {"columnDefinitions": None}

    def error(self, error: StatusError) -> bytes:
        """An ERROR event, after which the stream ends."""
        if self.form.encoding == PROTOBUF:
            return protobufs.frame("ERROR", protobufs.encode(error.status()))
        return self._framed("ERROR", encode(error.status()))

    def _framed_document(self, type: str, document: Document) -> bytes:
        if self.form.shape == PARTIAL:
            document = partial(document, self.form.version)
        if self.form.encoding == PROTOBUF:
            return protobufs.frame(type, protobufs.encode(document))
        return self._framed(type, encode(document))

    def _framed(self, type: str, data: bytes) -> bytes:
        return b'{"type":"%s","object":%s}\n' % (type.encode(), data)


def partial(document: Document, version: str) -> Document:
    """The metadata of an object as a PartialObjectMetadata."""
    metadata: Any = document.get("metadata") or {}
    return {"kind": "PartialObjectMetadata", "apiVersion": f"{META}/{version}", "metadata": metadata}


def _without_type(data: bytes) -> bytes:
    cut = data.find(b'"metadata"', 0, 300)
    return b"{" + data[cut:] if cut > 0 else data
