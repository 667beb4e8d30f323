"""`seatrial explain`: explains the placement of a pod from the timeline of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seatrial.timeline import Attempt

ROWS = 40
"""Nodes shown without --all."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(explain)


def explain(
    result: Annotated[Path, typer.Argument(help="The folder of a run, or its result.json.", show_default=False)],
    pod: Annotated[str, typer.Argument(help="namespace/name, or a name in default.", show_default=False)],
    attempt: Annotated[int, typer.Option(min=0, help="Which attempt, from 1; by default the last one.")] = 0,
    every: Annotated[bool, typer.Option("--all", help="Show every node, not the most telling ones.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the attempt as JSON.")] = False,
) -> None:
    """Say why a pod is where it is, and what every plugin said about every node."""
    from seatrial.model.errors import ConfigError
    from seatrial.scenario import Result

    answer = Result.load(result).explain(pod)
    total = len(answer.attempts)
    if attempt > total:
        raise ConfigError("", "--attempt", f"expected 1 to {total}, got {attempt}" if total else answer.sentence)
    if not json:
        typer.echo(answer.sentence)
    chosen = answer.attempts[attempt - 1] if answer.attempts else None
    if json:
        import msgspec

        typer.echo(msgspec.json.encode({"pod": answer.pod, "sentence": answer.sentence, "attempt": chosen}).decode())
    elif chosen is not None:
        _show(chosen, attempt or total, total, every=every)


def _show(attempt: "Attempt", number: int, total: int, *, every: bool) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    step = f"{attempt.major}.{attempt.minor}"
    console.print(f"\nattempt {number} of {total}, step {step}: {attempt.outcome}", style="bold")
    if attempt.victims:
        console.print(f"victims: {', '.join(attempt.victims)}")
    if not attempt.nodes:
        console.print("the cells of this attempt were not kept (--record full keeps them)", style="dim")
        return
    ranked = sorted(attempt.score, key=lambda node: (-attempt.total.get(node, 0), node))
    rejected = [node for node in attempt.nodes if node not in attempt.score]
    shown = [*ranked, *rejected]
    left_out = 0
    if not every and len(shown) > ROWS:
        shown, left_out = [*ranked[: ROWS // 2], *rejected[: ROWS // 2]], len(shown)
    _scores(console, attempt, [node for node in shown if attempt.score.get(node)])
    _rejections(console, attempt, [node for node in shown if node in set(rejected)])
    if left_out:
        console.print(f"{len(shown)} of {left_out} nodes are shown; --all shows every one", style="dim")


def _scores(console: object, attempt: "Attempt", nodes: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    assert isinstance(console, Console)
    if not nodes:
        return
    table = Table("node", "plugin", title="scores", title_justify="left")
    for name in ("raw", "normalised", "weight", "final"):
        table.add_column(name, justify="right")
    for node in nodes:
        chosen = node == attempt.node
        for plugin, score in attempt.score[node].items():
            table.add_row(node, plugin, str(score.raw), str(score.normalized), str(score.weight), str(score.final))
        total = str(attempt.total.get(node, ""))
        table.add_row(node, "total", "", "", "", total, style="bold green" if chosen else "bold", end_section=True)
    console.print(table)


def _rejections(console: object, attempt: "Attempt", nodes: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    assert isinstance(console, Console)
    if not nodes:
        passed = [node for node in attempt.nodes if node not in attempt.score or not attempt.score[node]]
        if passed and attempt.feasible:
            console.print(f"passed the filters: {', '.join(passed[:ROWS])}")
        return
    table = Table("node", "plugin", "verdict", title="filters", title_justify="left")
    for node in nodes:
        for plugin, verdict in attempt.filter[node].items():
            table.add_row(node, plugin, verdict, style="" if verdict == "passed" else "red")
        table.add_section()
    console.print(table)
