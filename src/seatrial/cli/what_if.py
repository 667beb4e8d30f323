"""`seatrial what-if`: what would happen to a cluster, by workload."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from seatrial.cli.options.declared import CLUSTER, add_command, option
from seatrial.cli.options.scheduler import chosen_version
from seatrial.cli.options.snapshot import read_cluster
from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.api import Cluster
    from seatrial.whatif import Answer

SHOWN = 20
"""Workloads and held pods that the terminal lists."""


NODES = (
    option("nodes", Annotated[list[str] | None, typer.Argument(metavar="NODE", help="Names of nodes.")], None),
    option("selector", Annotated[str, typer.Option("--selector", "-l", help="Nodes by labels, as kubectl's -l.")], ""),
    option("pool", Annotated[str, typer.Option(help="Nodes by pool (the usual labels of node groups).")], ""),
    option("pool_label", Annotated[str, typer.Option(help="The label that names a node's pool.")], ""),
)
EVICTED = (
    option("force", Annotated[bool, typer.Option("--force", help="Evict pods without a controller, too.")], False),
    option(
        "delete_emptydir_data",
        Annotated[bool, typer.Option("--delete-emptydir-data", help="Evict pods with an emptyDir, too.")],
        False,
    ),
)
WAITS = (
    option("grace_period", Annotated[int, typer.Option(help="Seconds that pods have; negative: each as it says.")], -1),
)
NO_TIMEOUT, AN_HOUR = (
    option("timeout", Annotated[str, typer.Option(help="How long the drain of one node may take; 0s: for ever.")], span)
    for span in ("0s", "1h")
)
OUTAGE = (
    option(
        "vanish",
        Annotated[bool, typer.Option("--vanish", help="The nodes are deleted with their machines; else they stop.")],
        False,
    ),
)
UPGRADE = (
    option("surge", Annotated[int, typer.Option(min=0, help="New nodes that are there before old ones go.")], 1),
    option("unavailable", Annotated[int, typer.Option(min=0, help="Old nodes that may go before new ones come.")], 0),
    option("node_start", Annotated[str, typer.Option(help="How long a new node takes until it is ready.")], "1m"),
    option("version", Annotated[str, typer.Option(help="The kubelet version of the new nodes.")], ""),
)
ADD = (
    option("node", Annotated[Path | None, typer.Option(help="A file with a Node to add copies of.")], None),
    option("pool", Annotated[str, typer.Option(help="Add nodes like the first one of this pool.")], ""),
    option("pool_label", Annotated[str, typer.Option(help="The label that names a node's pool.")], ""),
    option("count", Annotated[int, typer.Option(min=1, help="How many.")], 1),
)
SCALE = (
    option("workload", Annotated[str, typer.Argument(help="deployment/NAME, statefulset/NAME …", show_default=False)]),
    option("replicas", Annotated[int, typer.Option(min=0, help="How many there are to be.")]),
    option("namespace", Annotated[str, typer.Option("--namespace", "-n", help="Its namespace.")], "default"),
)
POD_START = option(
    "pod_start", Annotated[str, typer.Option(help="How long a pod takes from its node to ready.")], "10s"
)
SHOWN_AS = (
    option(
        "print_scenario", Annotated[bool, typer.Option("--print", help="Print the Scenario; do not play it.")], False
    ),
    option("out", Annotated[Path | None, typer.Option(help="Folder for result.json and timeline.parquet.")], None),
    option("output", Annotated[Literal["text", "json"], typer.Option("--output", "-o", help="What to print.")], "text"),
    option(
        "quiet", Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; the exit code answers.")], False
    ),
)
QUESTIONS = {
    "drain": (
        "Drain nodes as `kubectl drain --ignore-daemonsets` does: what is evicted, what holds, what comes back.",
        (*NODES, *EVICTED, *WAITS, NO_TIMEOUT),
    ),
    "outage": (
        "Let nodes fail at once: taints evict their pods when their tolerations run out, volumes stay behind.",
        (*NODES, *OUTAGE),
    ),
    "upgrade": (
        "Replace nodes pool by pool, as managed node groups do: new node, drain with --force, delete, next.",
        (*NODES, *UPGRADE, *WAITS, AN_HOUR),
    ),
    "add": ("Add nodes: which pending pods get a place.", ADD),
    "remove": (
        "Drain nodes one after the other and delete each, as an autoscaler takes nodes away.",
        (*NODES, *EVICTED, *WAITS, NO_TIMEOUT),
    ),
    "scale": ("Scale a workload: do its pods find nodes?", SCALE),
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="rich",
        help="What would happen to my cluster: drain, outage, upgrade, nodes in and out; by workload.",
    )
    for question, (help, options) in QUESTIONS.items():
        add_command(group, question, (*options, POD_START, *CLUSTER, *SHOWN_AS), partial(_ask, question), help)
    app.add_typer(group, name="what-if")


def _ask(
    question: str, *, print_scenario: bool, out: Path | None, output: str, quiet: bool, **given: Any
) -> None:  # fmt: skip
    """Play the scenario of a question, or print it; exit code 1 where a workload is not as ready as before."""
    from seatrial.api import Result
    from seatrial.capacity import read_node
    from seatrial.model.yaml_reader import dump
    from seatrial.simulation import tune_collector
    from seatrial.whatif import NodeChoice

    asked = _cluster(quiet=quiet, **{each.name: given.pop(each.name) for each in CLUSTER})
    if "selector" in given:
        names = given.pop("nodes") or ()
        given["choice"] = NodeChoice(names, *(given.pop(name) for name in ("selector", "pool", "pool_label")))
    if given.get("node") is not None:
        given["node"] = read_node(given["node"])
    scenario = getattr(asked.questions, question)(**given)
    if print_scenario:
        typer.echo(dump(scenario), nl=False)
        return
    # The documents of a large snapshot are millions of objects, which the collector would scan again and again.
    tune_collector()
    answer = asked.ask(scenario)
    if out is not None:
        Result(answer.run).save(out)
    if output == "json":
        import orjson

        typer.echo(orjson.dumps(answer.document(), option=orjson.OPT_INDENT_2).decode())
    elif not quiet:
        _print_answer(answer)
    if not answer.is_well:
        raise typer.Exit(1)


def _cluster(
    *, snapshot: Path | None, scenario: Path | None, unbind: Any, unbind_order: Any, prices: Path | None, quiet: bool,
    kubernetes_version: str, **schedulers: Any,
) -> "Cluster":  # fmt: skip
    from seatrial.api import Cluster

    if snapshot is None and scenario is None:
        raise ConfigError("", "--snapshot", "expected a cluster: --snapshot FILE, --scenario FILE, or both")
    begun = read_cluster(snapshot, unbind, unbind_order, quiet=quiet, prices=prices, alone=scenario is None)
    schedulers["kubernetes_version"] = chosen_version(kubernetes_version, begun, quiet=quiet)
    if scenario is None:
        return Cluster(snapshot=begun, **schedulers)
    return Cluster.from_scenario(scenario, snapshot=begun, **schedulers)


def _print_answer(answer: "Answer") -> None:
    from rich.markup import escape

    from seatrial.cli.terminal.tables import answer_console, print_indented, print_table
    from seatrial.whatif import COLUMNS

    console = answer_console()
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
    cells = [[row[name] for name in COLUMNS[:-1]] for row in rows]
    print_table(console, COLUMNS[:-1], cells, "a wider terminal or -o json shows them")
    if len(answer.changed) > SHOWN:
        console.print(f"… and {len(answer.changed) - SHOWN} more that changed (-o json lists them)")
    for row in rows:
        if row["why"]:
            print_indented(console, f"{escape(row['namespace'])}/{escape(row['name'])}: {escape(row['why'])}")
