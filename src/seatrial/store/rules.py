"""The rules a document must pass: decoding, defaulting and validation, each from the room that knows them."""

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.store.options import WriteOptions


class Rules:
    """What is asked of every document on its way in."""

    def decode(self, kind: Kind, document: Document, options: WriteOptions) -> Document:
        """The document with unknown fields treated as fieldValidation says."""
        return document

    def apply_defaults(self, kind: Kind, document: Document) -> None:
        """Fill in what upstream's API defaulting fills in."""

    def validate_create(self, kind: Kind, document: Document) -> None:
        """Raise Invalid where a new object is not valid."""

    def validate_update(self, kind: Kind, document: Document, old: Document, subresource: str) -> None:
        """Raise Invalid where an object may not become this."""
