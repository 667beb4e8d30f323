"""A Table: column definitions and, for each object, its cells."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.model.documents import Document
from seatrial.server.tables import cells

Cell = Any
Cells = Callable[[Document, int], Sequence[Cell]]
"""From a document and the present instant to the cells of its row."""
Conditions = Callable[[Document], list[Document]]


@dataclass(frozen=True, slots=True)
class Column:
    """One column; priority 1 is shown by `-o wide` only."""

    name: str
    type: str = "string"
    priority: int = 0
    format: str = ""
    description: str = ""

    def document(self) -> Document:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description or self.name,
            "priority": self.priority,
        }


@dataclass(frozen=True, slots=True)
class Columns:
    """How objects of a kind are printed."""

    columns: tuple[Column, ...]
    cells: Cells
    conditions: Conditions | None = None


def columns(text: str) -> tuple[Column, ...]:
    """Columns from their names: `+` marks one for `-o wide`, `_` is a space, `:integer` a type other than string."""
    found = []
    for word in text.split():
        name, _, type = word.removeprefix("+").partition(":")
        format = "name" if name == "Name" else ""
        found.append(Column(name.replace("_", " "), type or "string", int(word.startswith("+")), format))
    return tuple(found)


def plain(text: str, middle: Callable[[Document], list[Cell]]) -> Columns:
    """Columns of the name, what `middle` reads, and the age if the last column is that."""
    has_age = text.endswith("Age")

    def read(document: Document, now: int) -> list[Cell]:
        return [cells.name(document), *middle(document), *([cells.age(document, now)] if has_age else [])]

    return Columns(columns(text), read)


class Table:
    """The tables of one kind as one request asks for them."""

    def __init__(self, columns: Columns, now: Callable[[], int], include_object: str = "Metadata") -> None:
        self._columns = columns
        self._now = now
        self._include_object = include_object

    @property
    def key(self) -> object:
        return self._include_object, id(self._columns)

    def document(self, documents: Iterable[Document], metadata: Document, version: str) -> Document:
        """The Table of these objects."""
        return self.of_rows([self.row(document, version) for document in documents], metadata, version)

    def of_rows(self, rows: list[Document], metadata: Document, version: str) -> Document:
        """The Table of rows that `row` has made."""
        return {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{version}",
            "metadata": metadata,
            "columnDefinitions": [column.document() for column in self._columns.columns],
            "rows": rows,
        }

    def row(self, document: Document, version: str) -> Document:
        """The row of one object."""
        row: Document = {"cells": list(self._columns.cells(document, self._now()))}
        if self._columns.conditions is not None:
            conditions = self._columns.conditions(document)
            if conditions:
                row["conditions"] = conditions
        if self._include_object == "Object":
            row["object"] = document
        elif self._include_object == "Metadata":
            row["object"] = {
                "kind": "PartialObjectMetadata",
                "apiVersion": f"meta.k8s.io/{version}",
                "metadata": document.get("metadata") or {},
            }
        else:
            row["object"] = None
        return row
