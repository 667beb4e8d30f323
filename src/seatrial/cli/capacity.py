"""`seatrial capacity`: how many more pods fit into a cluster, and how many nodes a scenario needs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from seatrial.cli.options.scheduler import Gates, read_scheduler
from seatrial.cli.options.snapshot import read_cluster
from seatrial.model.errors import BadRequest, ConfigError, Invalid
from seatrial.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from seatrial.capacity import Refusal, Setting

Answer = TypeVar("Answer")
SHOWN = 10
"""Nodes that the terminal lists."""

ScenarioOption = Annotated[Path | None, typer.Option(help="A Scenario; the question is asked at its end.")]
Snapshot = Annotated[Path | None, typer.Option(help="The cluster to begin with (`seatrial snapshot`).")]
SchedulerConfig = Annotated[Path | None, typer.Option(help="A KubeSchedulerConfiguration.")]
VolcanoConfig = Annotated[Path | None, typer.Option(help="volcano-scheduler.conf, where Volcano schedules.")]
Plugins = Annotated[list[str] | None, typer.Option(help="A module (or .py file) with plugins.")]
Controllers = Annotated[list[str] | None, typer.Option(help="A module (or .py file) with controllers.")]
Output = Annotated[Literal["text", "json"], typer.Option("--output", "-o", help="What to print.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="rich",
        help="How many more pods fit, and how many nodes are needed; what stops one more, in one sentence.",
    )
    group.command()(pods)
    group.command()(nodes)
    app.add_typer(group, name="capacity")


def pods(
    pod: Annotated[Path, typer.Argument(help="A Pod, or a workload with a pod template.", show_default=False)],
    snapshot: Snapshot = None,
    scenario: ScenarioOption = None,
    scheduler_config: SchedulerConfig = None,
    feature_gates: Gates = "",
    volcano_config: VolcanoConfig = None,
    plugins: Plugins = None,
    controllers: Controllers = None,
    limit: Annotated[int, typer.Option(min=1, help="Stop after so many.")] = 100_000,
    at_least: Annotated[int | None, typer.Option(min=0, help="Exit 1 if fewer fit.")] = None,
    output: Output = "text",
    quiet: Quiet = False,
) -> None:
    """Count how many more of a pod fit into a cluster: that of a snapshot, or of a scenario at its end.

    The scheduler places copies of the pod one after the other until it refuses one. Nothing is preempted for them, and
    pods of the cluster that are still pending are placed first.
    """
    from seatrial.capacity import count_pods, read_pod

    if snapshot is None and scenario is None:
        raise ConfigError("", "--snapshot", "expected a cluster: --snapshot FILE, --scenario FILE, or both")
    asked = read_pod(pod)
    setting = _setting(
        scenario, snapshot, scheduler_config, feature_gates, volcano_config, plugins or [], controllers or []
    )
    answer = _asked(lambda: count_pods(setting, asked, limit, lambda fit: _say(f"{fit} fit …", quiet)), pod)
    if output == "json":
        _print_json(
            {
                "pod": answer.pod,
                "fit": answer.fit,
                "isLimited": answer.is_limited,
                "nodes": answer.nodes,
                "pendingBefore": answer.pending_before,
                "byNode": answer.by_node,
                "refusals": _refusals(answer.refusals),
                "sentence": answer.sentence,
            }
        )
    else:
        typer.echo(answer.sentence)
        ranked = sorted(answer.by_node.items(), key=lambda item: (-item[1], item[0]))
        for name, count in ranked[:SHOWN]:
            typer.echo(f"  {name}: {count}")
        if len(ranked) > SHOWN:
            typer.echo(f"  … and {counted(len(ranked) - SHOWN, 'node')} more (-o json lists them)")
        if answer.pending_before:
            are = "is" if answer.pending_before == 1 else "are"
            typer.echo(f"Note: {counted(answer.pending_before, 'pod')} of the cluster itself {are} pending.")
    if at_least is not None and answer.fit < at_least:
        typer.secho(f"seatrial: {answer.fit} fit, --at-least is {at_least}", err=True, fg="red")
        raise typer.Exit(1)


def nodes(
    node: Annotated[
        Path, typer.Argument(help="A Node; texts may have ${index}, as in generators.", show_default=False)
    ],
    scenario: ScenarioOption = None,
    snapshot: Snapshot = None,
    add: Annotated[
        bool, typer.Option("--add", help="Keep the scenario's own nodes, and count how many more are needed.")
    ] = False,
    scheduler_config: SchedulerConfig = None,
    feature_gates: Gates = "",
    volcano_config: VolcanoConfig = None,
    plugins: Plugins = None,
    controllers: Controllers = None,
    limit: Annotated[int, typer.Option(min=1, help="Give up after so many.")] = 5_000,
    at_most: Annotated[int | None, typer.Option(min=0, help="Exit 1 if more are needed.")] = None,
    output: Output = "text",
    quiet: Quiet = False,
) -> None:
    """Count how many nodes of a kind a scenario needs, so that every pod gets a node and none is preempted.

    The scenario's own nodes are left out, and pods that are bound to them need others; those of a snapshot stay. A
    snapshot alone asks how many more nodes its pending pods need. The number is doubled until it is enough and then
    bisected; each try runs the whole scenario.
    """
    from seatrial.capacity import count_nodes, read_node

    if scenario is None and snapshot is None:
        raise ConfigError("", "--scenario", "expected what needs the nodes: --scenario FILE, --snapshot FILE, or both")
    kind = read_node(node)
    setting = _setting(
        scenario, snapshot, scheduler_config, feature_gates, volcano_config, plugins or [], controllers or []
    )

    def advance(count: int, short: int) -> None:
        found = f"{counted(short, 'pod')} without a node or preempted" if short else "enough"
        _say(f"{counted(count, 'node')}: {found}", quiet)

    answer = _asked(lambda: count_nodes(setting, kind, limit, add=add, advance=advance), node)
    if output == "json":
        short = answer.shortage
        shown: dict[str, Any] | None = None
        if short is not None:
            shown = {"nodes": short.nodes, "pods": short.pods, "pod": short.pod, "why": short.why}
            shown["refusals"] = _refusals(short.refusals)
        tried = [{"nodes": count, "pods": pods} for count, pods in answer.tried]
        names = {"node": answer.node, "scenario": answer.scenario}
        _print_json({**names, "nodes": answer.nodes, "tried": tried, "shortage": shown, "sentence": answer.sentence})
    else:
        typer.echo(answer.sentence)
    if answer.nodes is None:
        raise typer.Exit(1)
    if at_most is not None and answer.nodes > at_most:
        typer.secho(f"seatrial: {answer.nodes} are needed, --at-most is {at_most}", err=True, fg="red")
        raise typer.Exit(1)


def _setting(
    scenario: Path | None,
    snapshot: Path | None,
    scheduler_config: Path | None,
    gates: str,
    volcano_config: Path | None,
    plugins: list[str],
    controllers: list[str],
) -> "Setting":
    """The cluster of a question, from the options of the command."""
    from seatrial.capacity import Setting
    from seatrial.scenario import SimulationOptions
    from seatrial.scenario.engine import load_controllers
    from seatrial.scenario.spec import read_scenario
    from seatrial.volcano.config import read_conf

    load_controllers(controllers)
    document = None if scenario is None else read_scenario(scenario)
    cluster, conf = read_cluster(snapshot, "none", "created"), read_conf(volcano_config)
    configuration, classes = read_scheduler(scheduler_config, gates, plugins)
    options = SimulationOptions(
        level="none", snapshot=cluster, scheduler_config=configuration, plugins=classes, volcano_config=conf
    )
    return Setting(options, document, scenario.parent if scenario is not None else None)


def _asked(question: "Callable[[], Answer]", path: Path) -> "Answer":
    """The answer to a question about the object of a file; exit code 1 where the scenario Failed."""
    from seatrial.capacity import ScenarioFailedError

    try:
        return question()
    except ScenarioFailedError as error:
        typer.secho(f"seatrial: {error}", err=True, fg="red")
        raise typer.Exit(1) from None
    except (BadRequest, Invalid) as error:
        raise ConfigError(str(path), "", str(error)) from error


def _refusals(refusals: "tuple[Refusal, ...]") -> list[dict[str, object]]:
    return [{"plugin": each.plugin, "reason": each.reason, "nodes": each.nodes} for each in refusals]


def _say(text: str, quiet: bool) -> None:
    if not quiet:
        typer.echo(text, err=True)


def _print_json(document: dict[str, Any]) -> None:
    import orjson

    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
