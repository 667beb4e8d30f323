"""Prepares an object for a write: the status it begins with, and what the strategy of its kind fills in or keeps.

Upstream: the PrepareForCreate and PrepareForUpdate methods of pkg/registry/*/*/strategy.go.
"""

from functools import cache

from seatrial.model.canonical import zero
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.schema import schema_of
from seatrial.store.registry.kinds import strategy_of


def prepare_create(kind: Kind, document: Document, now: int) -> None:
    """Set the initial state of a new object of its kind."""
    strategy = strategy_of(kind)
    if "status" in kind.subresources and not strategy.keeps_status_on_create:
        document.pop("status", None)
        if not kind.custom:
            document["status"] = dict(_zero_status(kind))
    if strategy.prepare_create is not None:
        strategy.prepare_create(document, now)


def prepare_update(kind: Kind, document: Document, old: Document, subresource: str, now: int) -> None:
    """Keep or set the fields that an update of the kind may not change."""
    prepare = strategy_of(kind).prepare_update.get(subresource)
    if prepare is not None:
        prepare(document, old, now)


@cache
def _zero_status(kind: Kind) -> Document:
    """The status Go writes for an empty struct: the fields that are never left out, at zero."""
    schema = schema_of(kind)
    status = schema.fields.get("status") if schema is not None else None
    return dict(zero(status.schema)) if status is not None else {}
