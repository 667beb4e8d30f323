"""Tables for a terminal: no cell is cut off, columns that do not fit are named instead."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

GAP = 2
NOTHING = "–"
NOISE = 1e-9
"""Below this a number is what floating point leaves of zero."""


def cell(value: object) -> str:
    """A value as it is shown."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return "0" if abs(value) < NOISE else f"{value:.4g}"
    return str(value)


def print_table(console: "Console", columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Print as many columns as fit, empty ones left out; returns the names of columns that did not fit."""
    from rich.markup import escape
    from rich.table import Table

    shown = [[cell(value) for value in row] for row in rows]
    telling = [place for place, _ in enumerate(columns) if any(row[place] != NOTHING for row in shown)]
    widths = {place: max(len(columns[place]), *(len(row[place]) for row in shown)) + GAP for place in telling}
    fitting: list[int] = []
    room = console.width + GAP
    for place in telling:
        room -= widths[place]
        if room >= 0 or not fitting:
            fitting.append(place)
        else:
            break
    view = Table(box=None, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
    for place in fitting:
        numbers = all(row[place] is None or isinstance(row[place], int | float) for row in rows)
        view.add_column(escape(columns[place]), justify="right" if numbers else "left", overflow="fold")
    for row in shown:
        view.add_row(*[escape(row[place]) for place in fitting])
    console.print(view)
    return [columns[place] for place in telling[len(fitting) :]]


def print_indented(console: "Console", text: str, indent: int = 2) -> None:
    """Print a paragraph, broken at the width of the terminal; `text` may have markup."""
    from rich.padding import Padding

    console.print(Padding(text, (0, 0, 0, indent), expand=False))
