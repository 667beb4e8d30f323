"""`seatrial compare`: compares runs of one scenario; a table, a page, and an exit code for CI."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from seatrial.cli.output_folder import make_folder
from seatrial.cli.outside_options import OutsideTimeout, Programs, read_options
from seatrial.cli.scheduler_options import Gates
from seatrial.control_plane import load_or_refuse
from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seatrial.results.comparison import Comparison
    from seatrial.results.run import Run
    from seatrial.scenario.engine import TieBreak
    from seatrial.scheduler.config import Configuration

DEFAULT = "default"
LONGEST_TITLE = 20
"""Longer names of runs are listed above the table."""


def register(app: typer.Typer) -> None:
    app.command()(compare)


def compare(
    runs: Annotated[list[Path] | None, typer.Argument(help="Runs of one scenario (--out directories).")] = None,
    scenario: Annotated[Path | None, typer.Option(help="Run this scenario with each configuration.")] = None,
    scheduler_config: Annotated[
        list[str] | None, typer.Option(help="A KubeSchedulerConfiguration, or `default`; once for each run.")
    ] = None,
    outside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COMMAND|FILE",
            help="Also run it with a scheduler that is a program of its own; once for each run.",
        ),
    ] = None,
    outside_timeout: OutsideTimeout = "60s",
    feature_gates: Gates = "",
    plugins: Annotated[list[str] | None, typer.Option(help="A module (or .py file) with plugins.")] = None,
    controllers: Annotated[list[str] | None, typer.Option(help="A module (or .py file) with controllers.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs of each with random ties, seeds 0 to N-1.")] = None,
    measure: Annotated[list[str] | None, typer.Option(help="Only these measures.")] = None,
    fail_if: Annotated[
        list[str] | None, typer.Option(help="Exit 1 if a number changes so, e.g. 'allocation_cpu < -1%'.")
    ] = None,
    format: Annotated[
        Literal["table", "markdown", "json"], typer.Option("--format", "-f", help="What to print.")
    ] = "table",
    junit: Annotated[Path | None, typer.Option(help="Write the thresholds as JUnit XML.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of compare.html.")] = Path(),
) -> None:
    """Compare runs of one scenario: measures, and which pods went elsewhere and why."""
    from seatrial.results.comparison import compare as compare_runs
    from seatrial.results.thresholds import Threshold
    from seatrial.scenario.engine import load_controllers
    from seatrial.web import compare_page, write_page

    thresholds = [Threshold.parse(text) for text in fail_if or []]
    make_folder(out)
    _check_junit(junit)
    if scenario is None:
        _refuse(
            scheduler_config=scheduler_config,
            outside=outside,
            feature_gates=feature_gates or None,
            plugins=plugins,
            controllers=controllers,
            seeds=seeds,
        )
        loaded, by_seed = _load(runs or []), None
    else:
        if runs:
            raise ConfigError("", "RUN", "expected either runs or --scenario, got both")
        load_controllers(controllers or ())
        programs = [read_options([text], outside_timeout, None, explain=False) for text in outside or ()]
        configs = scheduler_config or []
        loaded, by_seed = _run_all(scenario, configs, programs, feature_gates, plugins or [], seeds or 1)
    comparison = compare_runs(loaded, measure or None, by_seed)
    crossings = {threshold.text: threshold.crossings(comparison) for threshold in thresholds}
    _print(comparison, format)
    page = compare_page(list(comparison.runs), *page_parts(comparison))
    write_page(page, out / "compare.html")
    if format == "table":
        typer.echo(f"written {out / 'compare.html'}")
    if junit is not None:
        from seatrial.results.wording import as_junit

        junit.write_text(as_junit(comparison, crossings))
    _judge(comparison, [sentence for sentences in crossings.values() for sentence in sentences])


def _judge(comparison: "Comparison", crossings: list[str]) -> None:
    """Exit 1 with the reason where a run Failed or a number is over its threshold."""
    from seatrial.results.wording import failures

    found = [f"seatrial: {sentence}" for sentence in failures(comparison).values()]
    found += [f"over the line: {sentence}" for sentence in crossings]
    for sentence in found:
        typer.secho(sentence, err=True, fg="red")
    if found:
        raise typer.Exit(1)


def _check_junit(path: Path | None) -> None:
    """Check before a long run whether its output can be written."""
    if path is None or (path.exists() and not path.is_file() and not path.is_dir()):
        return
    existed = path.exists()
    try:
        path.open("ab").close()
    except OSError as error:
        raise ConfigError("", "--junit", f"{path} cannot be written: {error.strerror}") from error
    if not existed:
        path.unlink()


def _refuse(**options: object) -> None:
    """Refuse options of a run where the runs are already finished."""
    for name, value in options.items():
        if value is not None:
            raise ConfigError("", f"--{name.replace('_', '-')}", "goes with --scenario; runs have been played already")


def _load(paths: list[Path]) -> list["Run"]:
    from seatrial.results.run import Run

    if len(paths) < 2:
        raise ConfigError("", "RUN", "two or more runs are needed, or --scenario with two --scheduler-config")
    runs = [Run.load(path) for path in paths]
    names = [run.name for run in runs]
    for run, path in zip(runs, paths, strict=True):
        if names.count(run.name) > 1:
            run.name = str(path)
    return runs


def _run_all(
    scenario: Path, configs: list[str], outside: list[Programs], gates: str, plugins: list[str], seeds: int
) -> tuple[list["Run"], list[list["Run"]] | None]:
    """Run the scenario with each configuration, and with each seed where there are several."""
    from seatrial.scenario.spec import read_scenario
    from seatrial.scheduler.plugins import load_plugins

    if len(configs) + len(outside) < 2:
        why = "give it twice or more, or with --outside: one for each run to compare"
        raise ConfigError("", "--scheduler-config", why)
    if outside and seeds > 1:
        raise ConfigError("", "--seeds", "an outside scheduler settles its ties itself: leave one of the options out")
    names = [config if config == DEFAULT else Path(config).stem for config in configs]
    if len(set(names)) < len(names):
        names = configs
    classes = load_plugins(plugins)
    read_scenario(scenario)
    # All are read before the first run, which may take long.
    sources = [load_or_refuse(None if config == DEFAULT else Path(config), classes, gates) for config in configs]
    by_config = []
    for name, source in zip(names, sources, strict=True):
        ties: TieBreak = "upstream" if seeds == 1 else "random"
        of_config = []
        for seed in range(seeds):
            typer.echo(f"running {scenario.name} with {name}{f', seed {seed}' if seeds > 1 else ''} …", err=True)
            of_config.append(_run_one(scenario, source, name, classes, seed, ties))
        by_config.append(of_config)
    by_config += [[run] for run in _run_outside(scenario, outside)]
    return [of_config[0] for of_config in by_config], by_config if seeds > 1 else None


def _run_outside(scenario: Path, outside: "Sequence[Programs]") -> list["Run"]:
    """Run the scenario with the programs of each side."""
    from seatrial.cli.run import run_scenario
    from seatrial.results.run import Run
    from seatrial.scenario import SimulationOptions
    from seatrial.scenario.engine import scheduler_maker
    from seatrial.scenario.spec import read_scenario

    runs: list[Run] = []
    for programs in outside:
        name = Path((programs.controllers[0].command or (programs.controllers[0].name,))[0]).name
        typer.echo(f"running {scenario.name} with {name} …", err=True)
        maker = scheduler_maker(events=False)
        with tempfile.TemporaryDirectory(prefix="seatrial-") as folder:
            status = run_scenario(
                read_scenario(scenario), scenario, maker, SimulationOptions(), 0, Path(folder) / name, programs,
                report=False, quiet=True, json=False,
            )  # fmt: skip
            if status.phase == "Failed":
                typer.secho(f"seatrial: {scenario} with {name}: Failed: {status.message}", err=True, fg="red")
                raise typer.Exit(1)
            kept = Run.load(Path(folder) / name)
            table = kept.table.collect().lazy() if kept.table is not None else None
            title = name if name not in [run.name for run in runs] else f"{name} {len(runs) + 1}"
            runs.append(Run(title, kept.data, None, table, kept.dictionary))
    return runs


def _run_one(
    scenario: Path,
    source: "Configuration",
    name: str,
    plugins: "Sequence[type[Any]]",
    seed: int,
    ties: "TieBreak",
) -> "Run":
    from seatrial.api import run
    from seatrial.model.documents import encode
    from seatrial.results.run import Run

    result = run(scenario, source, plugins, seed, tie_break=ties)
    if result.phase == "Failed":
        typer.secho(f"seatrial: {scenario} with {name}: Failed: {result.message}", err=True, fg="red")
        raise typer.Exit(1)
    return Run(name, encode(result.scenario), None, result.kept.table, result.kept.dictionary)


def _print(comparison: "Comparison", format: str) -> None:
    from seatrial.model.documents import encode
    from seatrial.results.wording import as_document, as_markdown

    if format == "json":
        typer.echo(encode(as_document(comparison)).decode())
    elif format == "markdown":
        typer.echo(as_markdown(comparison), nl=False)
    else:
        _print_table(comparison)


def _print_table(comparison: "Comparison") -> None:
    from rich.console import Console
    from rich.markup import escape

    from seatrial.cli.tables import print_indented, print_table
    from seatrial.results.wording import SHOWN, changes, figure

    console = Console(highlight=False)
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
    left_out = print_table(console, columns, rows)
    if left_out:
        console.print(f"… {', '.join(left_out)}: a wider terminal, --format markdown or compare.html shows them")
    count = len(comparison.differences)
    console.print(f"\n{count} pods went elsewhere" if count else "\nEvery pod went to the same node")
    for difference in comparison.differences[:SHOWN]:
        places = " → ".join(node or "pending" for node in difference.nodes)
        print_indented(console, f"{escape(difference.pod)}: {escape(places)}")
        print_indented(console, f"[dim]{escape(difference.reason)}[/dim]", 4)
    if count > SHOWN:
        console.print(f"  … and {count - SHOWN} more, in compare.html")


def page_parts(comparison: "Comparison") -> tuple[list[object], list[object], list[object]]:
    """Measures, differences and spread in the form that `compare.html` reads."""
    numbers: list[object] = [
        {
            "measure": n.name,
            "unit": n.unit,
            "better": "" if comparison.failed else n.better,
            "values": list(n.values),
        }
        for n in comparison.numbers
    ]
    differences: list[object] = [
        {"pod": d.pod, "nodes": list(d.nodes), "reason": d.reason} for d in comparison.differences
    ]
    spread: list[object] = [
        {"measure": s.name, "run": s.run, "min": s.least, "median": s.median, "max": s.most} for s in comparison.spread
    ]
    return numbers, differences, spread
