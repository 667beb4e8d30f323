"""`seatrial capacity`: how many more pods fit into a cluster, and how many nodes a scenario needs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from seatrial.cli.options.declared import CLUSTER, add_command, option
from seatrial.cli.options.scheduler import Gates, chosen_version, read_scheduler
from seatrial.cli.options.snapshot import read_cluster
from seatrial.model.errors import BadRequest, ConfigError, Invalid
from seatrial.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from seatrial.capacity import Refusal, Setting, Shortage
    from seatrial.model.documents import Document

Answer = TypeVar("Answer")
SHOWN = 10
"""Nodes that the terminal lists."""

SCHEDULER = (
    option("feature_gates", Gates, ""),
    option("plugins", Annotated[list[str] | None, typer.Option(help="A module (or .py file) with plugins.")], None),
    option(
        "controllers", Annotated[list[str] | None, typer.Option(help="A module (or .py file) with controllers.")], None
    ),
)
SHOWN_AS = (
    option("output", Annotated[Literal["text", "json"], typer.Option("--output", "-o", help="What to print.")], "text"),
    option("quiet", Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")], False),
)
PODS = (
    option(
        "files",
        Annotated[list[Path], typer.Argument(metavar="POD", help="A Pod or a workload; or all objects of a chart.")],
    ),
    option(
        "node",
        Annotated[Path | None, typer.Option(help="A Node: how many must be added so that all objects fit?")],
        None,
    ),
    option("limit", Annotated[int, typer.Option(min=1, help="Stop after so many.")], 100_000),
    option("at_least", Annotated[int | None, typer.Option(min=0, help="Exit 1 if fewer fit.")], None),
)
NODES = (
    option(
        "files",
        Annotated[
            list[Path],
            typer.Argument(metavar="NODE", help="A Node; texts may have ${index}, as in generators. Several: a mix."),
        ],
    ),
    option(
        "add",
        Annotated[
            bool, typer.Option("--add", help="Keep the scenario's own nodes, and count how many more are needed.")
        ],
        False,
    ),
    option("limit", Annotated[int, typer.Option(min=1, help="Give up after so many.")], 5_000),
    option("at_most", Annotated[int | None, typer.Option(min=0, help="Exit 1 if more are needed.")], None),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="rich",
        help="How many more pods fit, and how many nodes are needed; what stops one more, in one sentence.",
    )
    add_command(group, "pods", (*PODS, *CLUSTER, *SCHEDULER, *SHOWN_AS), pods)
    add_command(group, "nodes", (*NODES, *CLUSTER, *SCHEDULER, *SHOWN_AS), nodes)
    app.add_typer(group, name="capacity")


def pods(
    *, files: list[Path], node: Path | None, limit: int, at_least: int | None, output: str, quiet: bool, **cluster: Any
) -> None:
    """Count how many more of a pod fit into a cluster: that of a snapshot, or of a scenario at its end.

    The scheduler places copies of the pod one after the other until it refuses one. Nothing is preempted for them, and
    pods of the cluster that are still pending are placed first. Several objects (or one with --node) are created as
    they are, workloads with their replicas: do they all fit, and how many nodes must be added?
    """
    from seatrial.capacity import count_pods, read_objects, read_pod

    setting = _setting(**cluster)
    objects = read_objects(files)
    if len(objects) > 1 or node is not None:
        _fit(setting, objects, node, limit, output, quiet, files[0])
        return
    asked = read_pod(files[0])
    answer = _asked(lambda: count_pods(setting, asked, limit, lambda fit: _say(f"{fit} fit …", quiet)), files[0])
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


def _fit(
    setting: "Setting", objects: "list[Document]", node: Path | None, limit: int, output: str, quiet: bool, path: Path
) -> None:
    """Say whether objects fit as they are; exit 1 where they do not."""
    from seatrial.capacity import fit_objects, read_node

    kind = read_node(node) if node is not None else None
    answer = _asked(
        lambda: fit_objects(setting, objects, kind, limit, lambda count, short: _tell(count, short, quiet)), path
    )
    if output == "json":
        needed = answer.nodes.nodes if answer.nodes is not None else None
        _print_json(
            {
                "objects": answer.objects,
                "fits": answer.fits,
                "shortage": _shown(answer.shortage),
                "nodesToAdd": 0 if answer.fits else needed,
                "sentence": answer.sentence,
            }
        )
    else:
        typer.echo(answer.sentence)
    if not answer.fits:
        raise typer.Exit(1)


def nodes(
    *, files: list[Path], add: bool, limit: int, at_most: int | None, output: str, quiet: bool, **cluster: Any
) -> None:
    """Count how many nodes of a kind a scenario needs, so that every pod gets a node and none is preempted.

    The scenario's own nodes are left out, and pods that are bound to them need others; those of a snapshot stay. A
    snapshot alone asks how many more nodes its pending pods need. The number is doubled until it is enough and then
    bisected; each try runs the whole scenario. Several kinds with prices: a cheap mix, and what no mix is below.
    """
    from seatrial.capacity import count_nodes, read_node

    kinds = [read_node(path) for path in files]
    prices = cluster["prices"]
    if cluster["snapshot"] is None:
        # They are then those of the kinds of a mix.
        cluster["prices"] = None
    setting = _setting(**cluster)
    if len(kinds) > 1:
        _mix(setting, files, kinds, prices, limit, add, output, quiet)
        return
    answer = _asked(
        lambda: count_nodes(setting, kinds[0], limit, add=add, advance=lambda count, short: _tell(count, short, quiet)),
        files[0],
    )
    if output == "json":
        tried = [{"nodes": count, "pods": pods} for count, pods in answer.tried]
        names = {"node": answer.node, "scenario": answer.scenario}
        shortage = _shown(answer.shortage)
        _print_json({**names, "nodes": answer.nodes, "tried": tried, "shortage": shortage, "sentence": answer.sentence})
    else:
        typer.echo(answer.sentence)
    if answer.nodes is None:
        raise typer.Exit(1)
    if at_most is not None and answer.nodes > at_most:
        typer.secho(f"seatrial: {answer.nodes} are needed, --at-most is {at_most}", err=True, fg="red")
        raise typer.Exit(1)


def _mix(
    setting: "Setting", files: list[Path], kinds: "list[Document]", prices: Path | None, limit: int, add: bool,
    output: str, quiet: bool,
) -> None:  # fmt: skip
    """Search for a cheap mix of kinds; exit 1 where none is enough."""
    from seatrial.capacity import find_mix
    from seatrial.store.snapshots import price_of, read_prices

    known = read_prices(prices) if prices is not None else None
    priced = []
    for path, kind in zip(files, kinds, strict=True):
        price = price_of(kind, known)
        if price is None:
            why = "has no price: give --prices FILE with its instance type, or the label seatrial.dev/price-per-hour"
            raise ConfigError(str(path), "", why)
        priced.append((kind, price))
    advance = lambda count, short: _tell(count, short, quiet)  # noqa: E731
    answer = _asked(lambda: find_mix(setting, priced, limit, add=add, advance=advance), files[0])
    if output == "json":
        _print_json(
            {
                "scenario": answer.scenario, "nodes": answer.counts, "pricePerHour": answer.price,
                "bound": answer.bound, "tries": answer.tries, "shortage": _shown(answer.shortage),
                "sentence": answer.sentence,
            }
        )  # fmt: skip
    else:
        typer.echo(answer.sentence)
    if answer.counts is None:
        raise typer.Exit(1)


def _tell(nodes: int, short: int, quiet: bool) -> None:
    found = f"{counted(short, 'pod')} without a node or preempted" if short else "enough"
    _say(f"{counted(nodes, 'node')}: {found}", quiet)


def _shown(short: "Shortage | None") -> dict[str, Any] | None:
    if short is None:
        return None
    shown = {"nodes": short.nodes, "pods": short.pods, "pod": short.pod, "why": short.why}
    return {**shown, "refusals": _refusals(short.refusals)}


def _setting(
    *, snapshot: Path | None, scenario: Path | None, unbind: Any, unbind_order: Any, prices: Path | None, volcano: bool,
    scheduler_config: Path | None, feature_gates: str, kubernetes_version: str, volcano_config: Path | None,
    plugins: list[str] | None, controllers: list[str] | None,
) -> "Setting":  # fmt: skip
    """The cluster of a question, from the options of the command."""
    from seatrial.capacity import Setting
    from seatrial.scenario import SimulationOptions
    from seatrial.scenario.engine import load_controllers
    from seatrial.scenario.spec import read_scenario, scenario_alone, schedulers_of, with_volcano
    from seatrial.volcano.config import read_conf

    if snapshot is None and scenario is None:
        raise ConfigError("", "--snapshot", "expected a cluster: --snapshot FILE, --scenario FILE, or both")
    cluster = read_cluster(snapshot, unbind, unbind_order, prices=prices)
    load_controllers(controllers or ())
    document = None if scenario is None else read_scenario(scenario)
    if document is None and schedulers_of(cluster) != schedulers_of(()):
        document = scenario_alone("snapshot", cluster)
    if volcano:
        document = with_volcano(document or scenario_alone("snapshot", cluster))
    conf = read_conf(volcano_config)
    version = chosen_version(kubernetes_version, cluster)
    configuration, classes = read_scheduler(scheduler_config, feature_gates, plugins or [], version)
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
