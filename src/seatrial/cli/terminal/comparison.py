"""A comparison of runs, as text on the terminal and as the page compare.html."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seatrial.words import counted

if TYPE_CHECKING:
    from rich.console import Console

    from seatrial.results.comparison import Comparison

COMPARE_PAGE = "compare.html"
WORKLOADS_SHOWN = 20
LONGEST_TITLE = 20
"""Longer names of runs are listed above the table."""


def write_comparison(comparison: "Comparison", folder: Path) -> Path:
    """Write compare.html; its path."""
    from seatrial.results.comparison import freed_document, verdicts
    from seatrial.web import compare_page, page_parts, write_page

    path = folder / COMPARE_PAGE
    page = compare_page(
        list(comparison.runs),
        comparison.moved,
        *page_parts(comparison),
        verdicts(comparison),
        freed_document(comparison),
    )
    write_page(page, path)
    return path


def print_comparison(comparison: "Comparison", format: str) -> None:
    """Print a comparison as a table, as Markdown or as JSON."""
    from seatrial.model.documents import encode
    from seatrial.results.comparison import as_document, as_markdown

    if format == "json":
        typer.echo(encode(as_document(comparison)).decode())
    elif format == "markdown":
        typer.echo(as_markdown(comparison), nl=False)
    else:
        _print_table(comparison)


def _print_table(comparison: "Comparison") -> None:
    from rich.markup import escape

    from seatrial.cli.terminal.tables import answer_console, print_indented, print_table
    from seatrial.results.comparison import (
        changes,
        compared_workloads,
        figure,
        freed_lines,
        verdicts,
        workload_lines,
    )

    console = answer_console()
    for place, line in enumerate(workload_lines(comparison, compared_workloads(comparison))):
        if place == 0:
            console.print(f"[bold]{escape(line)}[/bold]", soft_wrap=True)
        elif place <= WORKLOADS_SHOWN:
            print_indented(console, escape(line))
        else:
            console.print("  … and more: --format json lists them")
            break
    for sentence in verdicts(comparison):
        console.print(f"[bold]{escape(sentence)}[/bold]")
    if freed := freed_lines(comparison):
        console.print("Could be switched off:")
        for line in freed:
            print_indented(console, escape(line))
    console.print()
    names = [run.name for run in comparison.runs]
    titles = names if max(map(len, names)) <= LONGEST_TITLE else [f"run {place}" for place, _ in enumerate(names, 1)]
    if titles is not names:
        for title, name in zip(titles, names, strict=True):
            console.print(f"[bold]{title}[/bold]: {escape(name)}", soft_wrap=True)
    for run in comparison.failed:
        console.print(f"{escape(run.name)} Failed: its numbers are of a part of the scenario", soft_wrap=True)
    columns = ["measure", *titles, *(f"Δ {title}" for title in titles[1:])]
    rows = []
    for number in comparison.numbers:
        title = f"{number.name} {number.unit}".rstrip()
        rows.append([title, *map(figure, number.values), *changes(comparison, number)])
    print_table(console, columns, rows, "a wider terminal, --format markdown or compare.html shows them")
    _print_moved(console, comparison)


def _print_moved(console: "Console", comparison: "Comparison") -> None:
    """The pods that went elsewhere, by workload and reason."""
    from rich.markup import escape

    from seatrial.cli.terminal.tables import print_indented
    from seatrial.results.comparison import SHOWN, common_suffix, moved_groups

    count = len(comparison.differences)
    console.print(f"\n{counted(count, 'pod')} went elsewhere" if count else "\nEvery pod went to the same node")
    suffix = common_suffix([node for each in comparison.differences for node in each.nodes if node])
    if suffix:
        console.print(f"[dim](names of nodes without {escape(suffix)})[/dim]")
    groups = moved_groups(comparison)
    for group in groups[:SHOWN]:
        example, pods = group.example, len(group.differences)
        places = " → ".join(node or "pending" for node in example.nodes)
        who = example.pod if pods == 1 else f"{group.workload}: {pods:,} pods, for example {example.pod}"
        print_indented(console, escape(f"{who}: {places.replace(suffix, '') if suffix else places}"))
        if example.reason:
            why = example.reason.replace(suffix, "") if suffix else example.reason
            print_indented(console, f"[dim]{escape(why)}[/dim]", 4)
    rest = sum(len(group.differences) for group in groups[SHOWN:])
    if rest:
        console.print(f"  … and {rest:,} more; compare.html lists every pod")
