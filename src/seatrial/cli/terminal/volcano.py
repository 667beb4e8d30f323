"""Volcano's jobs and queues on the terminal."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from seatrial.words import counted

if TYPE_CHECKING:
    from seatrial.results import Run
    from seatrial.results.volcano import JobExplanation, QueueExplanation
    from seatrial.scenario import ScenarioRun

MOST_MEMBERS = 20
GROUPS, NAMES = 5, 3


def jobs_summary(run: "ScenarioRun") -> dict[str, Any] | None:
    """The jobs of a run that is over in numbers, and those that wait by reason; None without Volcano."""
    volcano = run.volcano
    if volcano is None:
        return None
    from seatrial.volcano.apis import POD_GROUP, kind_of

    groups_of_pods = (stored.document() for stored in run.store.list(kind_of(run.store, POD_GROUP)))
    phases = Counter((group.get("status") or {}).get("phase") or "Pending" for group in groups_of_pods)
    waiting: dict[str, list[str]] = {}
    for job in volcano.waiting:
        if not job.job.has_started:
            waiting.setdefault(job.reason, []).append(job.title)
    groups = [{"reason": reason, "jobs": titles} for reason, titles in waiting.items()]
    groups.sort(key=lambda group: (-len(group["jobs"]), group["reason"]))
    return {"phases": dict(sorted(phases.items())), "waiting": groups}


def waiting_count(jobs: dict[str, Any] | None) -> int:
    """How many jobs wait."""
    return sum(len(group["jobs"]) for group in jobs["waiting"]) if jobs else 0


def jobs_lines(jobs: dict[str, Any] | None) -> list[tuple[str, str]]:
    """The lines of a summary about jobs."""
    if not jobs or not jobs["phases"]:
        return []
    phases = ", ".join(f"{count:,} {phase}" for phase, count in jobs["phases"].items())
    waiting = waiting_count(jobs)
    lines = [("jobs", f"{sum(jobs['phases'].values()):,}: {phases}" + (f"; {waiting:,} waiting" if waiting else ""))]
    for group in jobs["waiting"][:GROUPS]:
        more = len(group["jobs"]) - NAMES
        named = ", ".join(group["jobs"][:NAMES]) + (f" and {more:,} more" if more > 0 else "")
        lines.append(("waiting", f"{counted(len(group['jobs']), 'job')}: {group['reason']} ({named})"))
    rest = sum(len(group["jobs"]) for group in jobs["waiting"][GROUPS:])
    if rest:
        lines.append(("waiting", f"{counted(rest, 'job')} for {len(jobs['waiting']) - GROUPS} other reasons"))
    return lines + ([("", "`seatrial explain RUN` lists them all")] if waiting else [])


def list_waiting_jobs(run: "Run") -> bool:
    """Print the waiting jobs by reason; whether there are any."""
    from seatrial.results.volcano import job_groups

    groups = job_groups(run)
    for group in groups:
        list_members(f"{counted(len(group.pods), 'job')} waiting: {group.reason}", group.pods)
    return bool(groups)


def list_members(title: str, names: Sequence[str]) -> None:
    """Print a group and its first members."""
    typer.echo(title)
    for name in names[:MOST_MEMBERS]:
        typer.echo(f"  {name}")
    if len(names) > MOST_MEMBERS:
        typer.echo(f"  … and {len(names) - MOST_MEMBERS} more (--json lists all)")


def show_job(answer: "JobExplanation") -> None:
    """One job: the sentence, what was said, what it needs, and its history."""
    from rich.table import Table

    from seatrial.cli.terminal.tables import answer_console

    console = answer_console(markup=False)
    typer.echo(answer.sentence)
    if answer.said:
        table = Table("action", "plugin", "said", title="\nthe last session", title_justify="left")
        for action, plugin, text in answer.said:
            table.add_row(action, plugin or "–", text)
        console.print(table)
    if answer.needs:
        together = ", all of it together" if len(answer.needs) > 1 else ""
        typer.echo(f"\nwhat would let it {'in' if answer.job.let_in_s is None else 'start'}{together}")
        for each in answer.needs:
            typer.echo(f"  {each}")
    if len(answer.history) > 1:
        typer.echo("\nhow it came there (seconds since its creation)")
        for seconds, phase, reason in answer.history:
            typer.echo(f"  {seconds:>6.0f} s  {phase}{f': {reason}' if reason else ''}")


def show_queue(answer: "QueueExplanation") -> None:
    """One queue: the sentence, its amounts, and the jobs that wait."""
    from rich.table import Table

    from seatrial.cli.terminal.tables import answer_console
    from seatrial.results.volcano import AMOUNTS

    console = answer_console(markup=False)
    typer.echo(answer.sentence)
    table = Table("resource", *AMOUNTS, title="\nthe last session", title_justify="left")
    for row in answer.rows():
        table.add_row(row[0], *(text or "–" for text in row[1:]))
    console.print(table)
    for group in answer.waiting:
        more = len(group.pods) - NAMES
        shown = ", ".join(group.pods[:NAMES]) + (f" and {more:,} more" if more > 0 else "")
        typer.echo(f"{counted(len(group.pods), 'job')} waiting: {group.reason} ({shown})")


def show_queues(run: "Run") -> None:
    """All queues as a tree: what they deserve, hold and keep free, and how many of their jobs wait."""
    from rich.table import Table

    from seatrial.cli.terminal.tables import answer_console
    from seatrial.results.volcano import listed_amounts, queue_tree

    table = Table("queue", "deserved", "allocated", "inqueue", "share", "overused", "jobs")
    for depth, moment in queue_tree(run):
        amounts = (listed_amounts(moment.amounts(what)) or "–" for what in ("deserved", "allocated", "inqueue"))
        jobs = ", ".join(f"{count} {phase}" for phase, count in moment.state["jobs"].items())
        overused = "yes" if moment.is_overused else ""
        table.add_row("  " * depth + moment.queue, *amounts, f"{moment.share:.2f}", overused, jobs)
    answer_console(markup=False).print(table)
