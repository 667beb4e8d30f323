"""`seatrial run`: runs a scenario in this process, in virtual time, and writes its results."""

import gc
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seatrial.cli.options.measures import FailIf
from seatrial.cli.options.outside import Outside, OutsideTimeout
from seatrial.cli.options.scheduler import (
    Gates,
    KubernetesVersion,
    VolcanoVersion,
    chosen_version,
    read_scheduler,
)
from seatrial.cli.options.snapshot import (
    OrderOfPods,
    PricesFile,
    SnapshotFile,
    UnbindPods,
    WithVolcano,
    name_of,
    read_cluster,
)
from seatrial.command_line import HELP, YOUNG_OBJECTS
from seatrial.control_plane import chosen_strategy, free_memory
from seatrial.model.errors import ConfigError
from seatrial.scheduler.evaluator import chosen_kernel, chosen_shortcuts

if TYPE_CHECKING:
    from seatrial.model.documents import Document
    from seatrial.results import Run
    from seatrial.results.comparison import Threshold
    from seatrial.scenario import ScenarioRun, SimulationOptions
    from seatrial.simulation import Programs, Simulation

REPORT = "report.html"

ScenarioFile = Annotated[Path | None, typer.Argument(help="A Scenario in YAML or JSON.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the command; a wrong value in the environment ends it here, unless only help is requested."""
    if HELP.isdisjoint(sys.argv[1:]):
        chosen_shortcuts()
        chosen_kernel()
    app.command()(run)


def run(
    scenario: ScenarioFile = None,
    scheduler_config: Annotated[Path | None, typer.Option(help="A KubeSchedulerConfiguration.")] = None,
    feature_gates: Gates = "",
    kubernetes_version: KubernetesVersion = "",
    volcano_config: Annotated[
        Path | None, typer.Option(help="volcano-scheduler.conf; default: the one of Volcano's Helm chart.")
    ] = None,
    volcano_version: VolcanoVersion = "",
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
    cells: Annotated[
        int,
        typer.Option(min=0, help="Visited nodes, over all attempts, whose verdicts and scores go into result.json."),
    ] = 20_000,
    full_repeat: Annotated[
        bool, typer.Option("--full-repeat", help="Repeat attempts of earlier steps whole in later entries of a pod.")
    ] = False,
    plugins: Annotated[list[str] | None, typer.Option(help="A module (or .py file) with plugins.")] = None,
    controllers: Annotated[list[str] | None, typer.Option(help="A module (or .py file) with controllers.")] = None,
    outside: Outside = None,
    outside_timeout: OutsideTimeout = "60s",
    explain_with_model: Annotated[
        bool, typer.Option("--explain-with-model", help="Compare an outside scheduler with the embedded exact one.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the results; seatrial-out/NAME by default.")] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html, too.")] = True,
    drain: Annotated[bool, typer.Option("--drain", help="After the last step run until no timer is left.")] = False,
    max_loops: Annotated[int | None, typer.Option(min=1, help="Loops after which a step is given up.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only say what is wrong with the scenario.")] = False,
    expand: Annotated[bool, typer.Option("--expand", help="Print the scenario with its generators expanded.")] = False,
    list_controllers: Annotated[bool, typer.Option("--list-controllers", help="Print their names.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run it even if it is not expected to fit into memory.")
    ] = False,
    fail_if: FailIf = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Run a scenario and write result.json, timeline.parquet and report.html."""
    from seatrial.results.comparison import read_thresholds
    from seatrial.scenario import SimulationOptions
    from seatrial.scenario.engine import REGISTRY, load_controllers
    from seatrial.scenario.spec import read_scenario, scenario_alone, with_volcano
    from seatrial.simulation import read_programs
    from seatrial.volcano.config import read_conf

    load_controllers(controllers or ())
    thresholds = read_thresholds(fail_if or (), one_run=True)
    if list_controllers:
        typer.echo("\n".join(REGISTRY.names()))
        return
    if scenario is None and (snapshot is None or check or expand):
        raise ConfigError("", "SCENARIO", "expected the path of a Scenario (`seatrial init` writes one), or --snapshot")
    cluster = read_cluster(snapshot, unbind, unbind_order, seed, quiet=quiet, alone=scenario is None, prices=prices)
    version = chosen_version(kubernetes_version, cluster, quiet=quiet)
    if scenario is not None and (check or expand):
        from seatrial.cli.terminal.findings import check as check_scenario

        read_scheduler(scheduler_config, feature_gates, plugins or [], version)
        check_scenario(scenario, cluster.documents, expand=expand, json=json)
        return
    document = read_scenario(scenario) if scenario is not None else scenario_alone(name_of(snapshot), cluster)
    document = with_volcano(document) if volcano else document
    programs = read_programs(outside or (), outside_timeout, explain=explain_with_model)
    config = scheduler_config or programs.model_config
    configuration, classes = read_scheduler(config, feature_gates, plugins or [], version)
    options = SimulationOptions(
        level=record,
        cells=cells,
        full_repeat=full_repeat,
        drain=drain,
        max_loops=max_loops,
        strategy=chosen_strategy(),
        snapshot=cluster,
        seed=seed,
        tie_break=tie_break,
        scheduler_config=configuration,
        plugins=classes,
        volcano_config=read_conf(volcano_config, volcano_version),
        memory=None if force else free_memory(),
    )
    target = out or Path("seatrial-out") / document["metadata"]["name"]
    simulation = _run(document, scenario, options, target, programs, report=report, quiet=quiet, json=json)
    if simulation.status.phase == "Failed" or simulation.status.failing_pods:
        if quiet:
            typer.echo(f"seatrial: {simulation.status.message}", err=True)
        raise typer.Exit(1)
    if thresholds:
        _judge(_finished(simulation.scenario_run, target, target.resolve().name), thresholds)


def _judge(finished: "Run", thresholds: "list[Threshold]") -> None:
    """Exit 1 where a number of the run is over its line."""
    from seatrial.results.comparison import compare

    comparison = compare([finished])
    over = [sentence for threshold in thresholds for sentence in threshold.crossings(comparison)]
    for sentence in over:
        typer.secho(f"over the line: {sentence}", err=True, fg="red")
    if over:
        raise typer.Exit(1)


def _run(
    document: "Document",
    source: Path | None,
    options: "SimulationOptions",
    target: Path,
    programs: "Programs",
    *,
    report: bool,
    quiet: bool,
    json: bool,
) -> "Simulation":
    """Run a scenario, write its results into a folder, and print the summary."""
    from seatrial.cli.terminal.progress import Progress, print_summary, summary_of
    from seatrial.simulation import FILES, run_into

    def add_report(simulation: "Simulation", folder: Path) -> None:
        progress.close()
        if report:
            _write_report(simulation, folder, target.resolve().name)

    with Progress(quiet=quiet or json) as progress:
        simulation = run_into(
            target, document, options, source=source, programs=programs, tick=progress.tick, add_files=add_report
        )
    if not report:
        (target / REPORT).unlink(missing_ok=True)
    if json or not quiet:
        files = [str(target / name) for name in (*FILES, *([REPORT] if report else []))]
        summary = summary_of(simulation.scenario_run, progress.seconds)
        if options.snapshot:
            summary = {"workloads": _workloads(_finished(simulation.scenario_run, target, target.name)), **summary}
        warnings = list(simulation.status.notes.values())
        if json:
            import orjson

            typer.echo(orjson.dumps({**summary, "files": files, "warnings": warnings}).decode())
        else:
            print_summary(summary, files, warnings)
    return simulation


def _workloads(finished: "Run") -> "Document | None":
    """What became of the workloads of a snapshot; None where the run kept no writes."""
    from seatrial.results import workloads_of

    if finished.table is None:
        return None
    found = workloads_of(finished)
    missing = [each for each in found if not each.is_ready]
    rows = [
        {"workload": f"{each.namespace}/{each.name}", "kind": each.kind, "wanted": each.wanted,
         "ready": each.ready_end, "lost": each.lost, "why": each.why}
        for each in sorted(missing, key=lambda each: each.ready_end - each.wanted)
    ]  # fmt: skip
    return {"total": len(found), "notReady": rows}


def _write_report(simulation: "Simulation", folder: Path, name: str) -> None:
    from seatrial.web import report_page, write_page

    # A page is made of many objects and no garbage.
    gc.set_threshold(YOUNG_OBJECTS)
    write_page(report_page(_finished(simulation.scenario_run, folder, name)), folder / REPORT)


def _finished(scenario_run: "ScenarioRun", folder: Path, name: str) -> "Run":
    """A run whose files are in a folder; `result.json` is read where the timeline does not have the attempts."""
    from seatrial.results import Run

    found = Run.load(folder, None if scenario_run.options.level == "none" else scenario_run.outline())
    rows = scenario_run.timeline.rows
    # One frame, of the very parts that are in memory: a query of many frames starts one for each.
    return replace(found, name=name, table=rows.table().collect().lazy() if rows.is_in_memory else found.table)
