"""The semantic rules of built-in kinds: what types and required fields cannot say, and what may never change.

Each kind has a module that adds its functions to the two tables; kinds without one have no rules beyond their schema.
"""

from collections.abc import Callable, Iterable

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.kinds import Kind

OnCreate = Callable[[Document], Iterable[Cause]]
OnUpdate = Callable[[Document, Document, str], Iterable[Cause]]

ON_CREATE: dict[tuple[str, str], OnCreate] = {}
"""By group and kind: what is wrong with a new object."""

ON_UPDATE: dict[tuple[str, str], OnUpdate] = {}
"""By group and kind: what is wrong with an object (given the old one and the subresource) after a change."""


def validate_create(kind: Kind, document: Document) -> list[Cause]:
    """What is wrong with a new object."""
    rules = ON_CREATE.get(kind.group_kind)
    return list(rules(document)) if rules is not None else []


def validate_update(kind: Kind, document: Document, old: Document, subresource: str = "") -> list[Cause]:
    """What is wrong with an object that replaces `old` through this subresource."""
    rules = ON_UPDATE.get(kind.group_kind)
    return list(rules(document, old, subresource)) if rules is not None else []
