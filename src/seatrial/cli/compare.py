"""`seatrial compare`: compares runs of one scenario; a table, a page, and an exit code for CI."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seatrial.cli.options.compare_sides import Schedulers, Tries, given_sides, is_simulation
from seatrial.cli.options.output_folder import make_folder
from seatrial.cli.options.outside import OutsideTimeout, read_options
from seatrial.cli.options.scheduler import Gates
from seatrial.cli.options.snapshot import OrderOfPods, SnapshotFile, UnbindPods, name_of, only_done, read_cluster
from seatrial.cli.results import Measures
from seatrial.model.errors import ConfigError
from seatrial.words import counted

if TYPE_CHECKING:
    from seatrial.results.comparison import Comparison, Number, Significance

FAIL_IF = (
    "Exit 1 if it holds: 'nodes_used > 5%' and 'nodes_used > 2' are changes from the first run (in percent, and in the "
    "unit of the measure), 'value(nodes_used) > 20' is the value itself in any run."
)
HAS_SCHEDULER = "goes with --scenario or --snapshot; a run or a SchedulerSimulation has its scheduler already"
FINISHED = "goes with --scenario, --snapshot or SchedulerSimulations; runs have been played already"
LONGEST_TITLE = 20
"""Longer names of runs are listed above the table."""


def register(app: typer.Typer) -> None:
    app.command()(compare)


def compare(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Runs of one scenario (--out directories), or files with SchedulerSimulations to run."),
    ] = None,
    scenario: Annotated[Path | None, typer.Option(help="Run this scenario with each configuration.")] = None,
    snapshot: SnapshotFile = None,
    unbind: UnbindPods = "none",
    unbind_order: OrderOfPods = "created",
    scheduler_config: Annotated[
        list[str] | None, typer.Option(help="A KubeSchedulerConfiguration, or `default`; once for each run.")
    ] = None,
    volcano_config: Annotated[
        list[Path] | None,
        typer.Option(help="A volcano-scheduler.conf, where Volcano schedules; once for each run."),
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
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Runs of each with random ties, seeds 0 to N-1; says what is significant."),
    ] = None,
    measure: Annotated[list[str] | None, typer.Option(help="Only these measures.")] = None,
    measures: Measures = None,
    fail_if: Annotated[list[str] | None, typer.Option(help=FAIL_IF)] = None,
    format: Annotated[
        Literal["table", "markdown", "json"], typer.Option("--format", "-f", help="What to print.")
    ] = "table",
    junit: Annotated[Path | None, typer.Option(help="Write the thresholds as JUnit XML.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of compare.html.")] = Path(),
) -> None:
    """Compare runs of one scenario: measures, and which pods went elsewhere and why.

    The sides are finished runs, SchedulerSimulations, or one scenario with several schedulers. The others are measured
    against the first. With --seeds every side runs several times, and each difference has the p-value of a paired test
    (Wilcoxon signed-rank): below 0.05 it is called significant.
    """
    from seatrial.results import find_measures, load_measures
    from seatrial.results.comparison import Threshold, verdicts
    from seatrial.results.comparison import compare as compare_runs
    from seatrial.scenario.engine import load_controllers
    from seatrial.web import compare_page, write_page

    load_measures(measures or ())
    find_measures(measure or [])  # a name that is not known is refused before anything runs
    thresholds = [Threshold.parse(text) for text in fail_if or []]
    make_folder(out)
    _check_junit(junit)
    tries = Tries(seeds or 1)
    cluster = read_cluster(snapshot, unbind, unbind_order, alone=scenario is None)
    if scenario is None and snapshot is None:
        _refuse(HAS_SCHEDULER, scheduler_config=scheduler_config, volcano_config=volcano_config, outside=outside)
        finished = [path for path in runs or () if not is_simulation(path)]
        if finished:
            _refuse(FINISHED, seeds=seeds)
        if finished == runs:
            _refuse(FINISHED, feature_gates=feature_gates or None, plugins=plugins, controllers=controllers)
        load_controllers(controllers or ())
        sides = given_sides(runs or [], feature_gates, plugins or [])
    elif runs:
        raise ConfigError("", "RUN", "expected either runs or --scenario and --snapshot, got both")
    else:
        load_controllers(controllers or ())
        programs = [read_options([text], outside_timeout, None, explain=False) for text in outside or ()]
        schedulers = Schedulers(scheduler_config or (), volcano_config or (), programs, feature_gates, plugins or ())
        sides = schedulers.sides(scenario or only_done(name_of(snapshot)), cluster)
    played = [side.runs(tries) for side in sides]
    loaded, by_seed = [of_side[0] for of_side in played], played if tries.seeds > 1 else None
    comparison = compare_runs(loaded, measure or None, by_seed)
    crossings = {threshold.text: threshold.crossings(comparison) for threshold in thresholds}
    # Files are written before anything is printed, so that a closed pipe does not lose them.
    page = compare_page(list(comparison.runs), comparison.moved, *page_parts(comparison), verdicts(comparison))
    write_page(page, out / "compare.html")
    if junit is not None:
        from seatrial.results.comparison import as_junit

        junit.write_text(as_junit(comparison, crossings))
    _print(comparison, format)
    if format == "table":
        typer.echo(f"written {out / 'compare.html'}; open it in a browser")
    _judge(comparison, [sentence for sentences in crossings.values() for sentence in sentences])


def _judge(comparison: "Comparison", crossings: list[str]) -> None:
    """Exit 1 with the reason where a run Failed or a number is over its threshold."""
    from seatrial.results.comparison import failures

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


def _refuse(why: str, **options: object) -> None:
    """Refuse options that would change nothing."""
    for name, value in options.items():
        if value is not None:
            raise ConfigError("", f"--{name.replace('_', '-')}", why)


def _print(comparison: "Comparison", format: str) -> None:
    from seatrial.model.documents import encode
    from seatrial.results.comparison import as_document, as_markdown

    if format == "json":
        typer.echo(encode(as_document(comparison)).decode())
    elif format == "markdown":
        typer.echo(as_markdown(comparison), nl=False)
    else:
        _print_table(comparison)


def _print_table(comparison: "Comparison") -> None:
    from rich.console import Console
    from rich.markup import escape

    from seatrial.cli.terminal.tables import print_indented, print_table
    from seatrial.results.comparison import SHOWN, changes, figure, verdicts

    console = Console(highlight=False)
    for sentence in verdicts(comparison):
        console.print(f"[bold]{escape(sentence)}[/bold]")
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
    left_out = print_table(console, columns, rows)
    if left_out:
        console.print(f"… {', '.join(left_out)}: a wider terminal, --format markdown or compare.html shows them")
    count = len(comparison.differences)
    console.print(f"\n{counted(count, 'pod')} went elsewhere" if count else "\nEvery pod went to the same node")
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
            "unit": _hint(comparison, n),
            "better": "" if comparison.failed or _is_luck(comparison, n) else n.better,
            "values": list(n.values),
        }
        for n in comparison.numbers
    ]
    differences: list[object] = [
        {"pod": d.pod, "number": d.number, "nodes": list(d.nodes), "reason": d.reason} for d in comparison.differences
    ]
    spread: list[object] = [
        {"measure": s.name, "run": s.run, "min": s.least, "median": s.median, "max": s.most} for s in comparison.spread
    ]
    return numbers, differences, spread


def _tested(comparison: "Comparison", number: "Number") -> "list[Significance]":
    """The tests of the runs in which a number differs."""
    places = [place for place in range(1, len(comparison.runs)) if number.delta(place)]
    return [tested for place in places if (tested := comparison.significance_of(number, place)) is not None]


def _is_luck(comparison: "Comparison", number: "Number") -> bool:
    """Whether no difference of a number is significant, so that none is called better or worse."""
    tested = _tested(comparison, number)
    return bool(tested) and not any(each.is_significant for each in tested)


def _hint(comparison: "Comparison", number: "Number") -> str:
    """The unit of a number, and the p-values of its differences over several seeds."""
    tested = _tested(comparison, number)
    if not tested:
        return number.unit
    return f"{number.unit} p = {', '.join(f'{each.p:.2g}' for each in tested)}".strip()
