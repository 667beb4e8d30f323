"""Columns of a Table: their definitions, and the function from an object to its cells."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.model.documents import Document
from seatrial.store.printers import cells

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
    """The printer of a kind."""

    columns: tuple[Column, ...]
    cells: Cells
    conditions: Conditions | None = None


def columns(text: str) -> tuple[Column, ...]:
    """Columns from their names: `+` marks one for `-o wide`, `_` is a space, `:integer` a type other than string."""
    found = []
    for word in text.split():
        name, _, type = word.removeprefix("+").partition(":")
        format = "name" if name in ("Name", "Attacher") else ""
        found.append(Column(name.replace("_", " "), type or "string", int(word.startswith("+")), format))
    return tuple(found)


def plain(text: str, middle: Callable[[Document], list[Cell]]) -> Columns:
    """Columns of the name, what `middle` reads, and the age if the last column is that."""
    has_age = text.endswith("Age")

    def read(document: Document, now: int) -> list[Cell]:
        return [cells.name(document), *middle(document), *([cells.age(document, now)] if has_age else [])]

    return Columns(columns(text), read)
