"""`seatrial results` and `seatrial measures`: what a run means, in numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.options.measures import Measures
from seatrial.cli.options.run_input import RunArgument, ServerOption, load_run

if TYPE_CHECKING:
    import polars as pl

ALL = "--csv or --json has them all"
ROWS = 24


def register(app: typer.Typer) -> None:
    app.command()(results)
    app.command()(measures)


def results(
    run: RunArgument,
    names: Annotated[list[str] | None, typer.Argument(help="Measures; all without one.", metavar="MEASURE")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write MEASURE.csv files into this folder.")] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print all as JSON; what RUN does not tell is null and in `missing`."),
    ] = False,
    parquet: Annotated[Path | None, typer.Option(help="Write MEASURE.parquet files into this folder.")] = None,
    server: ServerOption = None,
    measures: Measures = None,
) -> None:
    """Print the measures of a run, or write them as CSV or Parquet."""
    from seatrial.model.documents import encode
    from seatrial.results import as_document, find_measures, load_measures

    _refuse_options(csv=csv, parquet=parquet)
    load_measures(measures or ())
    chosen = find_measures(names or [])
    with load_run(run, server) as loaded:
        if json:
            typer.echo(encode(as_document(loaded, chosen)).decode())
        elif names:
            # A measure that was asked for and is missing is an error; without names it is left out.
            for measure in chosen:
                measure.compute(loaded)
        able = [measure for measure in chosen if not measure.lacking(loaded)]
        missing = [name for measure in chosen for name in measure.missing(loaded)]
        if missing:
            typer.echo(f"seatrial: missing: {', '.join(missing)}: {loaded.name} lacks {loaded.lacks}", err=True)
        for folder, ending in ((csv, "csv"), (parquet, "parquet")):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                for measure in able:
                    _write(measure.compute(loaded), folder / f"{measure.name}.{ending}")
        if not json and csv is None and parquet is None:
            for measure in able:
                _show(measure.name, measure.definition.splitlines()[0], measure.compute(loaded))


def _refuse_options(**folders: Path | None) -> None:
    """`--csv --json` would write into a folder called `--json`, and print nothing."""
    from seatrial.model.errors import ConfigError

    for name, folder in folders.items():
        if folder is not None and str(folder).startswith("-"):
            raise ConfigError("", f"--{name}", f"expected a folder, got {folder} (./{folder} is a folder of that name)")


def measures(measures: Measures = None) -> None:
    """List the measures and what they are."""
    from rich.markup import escape

    from seatrial.cli.terminal.tables import answer_console, print_indented
    from seatrial.results import all_measures, load_measures

    load_measures(measures or ())
    console = answer_console()
    for name, measure in all_measures().items():
        unit = f"  [{measure.unit}]" if measure.unit else ""
        console.print(f"[bold]{escape(name)}[/bold]{escape(unit)}")
        for paragraph in measure.definition.split("\n\n"):
            print_indented(console, escape(" ".join(paragraph.split())))
        console.print()


def _write(table: "pl.DataFrame", path: Path) -> None:
    if path.suffix == ".csv":
        table.write_csv(path)
    else:
        table.write_parquet(path)
    typer.echo(f"written {path}", err=True)


def _show(name: str, title: str, table: "pl.DataFrame") -> None:
    from rich.markup import escape

    from seatrial.cli.terminal.tables import answer_console, print_table

    console = answer_console()
    console.print(f"[bold]{escape(name)}[/bold]: {escape(title)}")
    if table.is_empty():
        console.print("none\n")
        return
    print_table(console, table.columns, table.head(ROWS).rows(), ALL)
    if len(table) > ROWS:
        console.print(f"… {len(table) - ROWS} more rows: {ALL}")
    console.print()
