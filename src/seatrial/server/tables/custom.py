"""Custom resources: the printer columns that their CustomResourceDefinition declares.

Upstream: apiextensions-apiserver/pkg/registry/customresource/tableconvertor.
"""

from typing import Any

from seatrial.model.documents import Document, encode
from seatrial.model.kinds import Kind
from seatrial.server.tables.paths import finder
from seatrial.store.printers import Cell, Column, Columns, cells

NAME = Column("Name", format="name")
AGE = (Column("Age", "date"), ".metadata.creationTimestamp")


def custom_columns(definition: Document, kind: Kind) -> Columns:
    """The columns of a version of a custom kind; the age where none are declared."""
    versions = cells.items(definition, "spec", "versions")
    version: Document = next((v for v in versions if v.get("name") == kind.version), {})
    declared = [(_column(c), str(c.get("jsonPath", ""))) for c in cells.items(version, "additionalPrinterColumns")]
    shown = [(column, finder(path)) for column, path in declared or [AGE]]

    def read(document: Document, now: int) -> list[Cell]:
        return [cells.name(document), *(_cell(find(document), column.type, now) for column, find in shown)]

    return Columns((NAME, *(column for column, _ in shown)), read)


def _column(document: Document) -> Column:
    return Column(
        str(document.get("name", "")),
        str(document.get("type", "string")),
        cells.number(document, "priority"),
        cells.text(document, "format"),
        cells.text(document, "description"),
    )


def _cell(values: list[Any], type: str, now: int) -> Cell:
    if not values or values[0] is None:
        return None
    if type == "date":
        return cells.since(values[0], now)
    if type == "string":
        return ",".join(_text(value) for value in values) if len(values) > 1 else _text(values[0])
    value = values[0]
    if type == "integer":
        return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    if type == "number":
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if type == "boolean":
        return value if isinstance(value, bool) else None
    return None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return encode(value).decode()
