"""`seatrial bench scheduler`: pods per CPU-second on upstream's workloads, the ratio to upstream, and memory.

Every figure is taken in a process of its own, so that none depends on what was measured before it.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from seatrial.bench.figures import Figure, all_met
from seatrial.bench.scale import Scale
from seatrial.model.errors import ConfigError
from seatrial.scheduler.versions import DEFAULT, find_version

if TYPE_CHECKING:
    from seatrial.bench.workload_run import Timing
    from seatrial.bench.workloads import Workload

AGAINST = "against"
MEMORY = "memory"
NODES, BOUND_PODS = 5_000, 50_000
T = TypeVar("T")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("scheduler")(bench_scheduler)


def bench_scheduler(
    workload: Annotated[
        list[str] | None,
        typer.Option(help="Only this one (repeatable); `memory` is the memory figure."),
    ] = None,
    scale: Scale = 1.0,
    against: Annotated[
        Path | None, typer.Option(help="A built schedoracle, to compare with.", exists=True, dir_okay=False)
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="Also time the Events that are written of each pod.")
    ] = False,
    kubernetes_version: Annotated[str, typer.Option(help="Whose kube-scheduler is measured.")] = DEFAULT.minor,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure the scheduler on workloads like scheduler_perf's.

    Timed are pop, decision, assume and the binding written to the store, in CPU-seconds of one core; the default
    profile, no watchers, decisions are not recorded and Events not reported.
    """
    figures: list[Figure] = []
    version = find_version(kubernetes_version).minor
    for figure in _figures(frozenset(workload or ()), scale, against, (events, version)):
        figures.append(figure)
        if not as_json:
            typer.echo(_line(figure) if len(figures) > 1 else f"{_HEAD}\n{_line(figure)}")
    if as_json:
        typer.echo(json.dumps([_document(figure) for figure in figures], indent=2))
    if not all_met(figures):
        raise typer.Exit(1)


def _figures(names: frozenset[str], scale: float, against: Path | None, how: tuple[bool, str]) -> Iterator[Figure]:
    from seatrial.bench.oracle import upstream_rate
    from seatrial.bench.scheduler_memory import added_megabytes
    from seatrial.bench.workloads import shipped_workloads

    shipped, compared = shipped_workloads(), shipped_workloads(AGAINST)
    if unknown := names - {*(one.name for one in (*shipped, *compared)), MEMORY}:
        known = ", ".join([*(one.name for one in (*shipped, *compared)), MEMORY])
        raise ConfigError("--workload", min(unknown), f"expected one of {known}")
    for one in shipped:
        if not names or one.name in names:
            timing = _apart(measure, one.scaled(scale), *how)
            yield Figure(one.name, timing.rate, "pods/s", one.must, one.goal, more_is_better=True)
    if not names or MEMORY in names:
        size = _apart(added_megabytes, round(NODES * scale), round(BOUND_PODS * scale))
        yield Figure(f"memory added, {round(BOUND_PODS * scale):,} bound pods", size, "MB", 200, 150)
    for one in compared:
        if (against is None or names) and one.name not in names:
            continue
        scaled = one.scaled(scale)
        ours = _apart(measure, scaled, *how).rate
        if against is None:
            yield Figure(one.name, ours, "pods/s", more_is_better=True)
            continue
        theirs = upstream_rate(against, scaled)
        name = f"{one.name}: {ours:,.0f} against {theirs:,.0f} pods/s"
        yield Figure(name, ours / theirs, "times", one.must, one.goal, more_is_better=True)


def measure(workload: "Workload", events: bool = False, version: str = DEFAULT.minor) -> "Timing":
    """One workload on a cluster of its own, scheduled as a version does it."""
    from seatrial.bench.workload_run import WorkloadRun

    return WorkloadRun(find_version(version), events=events).run(workload)


def _apart(work: Callable[..., T], *given: Any) -> T:
    """The answer of some work, done in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


_HEAD = f"{'workload':<48}{'measured':>14}{'must':>10}{'goal':>10}  verdict"


def _line(figure: Figure) -> str:
    limits = "".join(f"{'' if limit is None else format(limit, ',g'):>10}" for limit in (figure.must, figure.goal))
    decimals = 0 if figure.value >= 100 else 1
    return f"{figure.name:<48}{f'{figure.value:,.{decimals}f} {figure.unit}':>14}{limits}  {figure.verdict}"


def _document(figure: Figure) -> dict[str, Any]:
    return {
        "workload": figure.name,
        "measured": round(figure.value, 1),
        "unit": figure.unit,
        "must": figure.must,
        "goal": figure.goal,
        "verdict": figure.verdict,
    }
