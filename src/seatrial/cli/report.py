"""`seatrial report`: writes the report page of a run, from any input."""

from pathlib import Path
from typing import Annotated

import typer

from seatrial.cli.options.run_input import RunArgument, ServerOption, load_run


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)


def report(
    run: RunArgument,
    server: ServerOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write; by default report.html in the run's folder, else here."),
    ] = None,
) -> None:
    """Write the report page of a run: one HTML file that opens offline."""
    from seatrial.model.errors import ConfigError
    from seatrial.web import report_page, write_page

    with load_run(run, server) as loaded:
        folder = Path(run) if server is None and Path(run).is_dir() else Path()
        target = out or folder / "report.html"
        if target.is_dir():
            target = target / "report.html"
        if not target.parent.is_dir():
            raise ConfigError(str(target), "--out", "its folder does not exist")
        write_page(report_page(loaded), target)
    typer.echo(f"written {target}; open it in a browser")
