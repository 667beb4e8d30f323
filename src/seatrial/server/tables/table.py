"""A Table: column definitions and, for each object, its cells."""

from collections.abc import Callable, Iterable

from seatrial.model.documents import Document
from seatrial.store.printers import Columns


class Table:
    """The tables of one kind in the form of one request."""

    def __init__(self, columns: Columns, now: Callable[[Document], int], include_object: str = "Metadata") -> None:
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
        row: Document = {"cells": list(self._columns.cells(document, self._now(document)))}
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
