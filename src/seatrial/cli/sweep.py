"""`seatrial sweep`: many runs of a scenario with other values, and which of them are worth having."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seatrial.cli.options.scheduler import KubernetesVersion, chosen_version
from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from seatrial.sweeps import Bundle, Point, Standing, Sweep
    from seatrial.sweeps.engines import Engine

PAGE = "sweep.html"
SHOWN = 10
"""Settings of a front, and failed points, that the terminal shows."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(sweep)


def sweep(
    file: Annotated[Path, typer.Argument(help="The sweep: scenarios, axes, seeds and objectives.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; by default seatrial-out/<name of the file>.")
    ] = None,
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="Processes of this machine, or a Ray cluster.")
    ] = "local",
    address: Annotated[str | None, typer.Option(help="Address of the Ray cluster; with --engine ray.")] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Processes of this machine; by default one for each CPU.")
    ] = None,
    kubernetes_version: KubernetesVersion = "",
    retries: Annotated[int, typer.Option(min=0, help="How often a failed point is tried again.")] = 1,
    keep_runs: Annotated[
        bool, typer.Option("--keep-runs", help="Play the settings on the front once more, for `seatrial ui` to open.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Search over configuration values, seeds, scenarios and cluster sizes; a stopped sweep goes on where it was."""
    from seatrial.simulation import make_folder
    from seatrial.sweeps import RUNS, TABLE, Dataset, Sweep, points_of, read_bundle

    if address is not None and engine != "ray":
        raise ConfigError("", "--address", "goes with --engine ray")
    if processes is not None and engine == "ray":
        raise ConfigError("", "--processes", "goes with --engine local; a Ray cluster has as many as it has CPUs")
    bundle = read_bundle(file, lambda named, cluster: chosen_version(kubernetes_version or named, cluster, quiet=quiet))
    if keep_runs and not bundle.spec.objectives:
        raise ConfigError(str(file), "objectives", "--keep-runs keeps what is on the front, which needs objectives")
    try:
        points = points_of(bundle.spec)
    except ConfigError as error:
        raise ConfigError(str(file), error.field, error.why) from error
    target = out or Path("seatrial-out") / file.stem
    make_folder(target)
    whole = Sweep(bundle, points, Dataset(target), file)
    missing = whole.missing()
    if len(missing) < len(points):
        typer.echo(f"seatrial: {len(points) - len(missing)} of {len(points)} points are known already", err=True)
    if missing:
        _run(whole, missing, engine, address, processes, retries, quiet=quiet)
    table, compared = whole.finish()
    _report(table, compared)
    if compared:
        name = file.stem if file.stem != "sweep" else file.resolve().parent.name
        _write_page(name, compared, target / PAGE)
    typer.echo(f"written {target / TABLE}")
    if keep_runs:
        for folder in whole.keep_front(compared, target / RUNS):
            typer.echo(f"written {folder}")
    if table.filter(table["phase"] == "Failed").height:
        raise typer.Exit(1)


def _run(
    whole: "Sweep",
    points: "list[Point]",
    engine: str,
    address: str | None,
    processes: int | None,
    retries: int,
    *,
    quiet: bool,
) -> None:
    """Run points on the engine; Ctrl-C keeps what is done."""
    began = time.monotonic()
    chosen = _engine(whole.bundle, engine, address, processes)
    try:
        with _progress(len(points), quiet=quiet) as advance:
            whole.run(chosen, points, retries, advance)
    except KeyboardInterrupt:
        typer.echo("seatrial: interrupted; the same command goes on from here", err=True)
        raise typer.Exit(1) from None
    finally:
        chosen.close()
    seconds = time.monotonic() - began
    if not quiet:
        typer.echo(
            f"seatrial: {len(points)} points in {seconds:.1f} s ({len(points) / seconds:.3g} points/s)", err=True
        )


def _engine(bundle: "Bundle", engine: str, address: str | None, processes: int | None) -> "Engine":
    if engine == "ray":
        from seatrial.sweeps.engines.ray_cluster import RayEngine

        return RayEngine(bundle, address)
    from seatrial.sweeps.engines.local import LocalEngine, usable_cpus

    return LocalEngine(bundle, processes or usable_cpus())


@contextmanager
def _progress(total: int, *, quiet: bool) -> "Iterator[Callable[[], None]]":
    """A bar with the time that is left, on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    console = Console(file=sys.stderr)
    columns = (BarColumn(), MofNCompleteColumn(), "points", TimeElapsedColumn(), "left", TimeRemainingColumn())
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)


def _report(table: "pl.DataFrame", compared: "list[Standing]") -> None:
    from seatrial.cli.terminal.tables import answer_console

    failed = table.filter(table["phase"] == "Failed")
    typer.echo(f"{table.height - failed.height} points succeeded, {failed.height} failed")
    for row in failed.head(SHOWN).iter_rows(named=True):
        values = ", ".join(f"{name.removeprefix('axis.')} {value}" for name, value in row.items() if "axis." in name)
        where = f"point {row['point']} ({values or row['scenario']}, seed {row['seed']})"
        typer.secho(f"seatrial: {where}: {row['message']}", err=True, fg="red")
    if failed.height > SHOWN:
        typer.echo(f"seatrial: … and {failed.height - SHOWN} more, in the table", err=True)
    for standing in compared:
        _print_standing(answer_console(), standing)


def _print_standing(console: "Console", standing: "Standing") -> None:
    """The front of a scenario, with what each setting is the best by."""
    from seatrial.cli.terminal.tables import print_table

    front = standing.front
    best = [standing.best(place) for place, _ in enumerate(standing.objectives)]
    console.print(
        f"\n[bold]{standing.scenario}[/bold]: {len(front)} of {len(standing.candidates)} settings on the front"
    )
    numbers = [objective.number for objective in standing.objectives]
    rows = []
    for each in front[:SHOWN]:
        leads = [number for number, leader in zip(numbers, best, strict=True) if leader is each]
        rows.append([*each.labels, *each.values, ", ".join(leads)])
    print_table(console, [*standing.names, *numbers, "best by"], rows)
    if len(front) > SHOWN:
        console.print(f"… and {len(front) - SHOWN} more, in {PAGE}")


def _write_page(title: str, compared: "list[Standing]", target: Path) -> None:
    from seatrial.scenario.output_files import write_whole
    from seatrial.sweeps import sweep_page

    write_whole(target, [sweep_page(f"Sweep {title}", compared).encode()])
    typer.echo(f"written {target}")
