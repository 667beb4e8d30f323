"""`seatrial what-if`: what would happen to a cluster, by workload."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from seatrial.cli.options.snapshot import read_cluster
from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.model.documents import Document
    from seatrial.store.snapshots import Snapshot
    from seatrial.whatif import Answer, NodeChoice

SHOWN = 20
"""Workloads and held pods that the terminal lists."""

Cluster = Annotated[Path, typer.Option("--snapshot", help="The cluster: a dump of `kubectl get -o yaml`.")]
Names = Annotated[list[str] | None, typer.Argument(metavar="NODE", help="Names of nodes.", show_default=False)]
Selector = Annotated[str, typer.Option("--selector", "-l", help="Nodes by labels, as kubectl's -l.")]
Pool = Annotated[str, typer.Option(help="Nodes by pool (the usual labels of node groups).")]
PoolLabel = Annotated[str, typer.Option(help="The label that names a node's pool.")]
Force = Annotated[bool, typer.Option("--force", help="Evict pods without a controller, too.")]
EmptyDir = Annotated[bool, typer.Option("--delete-emptydir-data", help="Evict pods with an emptyDir, too.")]
Grace = Annotated[int, typer.Option(help="Seconds that pods have to end; negative: each as it says.")]
Timeout = Annotated[str, typer.Option(help="How long the drain of one node may take; 0s: for ever.")]
PodStart = Annotated[str, typer.Option(help="How long a pod takes from its node to ready.")]
SchedulerConfig = Annotated[Path | None, typer.Option(help="A KubeSchedulerConfiguration.")]
Print = Annotated[bool, typer.Option("--print", help="Print the Scenario instead of playing it.")]
Out = Annotated[Path | None, typer.Option(help="Folder for result.json and timeline.parquet.")]
Output = Annotated[Literal["text", "json"], typer.Option("--output", "-o", help="What to print.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; the exit code answers.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="rich",
        help="What would happen to my cluster: drain, outage, upgrade, nodes in and out; by workload.",
    )
    for command in (drain, outage, upgrade, add, remove, scale):
        group.command()(command)
    app.add_typer(group, name="what-if")


def drain(
    snapshot: Cluster,
    nodes: Names = None,
    selector: Selector = "",
    pool: Pool = "",
    pool_label: PoolLabel = "",
    force: Force = False,
    delete_emptydir_data: EmptyDir = False,
    grace_period: Grace = -1,
    timeout: Timeout = "0s",
    pod_start: PodStart = "10s",
    scheduler_config: SchedulerConfig = None,
    print_scenario: Print = False,
    out: Out = None,
    output: Output = "text",
    quiet: Quiet = False,
) -> None:
    """Drain nodes as `kubectl drain --ignore-daemonsets` does: what is evicted, what holds, what comes back."""
    from seatrial.whatif import drain as ask

    options = _drained(force, delete_emptydir_data, grace_period, timeout)
    choice = _choice(nodes, selector, pool, pool_label)
    question = _about(
        snapshot, choice, lambda found, count: ask(found, count, options, _span("--pod-start", pod_start))
    )
    _answer(question, scheduler_config, print_scenario, out, output, quiet)


def remove(
    snapshot: Cluster,
    nodes: Names = None,
    selector: Selector = "",
    pool: Pool = "",
    pool_label: PoolLabel = "",
    force: Force = False,
    delete_emptydir_data: EmptyDir = False,
    grace_period: Grace = -1,
    timeout: Timeout = "0s",
    pod_start: PodStart = "10s",
    scheduler_config: SchedulerConfig = None,
    print_scenario: Print = False,
    out: Out = None,
    output: Output = "text",
    quiet: Quiet = False,
) -> None:
    """Drain nodes one after the other and delete each, as an autoscaler takes nodes away."""
    from seatrial.whatif import remove as ask

    options = _drained(force, delete_emptydir_data, grace_period, timeout)
    choice = _choice(nodes, selector, pool, pool_label)
    question = _about(
        snapshot, choice, lambda found, count: ask(found, count, options, _span("--pod-start", pod_start))
    )
    _answer(question, scheduler_config, print_scenario, out, output, quiet)


def outage(
    snapshot: Cluster,
    nodes: Names = None,
    selector: Selector = "",
    pool: Pool = "",
    pool_label: PoolLabel = "",
    vanish: Annotated[
        bool, typer.Option("--vanish", help="The nodes are deleted with their machines; else they stop answering.")
    ] = False,
    pod_start: PodStart = "10s",
    scheduler_config: SchedulerConfig = None,
    print_scenario: Print = False,
    out: Out = None,
    output: Output = "text",
    quiet: Quiet = False,
) -> None:
    """Let nodes fail at once: taints evict their pods when their tolerations run out, volumes stay behind."""
    from seatrial.whatif import outage as ask

    choice = _choice(nodes, selector, pool, pool_label)
    question = _about(snapshot, choice, lambda found, _: ask(found, _span("--pod-start", pod_start), vanish=vanish))
    _answer(question, scheduler_config, print_scenario, out, output, quiet)


def upgrade(
    snapshot: Cluster,
    nodes: Names = None,
    selector: Selector = "",
    pool: Pool = "",
    pool_label: PoolLabel = "",
    surge: Annotated[int, typer.Option(min=0, help="New nodes that are there before old ones go.")] = 1,
    unavailable: Annotated[int, typer.Option(min=0, help="Old nodes that may go before their new ones come.")] = 0,
    node_start: Annotated[str, typer.Option(help="How long a new node takes until it is ready.")] = "1m",
    version: Annotated[str, typer.Option(help="The kubelet version of the new nodes.")] = "",
    force: Force = True,
    delete_emptydir_data: EmptyDir = True,
    grace_period: Grace = -1,
    timeout: Timeout = "1h",
    pod_start: PodStart = "10s",
    scheduler_config: SchedulerConfig = None,
    print_scenario: Print = False,
    out: Out = None,
    output: Output = "text",
    quiet: Quiet = False,
) -> None:
    """Replace nodes pool by pool, as managed node groups do: new node, drain, delete, next."""
    from seatrial.results import pool_of
    from seatrial.whatif import upgrade as ask

    options = _drained(force, delete_emptydir_data, grace_period, timeout)
    choice = _choice(nodes, selector, pool, pool_label)

    def about(found: "list[Document]", _: int) -> "Document":
        pools: dict[str, list[Document]] = {}
        for node in found:
            pools.setdefault(pool_of(node["metadata"].get("labels") or {}, pool_label), []).append(node)
        return ask(
            pools, options, _span("--pod-start", pod_start), surge=surge, unavailable=unavailable,
            node_start=_span("--node-start", node_start), version=version,
        )  # fmt: skip

    _answer(_about(snapshot, choice, about), scheduler_config, print_scenario, out, output, quiet)


def add(
    snapshot: Cluster,
    pool: Annotated[str, typer.Option(help="Add nodes like the first one of this pool.")] = "",
    node: Annotated[Path | None, typer.Option(help="A file with a Node to add copies of.")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many.")] = 1,
    pool_label: PoolLabel = "",
    pod_start: PodStart = "10s",
    scheduler_config: SchedulerConfig = None,
    print_scenario: Print = False,
    out: Out = None,
    output: Output = "text",
    quiet: Quiet = False,
) -> None:
    """Add nodes: which pending pods get a place."""
    from seatrial.capacity import read_node
    from seatrial.whatif import add_nodes, find_nodes, nodes_in

    if (node is None) == (not pool):
        raise ConfigError("", "--node", "expected either --node FILE or --pool POOL, whose first node is copied")
    cluster = read_cluster(snapshot, "none", "created", quiet=True)
    here = nodes_in(cluster, str(snapshot))
    template = read_node(node) if node is not None else find_nodes(here, _choice(None, "", pool, pool_label))[0]
    question = cluster, add_nodes(template, count, _span("--pod-start", pod_start))
    _answer(question, scheduler_config, print_scenario, out, output, quiet)


def scale(
    workload: Annotated[str, typer.Argument(help="deployment/NAME, statefulset/NAME …", show_default=False)],
    snapshot: Cluster,
    replicas: Annotated[int, typer.Option(min=0, help="How many there are to be.")],
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="Its namespace.")] = "default",
    pod_start: PodStart = "10s",
    scheduler_config: SchedulerConfig = None,
    print_scenario: Print = False,
    out: Out = None,
    output: Output = "text",
    quiet: Quiet = False,
) -> None:
    """Scale a workload: do its pods find nodes?"""
    from seatrial.whatif import find_workload
    from seatrial.whatif import scale as ask

    cluster = read_cluster(snapshot, "none", "created", quiet=True)
    question = cluster, ask(find_workload(cluster, workload, namespace), replicas, _span("--pod-start", pod_start))
    _answer(question, scheduler_config, print_scenario, out, output, quiet)


def _choice(names: list[str] | None, selector: str, pool: str, label: str) -> "NodeChoice":
    from seatrial.whatif import NodeChoice

    return NodeChoice(names or (), selector, pool, label)


def _span(option: str, text: str) -> str:
    from seatrial.model.durations import DurationError, parse_duration

    try:
        if parse_duration(text) >= 0:
            return text
    except DurationError:
        pass
    raise ConfigError("", option, f"expected a duration such as 30s or 5m, got {text!r}")


def _drained(force: bool, delete_emptydir_data: bool, grace_period: int, timeout: str) -> dict[str, Any]:
    timeout = _span("--timeout", timeout)
    return {
        "force": force, "delete_emptydir_data": delete_emptydir_data, "grace_period": grace_period, "timeout": timeout
    }  # fmt: skip


def _about(
    path: Path, choice: "NodeChoice", ask: "Callable[[list[Document], int], Document]"
) -> "tuple[Snapshot, Document]":
    """The cluster, and the scenario of a question about some of its nodes."""
    from seatrial.whatif import find_nodes, nodes_in

    cluster = read_cluster(path, "none", "created", quiet=True)
    nodes = nodes_in(cluster, str(path))
    return cluster, ask(find_nodes(nodes, choice), len(nodes))


def _answer(
    question: "tuple[Snapshot, Document]", config: Path | None, print_scenario: bool, out: Path | None,
    output: str, quiet: bool,
) -> None:  # fmt: skip
    """Play the scenario of a question, or print it; exit code 1 where a workload is not as ready as before."""
    from seatrial.api import run
    from seatrial.model.yaml_reader import dump
    from seatrial.whatif import answer_of

    cluster, scenario = question
    if print_scenario:
        typer.echo(dump(scenario), nl=False)
        return
    result = run(scenario, config, snapshot=cluster, drain=True, record="summary")
    if out is not None:
        result.save(out)
    answer = answer_of(result.run)
    if output == "json":
        import orjson

        typer.echo(orjson.dumps(answer.document(), option=orjson.OPT_INDENT_2).decode())
    elif not quiet:
        _print_answer(answer)
    if not answer.is_well:
        raise typer.Exit(1)


def _print_answer(answer: "Answer") -> None:
    from rich.console import Console
    from rich.markup import escape

    from seatrial.cli.terminal.tables import print_indented, print_table
    from seatrial.whatif import COLUMNS

    console = Console(highlight=False)
    for sentence in answer.sentences():
        console.print(f"[bold]{escape(sentence)}[/bold]", soft_wrap=True)
    for node, errors in answer.failed.items():
        for error in errors:
            print_indented(console, f"{escape(node)}: {escape(error)}")
    for hold in answer.holds[:SHOWN]:
        held = "for ever" if hold.seconds is None else f"for {hold.seconds:.0f} s"
        print_indented(console, f"{escape(hold.pod)} on {escape(hold.node)}: held {held} by {escape(hold.budget)}")
        if hold.seconds is None:
            print_indented(console, f"[dim]{escape(hold.why)}; {escape(hold.cure)}[/dim]", 4)
    if len(answer.holds) > SHOWN:
        print_indented(console, f"… and {len(answer.holds) - SHOWN} more holds (-o json lists them)")
    if not answer.changed:
        return
    rows = [answer.row(workload) for workload in answer.changed[:SHOWN]]
    console.print()
    print_table(console, COLUMNS[:-1], [[row[name] for name in COLUMNS[:-1]] for row in rows])
    if len(answer.changed) > SHOWN:
        console.print(f"… and {len(answer.changed) - SHOWN} more that changed (-o json lists them)")
    for row in rows:
        if row["why"]:
            print_indented(console, f"{escape(row['namespace'])}/{escape(row['name'])}: {escape(row['why'])}")
