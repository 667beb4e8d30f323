"""`seatrial run`: runs a scenario in this process, in virtual time, and writes its results."""

import gc
import math
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from seatrial.cli.options.output_folder import output_folder
from seatrial.cli.options.outside import NO_PROGRAMS, Outside, OutsideTimeout, Programs, read_options
from seatrial.cli.options.scheduler import Gates
from seatrial.cli.options.snapshot import OrderOfPods, SnapshotFile, UnbindPods, name_of, only_done, read_cluster
from seatrial.cli.terminal.interruption import Interrupted, interruption
from seatrial.command_line import YOUNG_OBJECTS
from seatrial.control_plane import check_strategy, chosen_strategy, free_memory, load_or_refuse
from seatrial.model.errors import ConfigError
from seatrial.scheduler.evaluator import chosen_kernel, chosen_shortcuts

if TYPE_CHECKING:
    from seatrial.results import Run
    from seatrial.scenario import MakeScheduler, ScenarioRun, ScenarioStatus, SimulationOptions
    from seatrial.scenario.engine import VolcanoSettings

REPORT = "report.html"
HELP = frozenset({"-h", "--help", "--version"})

ScenarioFile = Annotated[Path | None, typer.Argument(help="A Scenario in YAML or JSON.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the command; a wrong value in the environment ends any command here, unless only help is requested."""
    if HELP.isdisjoint(sys.argv[1:]):
        check_strategy()
        chosen_shortcuts()
        chosen_kernel()
    app.command()(run)


def run(
    scenario: ScenarioFile = None,
    scheduler_config: Annotated[Path | None, typer.Option(help="A KubeSchedulerConfiguration.")] = None,
    feature_gates: Gates = "",
    volcano_config: Annotated[
        Path | None, typer.Option(help="volcano-scheduler.conf; default: the one of Volcano's Helm chart.")
    ] = None,
    snapshot: SnapshotFile = None,
    unbind: UnbindPods = "none",
    unbind_order: OrderOfPods = "created",
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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Run a scenario and write result.json, timeline.parquet and report.html."""
    from seatrial.scenario import SimulationOptions
    from seatrial.scenario.engine import REGISTRY, load_controllers
    from seatrial.scenario.spec import read_scenario

    load_controllers(controllers or ())
    if list_controllers:
        typer.echo("\n".join(REGISTRY.names()))
        return
    if scenario is None and (snapshot is None or check or expand):
        raise ConfigError("", "SCENARIO", "expected the path of a Scenario, or --snapshot")
    cluster = read_cluster(snapshot, unbind, unbind_order, seed, quiet=quiet, alone=scenario is None)
    if scenario is not None and (check or expand):
        from seatrial.cli.check import check as check_scenario

        scheduler_from(scheduler_config, feature_gates, plugins or [], tie_break, seed, events=False)
        check_scenario(scenario, cluster.documents, expand=expand, json=json)
        return
    document = read_scenario(scenario) if scenario is not None else only_done(name_of(snapshot))
    options = SimulationOptions(
        level=record,
        cells=cells,
        full_repeat=full_repeat,
        drain=drain,
        max_loops=max_loops,
        strategy=chosen_strategy(),
        snapshot=cluster,
        volcano=volcano_from(volcano_config, tie_break, seed, events=record == "full"),
        memory=None if force else free_memory(),
    )
    programs = read_options(outside or (), outside_timeout, scheduler_config, explain=explain_with_model)
    configuration = programs.model_config
    maker = scheduler_from(configuration, feature_gates, plugins or [], tie_break, seed, events=record == "full")
    target = out or Path("seatrial-out") / document["metadata"]["name"]
    status = run_scenario(
        document, scenario or Path(), maker, options, seed, target, programs, report=report, quiet=quiet, json=json
    )
    if status.phase == "Failed" or status.failing_pods:
        if quiet:
            typer.echo(f"seatrial: {status.message}", err=True)
        raise typer.Exit(1)


def run_scenario(
    document: dict[str, Any],
    path: Path,
    make_scheduler: "MakeScheduler",
    options: "SimulationOptions",
    seed: int,
    target: Path,
    programs: Programs = NO_PROGRAMS,
    *,
    report: bool,
    quiet: bool,
    json: bool,
    deadline: int = 0,
) -> "ScenarioStatus":
    """Run a scenario, for so many seconds at most, and write its results into a folder; its status at the end."""
    from seatrial.cli.terminal.progress import Progress, print_summary, summary_of
    from seatrial.clock import Clock
    from seatrial.scenario import ScenarioRun, fresh_store, tune_collector
    from seatrial.scenario.output_files import FilePages
    from seatrial.timeline.rows import Rows, SpillingSink

    tune_collector()
    clock = Clock()
    with tempfile.TemporaryDirectory(prefix="seatrial-") as spool, tempfile.TemporaryFile() as pages:
        store = fresh_store(clock, seed, watched=bool(programs.controllers))
        host = programs.host(store, make_scheduler, Path(spool) / "outside", target / "outside")
        options = host.add_to(options) if host is not None else options
        try:
            scenario_run = ScenarioRun(
                document, store, clock, make_scheduler, options,
                folder=path.parent, pages=FilePages(pages), rows=Rows(SpillingSink(Path(spool))),
            )  # fmt: skip
            programs.check_taking_part(scenario_run)
        except ConfigError as error:
            raise ConfigError(error.path or str(path), error.field, error.why) from error
        with output_folder(target) as folder:
            with Progress(scenario_run, quiet=quiet or json) as progress:
                if host is not None:
                    host.drive(scenario_run, progress.tick)
                else:
                    _drive(scenario_run, progress, deadline)
            files = write_results(scenario_run, folder, target.resolve().name, report=report)
        if not report:
            (target / REPORT).unlink(missing_ok=True)
        if json or not quiet:
            files = [str(target / name) for name in files]
            summary = summary_of(scenario_run, progress.seconds)
            warnings = list(scenario_run.status.notes.values())
            if json:
                import orjson

                typer.echo(orjson.dumps({**summary, "files": files, "warnings": warnings}).decode())
            else:
                print_summary(summary, files, warnings)
        return scenario_run.status


def _drive(scenario_run: "ScenarioRun", progress: Any, deadline: int = 0) -> None:
    """Run to the end or to an interruption; code that does not return after an interruption is abandoned."""
    end = time.monotonic() + deadline if deadline else math.inf
    with interruption() as interrupted:
        try:
            for _ in scenario_run.run():
                progress.tick()
                if interrupted:
                    break
                if time.monotonic() > end:
                    scenario_run.fail(f"not finished within {deadline} s")
                    return
        except Interrupted as error:
            scenario_run.fail(f"interrupted {_step(scenario_run)} in {error}; the result is partial")
            return
    if interrupted:
        scenario_run.fail(f"interrupted {_step(scenario_run)}; the result is partial")


def _step(scenario_run: "ScenarioRun") -> str:
    return "before the first step" if scenario_run.status.major is None else f"in step {scenario_run.status.major}"


def write_results(scenario_run: "ScenarioRun", folder: Path, name: str, *, report: bool) -> list[str]:
    """Put the files of a run of some name into a folder; their names."""
    from seatrial.scenario.output_files import RESULT, write_whole
    from seatrial.timeline import NAME
    from seatrial.timeline.rows import write_table

    write_table(scenario_run.timeline.rows.table(), scenario_run.timeline.dictionary.document(), folder / NAME)
    write_whole(folder / RESULT, scenario_run.parts())
    if report:
        from seatrial.web import report_page, write_page

        # A page is made of many objects and no garbage.
        gc.set_threshold(YOUNG_OBJECTS)
        write_page(report_page(_finished(scenario_run, folder, name)), folder / REPORT)
    return [RESULT, NAME, *([REPORT] if report else [])]


def _finished(scenario_run: "ScenarioRun", folder: Path, name: str) -> "Run":
    """A run whose files are in a folder; `result.json` is read where the timeline does not have the attempts."""
    from seatrial.results import Run

    found = Run.load(folder, None if scenario_run.options.level == "none" else scenario_run.outline())
    rows = scenario_run.timeline.rows
    # One frame, of the very parts that are in memory: a query of many frames starts one for each.
    return replace(found, name=name, table=rows.table().collect().lazy() if rows.is_in_memory else found.table)


def scheduler_from(
    path: Path | None, gates: str, modules: list[str], tie_break: Any, seed: int, *, events: bool
) -> Any:
    """What makes the scheduler of a run, from the options of a command."""
    from seatrial.scenario.engine import scheduler_maker
    from seatrial.scheduler.plugins import load_plugins

    classes = load_plugins(modules)
    loaded = load_or_refuse(path, classes, gates)
    return scheduler_maker(loaded, tie_break=tie_break, seed=seed, plugins=classes, events=events)


def volcano_from(path: Path | None, tie_break: str, seed: int, *, events: bool) -> "VolcanoSettings":
    """How Volcano's scheduler is run, from the options of a command."""
    from seatrial.control_plane import read_conf
    from seatrial.scenario.engine import VolcanoSettings

    return VolcanoSettings(read_conf(path), tie_break, seed, events)
