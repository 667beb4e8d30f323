"""`seatrial simulate`: SchedulerSimulations of KEP-184, run on this machine without a cluster."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seatrial.cli.options.measures import FailIf
from seatrial.cli.options.scheduler import KubernetesVersion, chosen_version, read_scheduler
from seatrial.cli.options.snapshot import OrderOfPods, PricesFile, SnapshotFile, UnbindPods, WithVolcano, read_cluster
from seatrial.cli.terminal.comparison import write_comparison
from seatrial.control_plane import chosen_strategy
from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.operator import LocalSimulation
    from seatrial.results.comparison import Threshold
    from seatrial.scenario import SimulationOptions

OBJECT = "schedulersimulation.yaml"


@dataclass(frozen=True, slots=True)
class RunChoices:
    """The options for every run."""

    options: "SimulationOptions"
    plugins: list[str]
    version: str
    volcano: bool
    quiet: bool


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(simulate)


def simulate(
    files: Annotated[list[Path], typer.Argument(help="SchedulerSimulations, one or more in each file.")],
    kubernetes_version: KubernetesVersion = "",
    snapshot: SnapshotFile = None,
    unbind: UnbindPods = "none",
    unbind_order: OrderOfPods = "created",
    prices: PricesFile = None,
    volcano: WithVolcano = False,
    seed: Annotated[int, typer.Option(help="Seed of uids and of random ties.")] = 0,
    tie_break: Annotated[
        Literal["upstream", "name", "random"], typer.Option(help="How equal scores are settled.")
    ] = "upstream",
    record: Annotated[
        Literal["none", "summary", "full"], typer.Option(help="What is kept of each scheduling attempt.")
    ] = "full",
    plugins: Annotated[list[str] | None, typer.Option(help="A module (or .py file) with plugins.")] = None,
    fail_if: FailIf = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; by default seatrial-out, with a folder for each.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run SchedulerSimulations here, print them with their status, and compare them where there are several."""
    from seatrial.operator import read_simulations
    from seatrial.results.comparison import read_thresholds
    from seatrial.scenario import SimulationOptions
    from seatrial.simulation import make_folder

    thresholds = read_thresholds(fail_if or ())
    simulations = [simulation for path in files for simulation in read_simulations(path)]
    names = [simulation.name for simulation in simulations]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError("", "metadata.name", f"{name} is the name of two SchedulerSimulations")
    _check_results(simulations)
    changes = [threshold.text for threshold in thresholds if not threshold.is_value]
    if changes and len(simulations) < 2:
        why = f"{changes[0]!r} is a change: expected two SchedulerSimulations or more, or value(NUMBER)"
        raise ConfigError("", "--fail-if", why)
    targets = _targets(names, out)
    for target in targets.values():
        make_folder(target)
    cluster = read_cluster(snapshot, unbind, unbind_order, seed, quiet=quiet, prices=prices)
    options = SimulationOptions(
        level=record, strategy=chosen_strategy(), snapshot=cluster, seed=seed, tie_break=tie_break
    )
    version = chosen_version(kubernetes_version, cluster, quiet=quiet)
    choices = RunChoices(options, plugins or [], version, volcano, quiet)
    failures = [_simulate(each, targets[each.name], choices) for each in simulations]
    if len(simulations) > 1 or (thresholds and not any(failures)):
        _compare(list(targets.values()), out or Path("seatrial-out"), thresholds, failed=any(failures))
    if any(failures):
        raise typer.Exit(1)


def _check_results(simulations: "list[LocalSimulation]") -> None:
    """Refuse two simulations that write one file: the second would replace the result of the first."""
    writers: dict[Path, str] = {}
    for each in simulations:
        first = writers.setdefault(each.result.resolve(), each.name)
        if first != each.name:
            why = f"{first} and {each.name} both write {each.result}"
            raise ConfigError(str(each.source), "spec.scenarioResultFilePath", why)


def _targets(names: list[str], out: Path | None) -> dict[str, Path]:
    """The folder of each simulation."""
    if len(names) == 1 and out is not None:
        return {names[0]: out}
    return {name: (out or Path("seatrial-out")) / name for name in names}


def _simulate(simulation: "LocalSimulation", target: Path, choices: RunChoices) -> str:
    """Run one simulation, and print it with its status; why it failed, else the empty text."""
    from seatrial.model.yaml_reader import dump
    from seatrial.scenario.output_files import write_whole

    started = _now()
    try:
        failure = _run(simulation, target, choices)
    except ConfigError as error:
        failure = str(error)
    ended = dump(simulation.ended(started, _now(), failure))
    write_whole(target / OBJECT, [ended.encode()])
    typer.echo(f"---\n{ended}", nl=False)
    if failure:
        typer.secho(f"seatrial: {simulation.name}: {failure}", err=True, fg="red")
    return failure


def _run(simulation: "LocalSimulation", target: Path, choices: RunChoices) -> str:
    from seatrial.operator import check_writable
    from seatrial.scenario.output_files import RESULT, write_whole
    from seatrial.scenario.spec import read_scenario, with_volcano
    from seatrial.simulation import read_programs, run_into

    # A result of an earlier run must not be taken for one of this run.
    (target / RESULT).unlink(missing_ok=True)
    document = read_scenario(simulation.template)
    document = with_volcano(document) if choices.volcano else document
    check_writable(simulation.result)
    plugins = [*choices.plugins, *simulation.plugins]
    configuration, classes = read_scheduler(simulation.configuration, "", plugins, choices.version)
    programs = read_programs(simulation.outside)
    options = replace(choices.options, scheduler_config=configuration, plugins=classes)
    deadline = simulation.document["spec"].get("activeDeadlineSeconds") or 0
    status = run_into(
        target, document, options, source=simulation.template, programs=programs, deadline=deadline
    ).status
    with (target / RESULT).open("rb") as result:
        write_whole(simulation.result, iter(lambda: result.read(1 << 20), b""))
    name = document["metadata"]["name"]
    if not choices.quiet:
        typer.echo(f"seatrial: {simulation.name}: scenario {name} {status.phase}", err=True)
    if status.phase == "Paused":
        return f"scenario {name} ended Paused, without Done: {status.message}"
    return "" if status.phase == "Succeeded" else f"scenario {name} {status.phase}: {status.message}"


def _compare(targets: list[Path], out: Path, thresholds: "list[Threshold]", *, failed: bool) -> None:
    """Compare the runs, on standard error and in compare.html; exit 1 where a threshold is crossed."""
    from seatrial.results import Run
    from seatrial.results.comparison import as_markdown, compare

    if failed and not all((target / "result.json").exists() for target in targets):
        typer.echo("seatrial: not compared: a simulation has no result", err=True)
        return
    try:
        comparison = compare([Run.load(target) for target in targets])
    except ConfigError as error:
        if thresholds:
            raise
        typer.echo(f"seatrial: not compared: {error}", err=True)
        return
    if len(targets) > 1:
        page = write_comparison(comparison, out)
        typer.echo(as_markdown(comparison), err=True, nl=False)
        typer.echo(f"written {page}", err=True)
    crossings = [sentence for threshold in thresholds for sentence in threshold.crossings(comparison)]
    for sentence in crossings:
        typer.secho(f"over the line: {sentence}", err=True, fg="red")
    if crossings:
        raise typer.Exit(1)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
