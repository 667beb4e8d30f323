"""`seatrial explain`: explains the placement of pods from the timeline of a run."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.options.run_input import RunArgument, ServerOption, load_run
from seatrial.words import counted

if TYPE_CHECKING:
    from rich.console import Console

    from seatrial.results import Explanation, Run
    from seatrial.timeline import Attempt

MOST_PODS = 20
"""Pods of a glob that are explained, each in one sentence."""
MOST_SCORED = 5
"""Nodes whose scores are shown without --all."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(explain)


def explain(
    run: RunArgument,
    pod: Annotated[
        str | None,
        typer.Argument(
            help="A pod (namespace/name, a name in default, or a glob), a job or PodGroup of Volcano (job/NAME), "
            "queue/NAME, or queues; without one, the waiting jobs and pending pods are listed by reason.",
            show_default=False,
        ),
    ] = None,
    attempt: Annotated[int, typer.Option(min=0, help="Which attempt, from 1; by default the last one.")] = 0,
    every: Annotated[bool, typer.Option("--all", help="Show every node, not the most telling ones.")] = False,
    server: ServerOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Say why pods, jobs and queues are where they are, and what every plugin said."""
    from seatrial.results import explain as explain_pod
    from seatrial.results import find_pods

    with load_run(run, server) as loaded:
        if pod is None:
            _list_waiting(loaded, json=json)
            return
        if _explain_volcano(loaded, pod, json=json):
            return
        found = find_pods(loaded, pod)
        if len(found) > 1:
            _list(loaded, found, json=json)
            return
        _explain_one(explain_pod(loaded, found[0]), attempt, every=every, json=json)


def _explain_volcano(run: "Run", name: str, *, json: bool) -> bool:
    """Explain a queue, or the jobs of a name that no pod has; whether there were any."""
    from seatrial.cli.terminal.volcano import show_job, show_queue, show_queues
    from seatrial.model.documents import encode
    from seatrial.model.errors import NotFound
    from seatrial.results import find_pods
    from seatrial.results.volcano import KINDS, explain_job, explain_queue, find_jobs, queue_tree

    kind, _, rest = name.partition("/")
    if name == "queues" and (tree := queue_tree(run)):
        states = [{"queue": moment.queue, "depth": depth, **moment.state} for depth, moment in tree]
        typer.echo(encode(states).decode()) if json else show_queues(run)
        return True
    if kind == "queue" and rest:
        queue = explain_queue(run, rest)
        typer.echo(encode(queue.document()).decode()) if json else show_queue(queue)
        return True
    try:
        if kind not in KINDS or not rest:
            find_pods(run, name)
            return False
    except NotFound:
        pass
    try:
        answers = [explain_job(job) for job in find_jobs(run, name)]
    except NotFound:
        if kind == "podgroup":
            raise
        return False
    if json:
        typer.echo(encode([answer.document() for answer in answers]).decode())
    elif len(answers) == 1:
        show_job(answers[0])
    else:
        for answer in answers:
            typer.echo(answer.sentence)
    return True


def _list_waiting(run: "Run", *, json: bool) -> None:
    from seatrial.cli.terminal.volcano import list_members, list_waiting_jobs
    from seatrial.model.documents import encode
    from seatrial.results import waiting_groups
    from seatrial.results.volcano import job_groups

    groups = waiting_groups(run)
    if json:
        jobs = [{"reason": group.reason, "jobs": group.pods} for group in job_groups(run)]
        typer.echo(encode([*jobs, *({"reason": group.reason, "pods": group.pods} for group in groups)]).decode())
        return
    if not list_waiting_jobs(run) and not groups:
        typer.echo("No pod is pending. `seatrial explain RUN POD` explains a pod that has a node.")
    for group in groups:
        list_members(f"{len(group.pods)} pending: {group.reason}", group.pods)


def _list(run: "Run", pods: list[str], *, json: bool) -> None:
    from seatrial.model.documents import encode
    from seatrial.results import explain as explain_pod

    shown = pods if json else pods[:MOST_PODS]
    answers = [explain_pod(run, name) for name in shown]
    if json:
        typer.echo(encode([{"pod": answer.pod, "sentence": answer.sentence} for answer in answers]).decode())
        return
    for answer in answers:
        typer.echo(answer.sentence)
    if len(pods) > len(shown):
        typer.echo(f"… and {counted(len(pods) - len(shown), 'more pod')} (--json has all)")


def _explain_one(answer: "Explanation", attempt: int, *, every: bool, json: bool) -> None:
    from seatrial.model.errors import ConfigError

    total = len(answer.attempts)
    if attempt > total:
        raise ConfigError("", "--attempt", f"expected 1 to {total}, got {attempt}" if total else answer.sentence)
    chosen = answer.attempts[attempt - 1] if answer.attempts else None
    if json:
        import msgspec

        tried = chosen.document() if chosen is not None else None
        typer.echo(msgspec.json.encode({"pod": answer.pod, "sentence": answer.sentence, "attempt": tried}).decode())
        return
    typer.echo(answer.sentence)
    if chosen is not None:
        _show(chosen, attempt or total, total, every=every)


def _show(attempt: "Attempt", number: int, total: int, *, every: bool) -> None:
    from seatrial.cli.terminal.tables import answer_console

    console = answer_console(markup=False)
    step = f"{attempt.major}.{attempt.minor}"
    console.print(f"\nattempt {number} of {total}, step {step}: {attempt.outcome}", style="bold")
    if attempt.victims:
        console.print(f"victims: {', '.join(attempt.victims)}")
    if attempt.cells is None:
        console.print("the nodes of this attempt are not in this result (--record full keeps them)", style="dim")
        return
    ranked = sorted(attempt.score, key=lambda node: (-attempt.total.get(node, 0), node))
    scored = [node for node in ranked if attempt.score[node]]
    _scores(console, attempt, scored if every else scored[:MOST_SCORED])
    if every:
        _every_verdict(console, attempt)
    else:
        if len(scored) > MOST_SCORED:
            console.print(f"and {counted(len(scored) - MOST_SCORED, 'node')} with lower or equal totals", style="dim")
        _verdicts(console, attempt, passed=len(ranked) if not scored else 0)
        if len(attempt.nodes) > 1:
            console.print(f"--all shows each of the {len(attempt.nodes)} nodes", style="dim")


def _scores(console: "Console", attempt: "Attempt", nodes: list[str]) -> None:
    from rich.table import Table

    from seatrial.results.comparison import common_suffix

    if not nodes:
        return
    suffix = common_suffix(nodes)
    title = f"scores (names of nodes without {suffix})" if suffix else "scores"
    table = Table("node", "plugin", title=title, title_justify="left")
    for name in ("raw", "normalised", "weight", "final"):
        table.add_column(name, justify="right")
    for node in nodes:
        chosen, short = node == attempt.node, node.removesuffix(suffix)
        for plugin, score in attempt.score[node].items():
            weight = "–" if score.weight is None else str(score.weight)
            table.add_row(short, plugin, str(score.raw), str(score.normalized), weight, str(score.final))
        total = str(attempt.total.get(node, ""))
        table.add_row(short, "total", "", "", "", total, style="bold green" if chosen else "bold", end_section=True)
    console.print(table)


def _verdicts(console: "Console", attempt: "Attempt", passed: int) -> None:
    """Nodes by verdict: each group with its size and one node of it, so that no verdict is left out."""
    from rich.table import Table

    cells = attempt.cells
    assert cells is not None
    verdicts: list[int] = cells.verdicts.tolist()
    counts = Counter(verdicts)
    examples: dict[int, str] = {}
    for name, verdict in zip(cells.nodes, verdicts, strict=True):
        examples.setdefault(verdict, name)
    rejected = sorted((verdict for verdict in counts if verdict), key=lambda verdict: (-counts[verdict], verdict))
    if passed:
        console.print(f"passed the filters: {passed} (for example {cells.feasible[0]})")
    if not rejected:
        return
    table = Table("nodes", "plugin", "verdict", "for example", title="rejected", title_justify="left")
    for verdict in rejected:
        plugin, _, *reasons = cells.said[verdict - 1]
        table.add_row(str(counts[verdict]), plugin, ", ".join(reasons), examples[verdict])
    console.print(table)


def _every_verdict(console: "Console", attempt: "Attempt") -> None:
    from rich.table import Table

    table = Table("node", "plugin", "verdict", title="filters", title_justify="left")
    for node in attempt.nodes:
        for plugin, verdict in attempt.filter[node].items():
            table.add_row(node, plugin, verdict, style="" if verdict == "passed" else "red")
        table.add_section()
    console.print(table)
