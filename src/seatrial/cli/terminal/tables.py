"""Tables for a terminal: no cell is cut off, columns that do not fit are named instead."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

GAP = 2
NOTHING = "–"
VITAL = frozenset({"lost", "node", "pending", "ready_end", "ready_min", "reason", "skew", "why"})
"""Columns that a table exists for."""
WIDER = "a wider terminal shows them"
NOISE = 1e-9
"""Below this a number is what floating point leaves of zero."""


UNBOUNDED = 100_000
"""The width of a pipe or a file: lines are as long as they need to be, for grep and for an editor."""


def answer_console(*, markup: bool = True) -> "Console":
    """A console on standard output: as wide as the terminal or as COLUMNS says, without a limit elsewhere."""
    from rich.console import Console

    has_width = sys.stdout.isatty() or os.environ.get("COLUMNS")
    return Console(highlight=False, markup=markup, width=None if has_width else UNBOUNDED)


def cell(value: object) -> str:
    """A value as it is shown."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return "0" if abs(value) < NOISE else f"{value:.4g}"
    return str(value)


def print_table(
    console: "Console", columns: Sequence[str], rows: Sequence[Sequence[object]], elsewhere: str = WIDER
) -> None:
    """Print as many columns as fit, empty ones left out, and say which did not and what shows them (`elsewhere`).

    The last columns go first; the first column and those of VITAL stay, folded where even they have no room.
    """
    from rich.markup import escape
    from rich.table import Table

    shown = [[cell(value) for value in row] for row in rows]
    telling = [place for place, _ in enumerate(columns) if any(row[place] != NOTHING for row in shown)]
    widths = {place: max(len(columns[place]), *(len(row[place]) for row in shown)) + GAP for place in telling}
    fitting = list(telling)
    for place in reversed(telling[1:]):
        if sum(widths[each] for each in fitting) <= console.width + GAP:
            break
        if columns[place] not in VITAL:
            fitting.remove(place)
    view = Table(box=None, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
    for place in fitting:
        numbers = all(row[place] is None or isinstance(row[place], int | float) for row in rows)
        view.add_column(escape(columns[place]), justify="right" if numbers else "left", overflow="fold")
    for row in shown:
        view.add_row(*[escape(row[place]) for place in fitting])
    console.print(view)
    left_out = [columns[place] for place in telling if place not in fitting]
    if left_out:
        console.print(f"… no room for {', '.join(left_out)}: {elsewhere}")


def print_indented(console: "Console", text: str, indent: int = 2) -> None:
    """Print a paragraph, broken at the width of the terminal; `text` may have markup."""
    from rich.padding import Padding

    console.print(Padding(text, (0, 0, 0, indent), expand=False))
