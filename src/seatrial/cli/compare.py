"""`seatrial compare`: compares runs of one scenario; a table, a page, and an exit code for CI."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seatrial.cli.options.compare_sides import Schedulers, Side, Tries, given_sides, is_simulation
from seatrial.cli.options.measures import FailIf, Measures
from seatrial.cli.options.outside import OutsideTimeout
from seatrial.cli.options.scheduler import Gates
from seatrial.cli.options.snapshot import (
    OrderOfPods,
    PoolLabel,
    PricesFile,
    SnapshotFile,
    UnbindPods,
    WithVolcano,
    name_of,
    read_cluster,
)
from seatrial.cli.terminal.comparison import print_comparison, write_comparison
from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.model.documents import Document
    from seatrial.results.comparison import Comparison
    from seatrial.store.snapshots import Snapshot

HAS_SCHEDULER = "goes with --scenario or --snapshot; a run or a SchedulerSimulation has its scheduler already"
FINISHED = "goes with --scenario, --snapshot or SchedulerSimulations; runs have been played already"


def register(app: typer.Typer) -> None:
    app.command()(compare)


def compare(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Runs of one scenario (--out directories), or files with SchedulerSimulations to run."),
    ] = None,
    scenario: Annotated[Path | None, typer.Option(help="Run this scenario with each configuration.")] = None,
    snapshot: SnapshotFile = None,
    now: Annotated[
        bool, typer.Option("--now/--no-now", help="With --snapshot: the cluster as it is, as the first side.")
    ] = True,
    unbind: UnbindPods = "none",
    unbind_order: OrderOfPods = "created",
    prices: PricesFile = None,
    volcano: WithVolcano = False,
    pool_label: PoolLabel = "",
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
    kubernetes_version: Annotated[
        list[str] | None,
        typer.Option(
            metavar="1.34|1.35|1.36|1.37",
            help="Whose kube-scheduler decides; each one that is named is a side of its own.",
        ),
    ] = None,
    plugins: Annotated[list[str] | None, typer.Option(help="A module (or .py file) with plugins.")] = None,
    controllers: Annotated[list[str] | None, typer.Option(help="A module (or .py file) with controllers.")] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Runs of each with random ties, seeds 0 to N-1; says what is significant."),
    ] = None,
    measure: Annotated[list[str] | None, typer.Option(help="Only these measures.")] = None,
    measures: Measures = None,
    fail_if: FailIf = None,
    format: Annotated[
        Literal["table", "markdown", "json"], typer.Option("--format", "-f", help="What to print.")
    ] = "table",
    junit: Annotated[Path | None, typer.Option(help="Write the thresholds as JUnit XML.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of compare.html.")] = Path(),
) -> None:
    """Compare runs of one scenario: measures, and which pods went elsewhere and why.

    The sides are finished runs, SchedulerSimulations, or one scenario with several schedulers. The others are measured
    against the first; with --snapshot that is the cluster as it is (`now`). With --seeds every side runs several times,
    and each difference has the p-value of a paired test (Wilcoxon signed-rank): below 0.05 it is called significant.
    """
    from seatrial.api import NOW, run_as_it_is
    from seatrial.results import find_measures, load_measures
    from seatrial.results.comparison import compare as compare_runs
    from seatrial.results.comparison import read_thresholds
    from seatrial.scenario.engine import load_controllers
    from seatrial.simulation import make_folder, read_programs

    load_measures(measures or ())
    find_measures(measure or [])  # a name that is not known is refused before anything runs
    thresholds = read_thresholds(fail_if or (), measure or ())
    make_folder(out)
    _check_junit(junit)
    tries = Tries(seeds or 1)
    cluster = read_cluster(snapshot, unbind, unbind_order, alone=scenario is None, prices=prices)
    has_now = now and snapshot is not None
    if scenario is None and snapshot is None:
        _refuse(HAS_SCHEDULER, scheduler_config=scheduler_config, volcano_config=volcano_config, outside=outside)
        finished = [path for path in runs or () if not is_simulation(path)]
        if finished:
            _refuse(FINISHED, seeds=seeds)
        if finished == runs:
            chosen = {"plugins": plugins, "controllers": controllers, "kubernetes_version": kubernetes_version}
            _refuse(FINISHED, feature_gates=feature_gates or None, **chosen)
        load_controllers(controllers or ())
        sides = given_sides(runs or [], feature_gates, plugins or [], kubernetes_version or [""])
    elif runs:
        raise ConfigError("", "RUN", "expected either runs or --scenario and --snapshot, got both")
    else:
        load_controllers(controllers or ())
        programs = [read_programs([text], outside_timeout) for text in outside or ()]
        schedulers = Schedulers(
            scheduler_config or (),
            volcano_config or (),
            programs,
            feature_gates,
            plugins or (),
            kubernetes_version or (),
        )
        sides = schedulers.sides(_document(scenario, snapshot, cluster, volcano=volcano), cluster, 1 if has_now else 2)
        if has_now:
            as_it_is = read_cluster(snapshot, "none", "created", quiet=True, prices=prices)
            sides = [Side(NOW, finished=run_as_it_is(as_it_is)), *sides]
    played = [side.runs(tries) for side in sides]
    loaded, by_seed = [of_side[0] for of_side in played], played if tries.seeds > 1 else None
    comparison = compare_runs(loaded, measure or None, by_seed, has_now=has_now, pool_label=pool_label)
    crossings = {threshold.text: threshold.crossings(comparison) for threshold in thresholds}
    _show(comparison, crossings, format, junit, out)
    _judge(comparison, [sentence for sentences in crossings.values() for sentence in sentences])


def _show(
    comparison: "Comparison", crossings: dict[str, list[str]], format: str, junit: Path | None, out: Path
) -> None:
    """Write the page and the JUnit file, then print."""
    # Files are written before anything is printed, so that a closed pipe does not lose them.
    page = write_comparison(comparison, out)
    if junit is not None:
        from seatrial.results.comparison import as_junit

        junit.write_text(as_junit(comparison, crossings))
    print_comparison(comparison, format)
    if format == "table":
        typer.echo(f"written {page}; open it in a browser")


def _document(scenario: Path | None, snapshot: Path | None, cluster: "Snapshot", *, volcano: bool) -> "Path | Document":
    """What every side plays: the scenario, or the snapshot alone."""
    from seatrial.scenario.spec import read_scenario, scenario_alone, with_volcano

    if scenario is not None:
        return with_volcano(read_scenario(scenario)) if volcano else scenario
    alone = scenario_alone(name_of(snapshot), cluster)
    return with_volcano(alone) if volcano else alone


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
