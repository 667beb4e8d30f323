"""`vcsimctl report`: shows a report, draws it, and compares several."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.vcsim.state import ClusterHome


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)


def report(
    files: Annotated[list[Path] | None, typer.Argument(help="Report files; default: the latest one.")] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="The cluster, or the name in the file of a virtual run; default: the only one with reports."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Compare all reports of the cluster.")] = False,
    draw: Annotated[bool, typer.Option(help="Draw the pods scheduled each second.")] = True,
) -> None:
    """Show the latest report of a cluster or of virtual runs, or compare several."""
    from seatrial.vcsim import reports
    from seatrial.vcsim.state import the_reports

    note = ""
    if not files:
        home = the_reports(cluster)
        found = reports.listed(home.reports)
        if not found:
            raise ConfigError(str(home.reports), "", "there is no report yet; `vcsimctl run --test FILE` makes one")
        files = found if every else found[-1:]
        note = _note(home)
    loaded = [reports.read(path) for path in files]
    for number, path in enumerate(files):
        typer.echo(f"[{number + 1}] {path}")
        if origin := reports.origin_line(loaded[number]):
            typer.echo(f"    {origin}")
    head = ("", *(f"[{number + 1}]" for number in range(len(files))), *(["change"] if len(files) > 1 else []))
    for row in [head, *reports.comparison(loaded)]:
        typer.echo(f"{row[0]:<10}" + "".join(f"{cell:>12}" for cell in row[1:]))
    if draw:
        for number, each in enumerate(loaded):
            typer.echo(f"\nPods scheduled per second [{number + 1}]")
            for line in reports.drawing(each):
                typer.echo(line)
    if note:
        typer.echo(f"\n{note}")


def _note(home: "ClusterHome") -> str:
    """How the reports of a directory were measured."""
    from seatrial.vcsim.runtimes import runtime as runtime_named

    if not home.exists():
        return "Measured in virtual time, without a cluster: when pods are scheduled, not how fast the scheduler is."
    name = home.record().runtime
    return f"Measured on the {name} runtime: {runtime_named(name).difference}."
