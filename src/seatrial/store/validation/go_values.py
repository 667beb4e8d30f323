"""Values as Go's JSON shows upstream's internal structs: every field, by its Go name.

Refusals quote the wrong value. Where it is a struct of the internal API, whose fields have no JSON names, upstream
prints it so.
"""

from collections.abc import Iterable

from seatrial.model.documents import Document
from seatrial.store.field_errors import Struct

_ABBREVIATIONS = {"seLinuxOptions": "SELinuxOptions", "ip": "IP", "uid": "UID"}


def go_name(key: str) -> str:
    """The Go name of a field."""
    return _ABBREVIATIONS.get(key) or f"{key[:1].upper()}{key[1:]}"


def go_struct(document: Document, fields: Iterable[str], zeros: Document | None = None) -> Struct:
    """A struct with these fields, absent ones null or as `zeros` has them."""
    empty = zeros or {}
    return Struct({go_name(key): document.get(key, empty.get(key)) for key in fields})
