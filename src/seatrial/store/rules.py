"""The rules a document must pass: decoding, defaulting and validation, each from the room that knows them."""

from seatrial.model.decoding import check
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.schema import Schema, schema_of
from seatrial.store import validation
from seatrial.store.causes import refusal
from seatrial.store.naming import metadata_causes, metadata_update_causes
from seatrial.store.options import WriteOptions


class Rules:
    """What is asked of every document on its way in."""

    def schema(self, kind: Kind) -> Schema | None:
        """The shape of a kind's documents; None where anything goes."""
        return schema_of(kind)

    def decode(self, kind: Kind, document: Document, options: WriteOptions) -> Document:
        """The document in canonical form, unknown fields treated as fieldValidation says."""
        if options.trusted:
            return document
        document, warnings = check(kind, document, options.field_validation, schema=self.schema(kind))
        if options.warnings is not None:
            options.warnings.extend(warnings)
        return document

    def apply_defaults(self, kind: Kind, document: Document) -> None:
        """Fill in what upstream's API defaulting fills in."""

    def validate_create(self, kind: Kind, document: Document) -> None:
        """Raise Invalid where a new object is not valid."""
        causes = metadata_causes(kind, document["metadata"])
        causes += validation.validate_create(kind, document)
        if causes:
            raise refusal(kind, document["metadata"].get("name", ""), causes)

    def validate_update(self, kind: Kind, document: Document, old: Document, subresource: str) -> None:
        """Raise Invalid where an object may not become this."""
        causes = metadata_causes(kind, document["metadata"])
        causes += metadata_update_causes(document["metadata"], old["metadata"])
        causes += validation.validate_update(kind, document, old, subresource)
        if causes:
            raise refusal(kind, document["metadata"].get("name", ""), causes)
