"""The output of a run on a terminal: one progress line while it runs, a summary at the end."""

import sys
import time
from typing import TYPE_CHECKING, Any

from seatrial.cli.terminal.volcano import jobs_lines, jobs_summary, waiting_count

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from seatrial.results import Group
    from seatrial.scenario import ScenarioRun

REFRESH = 0.1
"""Seconds between two updates of the line."""
GROUPS, NAMES = 5, 3
"""Groups of pending pods that the summary shows, and names in each."""


class Progress:
    """The progress line; silent where the output is no terminal."""

    def __init__(self, *, quiet: bool) -> None:
        self._live = None if quiet else _live_on_terminal()
        self._start = self._last = time.monotonic()

    def __enter__(self) -> "Progress":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the line."""
        if self._live is not None:
            self._live.stop()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def tick(self, run: "ScenarioRun") -> None:
        """Update the line, if it is due."""
        if self._live is None:
            return
        now = time.monotonic()
        if now - self._last >= REFRESH:
            self._last = now
            self._live.update(self._line(run))

    def _line(self, run: "ScenarioRun") -> "Text":
        from rich.text import Text

        status, timeline = run.status, run.timeline
        pods = timeline.pods
        rate = pods.bound / max(self.seconds, 0.001)
        step = "–" if status.major is None else str(status.major)
        line = Text(f"step {step}", style="bold")
        line.append(f"  {pods.bound:,} bound", style="green")
        line.append(f"  {pods.pending:,} pending", style="yellow" if pods.pending else "dim")
        line.append(f"  {timeline.attempts:,} attempts  {rate:,.0f} pods/s", style="dim")
        return line


def _live_on_terminal() -> "Live | None":
    from rich.console import Console
    from rich.live import Live

    console = Console(file=sys.stderr)
    return Live(console=console, transient=True) if console.is_terminal else None


def summary_of(run: "ScenarioRun", seconds: float) -> dict[str, Any]:
    """The run in numbers."""
    status, timeline = run.status, run.timeline
    pods = timeline.pods
    ended = pods.ended()
    jobs = jobs_summary(run)
    return {
        "scenario": run.document["metadata"]["name"],
        "phase": status.phase,
        "message": status.message,
        "reason": status.reason,
        "steps": len(status.pages),
        "lastStep": status.major,
        "virtualSeconds": (run.clock.now() - run.started_at) / 1_000_000,
        "pods": {
            "created": pods.created,
            "scheduled": pods.scheduled,
            "preempted": pods.preempted,
            "deleted": pods.deleted,
            "running": pods.bound - ended,
            "ended": ended,
            "pending": pods.pending,
        },
        "pending": [{"reason": group.reason, "pods": list(group.pods)} for group in pending_groups(run)],
        **({"jobs": jobs} if jobs is not None else {}),
        "attempts": timeline.attempts,
        "operations": timeline.operations,
        "seconds": round(seconds, 3),
        "podsPerSecond": round(pods.scheduled / seconds, 1) if seconds else 0.0,
    }


def pending_groups(run: "ScenarioRun") -> "list[Group]":
    """The pods without a node, by reason."""
    from seatrial.results import groups_of, waiting_document

    waiting = (history.latest.document() for history in run.timeline.pods if history.is_pending)
    return groups_of(waiting_document(pod) for pod in waiting)


def print_summary(summary: dict[str, Any], files: list[str], warnings: list[str]) -> None:
    """The summary for people."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    pods, jobs = summary["pods"], summary.get("jobs")
    # Volcano creates no pods for a job that it does not let in.
    pending = f"{pods['pending']:,} pending" if pods["pending"] or not waiting_count(jobs) else "more pods to come"
    colour = {"Succeeded": "green", "Paused": "yellow"}.get(summary["phase"], "red")
    console.print(
        Text.assemble(
            (summary["scenario"], "bold"), ": ", (summary["phase"], colour), f" ({summary['reason'] or 'no message'})"
        )
    )
    lines = [
        *_workload_lines(summary.get("workloads")),
        ("steps", f"{summary['steps']}" + (f", the last is {summary['lastStep']}" if summary["steps"] else "")),
        ("time", f"{_duration(summary['virtualSeconds'])} in the cluster, {summary['seconds']:.1f} s here"),
        ("pods", f"{pods['created']:,} created, {pods['scheduled']:,} scheduled, {pods['preempted']:,} preempted, "
                 f"{pods['deleted']:,} gone"),
        ("at the end", f"{pods['running']:,} on nodes, {pods['ended']:,} ended, {pending}"),
        *jobs_lines(jobs),
        ("attempts", f"{summary['attempts']:,} ({summary['podsPerSecond']:,.0f} pods/s)"),
        *_pending_lines(summary),
        *(("written", file) for file in files),
        *(("note", warning) for warning in warnings),
    ]  # fmt: skip
    for name, text in lines:
        console.print(Text.assemble((f"  {name:<11}", "dim"), text))


def _workload_lines(workloads: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Whether the workloads of a snapshot are well, which `Succeeded` does not say."""
    if workloads is None:
        return []
    missing = workloads["notReady"]
    if not missing:
        return [("workloads", f"all of {workloads['total']:,} ready")]
    lines = [("workloads", f"{len(missing):,} of {workloads['total']:,} not ready")]
    for each in missing[:GROUPS]:
        why = f": {each['why']}" if each["why"] else ""
        lines.append(("", f"{each['workload']} has {each['ready']} of {each['wanted']} ready{why}"))
    return lines + ([("", f"… and {len(missing) - GROUPS:,} more")] if len(missing) > GROUPS else [])


def _pending_lines(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The largest groups of pending pods, each with its reason."""
    groups = summary["pending"]
    lines = []
    for group in groups[:GROUPS]:
        names, more = ", ".join(group["pods"][:NAMES]), len(group["pods"]) - NAMES
        named = f"{names} and {more:,} more" if more > 0 else names
        lines.append(("pending", f"{len(group['pods']):,}: {group['reason']} ({named})"))
    rest = sum(len(group["pods"]) for group in groups[GROUPS:])
    if rest:
        lines.append(("pending", f"{rest:,} for {len(groups) - GROUPS} other reasons"))
    return lines + ([("", "`seatrial explain RUN` lists them all")] if lines else [])


def _duration(seconds: float) -> str:
    if not seconds:
        return "no time passes"
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours} h {rest // 60} min {rest % 60} s" if hours else f"{rest // 60} min {rest % 60} s"
