"""A run as the columns that the report page draws (`web/src/data.ts` names them).

The page computes most things itself, so it gets lifecycles of nodes and pods, timeline entries and, as far as
`CELLS` reaches, the matrix of each scheduling attempt. What is left out is said in the page.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import polars as pl

import seatrial
from seatrial.model.writers import is_operation
from seatrial.results import Run, headline
from seatrial.scenario.spec import Phase, dialect_of
from seatrial.timeline import Attempt, Cells
from seatrial.web.volcano import volcano

CELLS = 400_000
"""Visited nodes whose verdicts and scores go into the page."""
ATTEMPTS = 100_000
VERBS = ("create", "patch", "delete", "done", "bind", "unscheduled", "preempt")
SHOWN = frozenset({"create", "patch", "delete", "done", "unscheduled", "bound", "preempted"})
OPERATIONS = "operations"
CONTROLLERS = "controllers"
"""The lane of what a Scenario alone does not tell the writer of."""

Columns = dict[str, Any]


def payload(run: Run, pods_explained: Sequence[str] | None = None, most_cells: int = CELLS) -> Columns:
    """Everything the page knows of a run; with `pods_explained` the last attempts at these pods alone."""
    resources = run.resources
    shapes: dict[tuple[tuple[int, ...], int], int] = {}
    pods = _pods(run, resources, shapes)
    tried = run.attempts(most_cells=most_cells) if pods_explained is None else _last(run, pods_explained, most_cells)
    attempts, verdicts, left_out = _attempts(run, tried, most_cells)
    return {
        "name": run.name,
        "title": run.scenario_name,
        "phase": run.phase,
        "message": run.message,
        "version": run.version or seatrial.__version__,
        "resources": resources,
        "omitted": [*([f"This result lacks {run.lacks}."] if run.lacks else []), *left_out],
        "headline": headline(run),
        "steps": [
            {"label": str(step.major), "minors": step.minors, "time": step.time - run.steps[0].time}
            for step in run.steps
        ],
        "phases": _phases(run),
        "nodes": {
            "name": [node.name for node in run.nodes],
            "labels": [node.labels for node in run.nodes],
            "allocatable": [[node.allocatable.get(resource, 0) for node in run.nodes] for resource in resources],
            "from": [run.places[node.came] for node in run.nodes],
            "to": [_place(run, node.went) for node in run.nodes],
        },
        "pods": pods,
        "shapes": [{"requests": list(requests), "priority": priority} for requests, priority in shapes],
        **_entries(run),
        "verdicts": verdicts,
        "attempts": attempts,
        "volcano": volcano(run),
    }


def _phases(run: Run) -> tuple[str, str]:
    """What the first minor step of a step is called in the scenario's spelling, and each further one."""
    spec = msgspec.json.decode(run.header.spec, type=dict[str, msgspec.Raw]) if run.header.spec else {}
    dialect = dialect_of(dict.fromkeys(spec, True))
    return dialect.phase(Phase.OPERATING), dialect.phase(Phase.RUNNING)


def _pods(run: Run, resources: list[str], shapes: dict[tuple[tuple[int, ...], int], int]) -> Columns:
    rows = {node.name: i for i, node in enumerate(run.nodes)}
    columns: Columns = {
        name: []
        for name in (
            "key", "owner", "shape", "created", "bound", "node", "end", "preempted", "by", "attempts", "waited",
            "moved", "perNode",
        )
    }  # fmt: skip
    moved = _moved(run)
    for pod in run.pods:
        created, bound = run.places[pod.created], _place(run, pod.bound)
        shape = tuple(pod.requests.get(resource, 0) for resource in resources), pod.priority
        values = (
            pod.key, pod.owner, shapes.setdefault(shape, len(shapes)), created, bound, rows.get(pod.node, -1),
            _place(run, pod.ended), _place(run, pod.preempted), pod.preempted_by or None, pod.attempts,
            -1 if bound < 0 else bound - created, pod.key in moved, pod.is_per_node,
        )  # fmt: skip
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    return columns


def _place(run: Run, step: int | None) -> int:
    """The place of a step, by which the page counts; -1 for what did not happen."""
    return -1 if step is None else run.places[step]


def _moved(run: Run) -> set[str]:
    """Pods of a name that was on different nodes in turn."""
    homes: dict[str, set[str]] = {}
    for pod in run.pods:
        if pod.node:
            homes.setdefault(pod.key, set()).add(pod.node)
    return {key for key, nodes in homes.items() if len(nodes) > 1}


def _entries(run: Run) -> Columns:
    """Lanes: the scenario's operations, the scheduler, and each controller that wrote something."""
    shown = run.frame(("writer", "entry", "kind", "namespace", "name", "major", "minor"), SHOWN)
    kind, namespace, name = (pl.col(column) for column in ("kind", "namespace", "name"))
    where = pl.when(namespace != "").then(namespace + "/").otherwise(pl.lit(""))
    writers, places = {}, run.places
    for writer in shown["writer"].unique():
        writers[writer] = OPERATIONS if is_operation(writer) else writer or CONTROLLERS
    lane = shown["writer"].replace_strict(writers, return_dtype=pl.String)
    lanes = {each: number for number, each in enumerate(dict.fromkeys([OPERATIONS, *lane.unique(maintain_order=True)]))}
    verbs = pl.Series(map(_verb, shown["entry"], lane), dtype=pl.String)
    columns = {
        "lane": lane.replace_strict(lanes, return_dtype=pl.Int64),
        "step": shown["major"].replace_strict(places, return_dtype=pl.Int64),
        "minor": shown["minor"],
        "verb": verbs.replace_strict({verb: number for number, verb in enumerate(VERBS)}, return_dtype=pl.Int64),
        "what": shown.select((kind + " " + where + name).str.strip_chars()).to_series(),
    }
    entries = {column: values.to_list() for column, values in columns.items()}
    return {"lanes": list(lanes), "verbs": list(VERBS), "entries": entries}


def _verb(entry: str, lane: str) -> str:
    if entry == "bound" or (entry == "patch" and lane == "scheduler"):
        return "bind"
    if entry == "preempted" or (entry == "delete" and lane == "scheduler"):
        return "preempt"
    return entry


def _last(run: Run, pods: Sequence[str], most_cells: int) -> Iterator[tuple[str, Attempt]]:
    found = run.last_attempts(pods, most_cells)
    return ((pod, found[pod]) for pod in dict.fromkeys(pods) if pod in found)


def _attempts(
    run: Run, given: Iterable[tuple[str, Attempt]], most_cells: int
) -> tuple[list[Columns], list[list[str]], list[str]]:
    """Attempts in order of time, cells as far as they fit; the verdicts in them; and what had to stay out."""
    lives: dict[str, list[int]] = {}
    for i, pod in enumerate(run.pods):
        lives.setdefault(pod.key, []).append(i)
    attempts: list[Columns] = []
    verdicts: dict[tuple[str, ...], int] = {}
    room, without, beyond = most_cells, 0, 0
    for key, tried in given:
        if len(attempts) >= ATTEMPTS:
            beyond += 1
            continue
        life = _life_at(run, lives.get(key, []), tried.major)
        if life is None:
            continue
        attempt = _attempt(tried, life, run.places[tried.major])
        if tried.cells is not None and len(tried.nodes) <= room:
            room -= len(tried.nodes)
            attempt["cells"] = _cells(tried.cells, verdicts)
        elif tried.cells is not None or tried.visited:
            without += 1
        attempts.append(attempt)
    said = []
    if without:
        said.append(f"Verdicts and scores of {without:,} attempts are not in this page; seatrial explain shows them.")
    if beyond:
        said.append(f"{beyond:,} later attempts are not in this page; seatrial explain shows them.")
    return attempts, [list(verdict) for verdict in verdicts], said


def _life_at(run: Run, lives: list[int], step: int) -> int | None:
    """The latest life of a name that had begun by this step."""
    for i in reversed(lives):
        if run.pods[i].created <= step:
            return i
    return None


def _attempt(tried: Attempt, pod: int, step: int) -> Columns:
    return {
        "pod": pod,
        "step": step,
        "minor": tried.minor,
        "outcome": tried.outcome,
        "node": tried.node,
        "message": tried.message,
        "visited": tried.visited,
        "feasible": tried.feasible,
        "reasons": [list(pair) for pair in tried.reasons.items()],
        "best": [list(pair) for pair in tried.best],
        "victims": list(tried.victims),
        "preFilter": narrowed(tried),
    }


def narrowed(tried: Attempt) -> str:
    """Which PreFilter plugins left how many nodes to search."""
    before = tried.details.get("preFilter")
    sets = before and before.get("nodeSets")
    if not sets:
        return ""
    return ", ".join(f"{plugin} left {len(nodes)} node{'s' * (len(nodes) != 1)}" for plugin, nodes in sets.items())


def _cells(cells: Cells, verdicts: dict[tuple[str, ...], int]) -> Columns:
    """The matrix of an attempt; its verdicts are numbered in the order of the page."""
    numbers = {0: 0}
    for verdict in dict.fromkeys(cells.verdicts):
        if verdict:
            said = tuple(map(str, cells.said[verdict - 1]))
            numbers[verdict] = 1 + verdicts.setdefault(said, len(verdicts))
    return {
        "nodes": cells.nodes,
        "verdicts": [numbers[verdict] for verdict in cells.verdicts],
        "feasible": cells.feasible,
        "plugins": cells.scorers,
        "weights": [weight or 0 for weight in cells.weights],
        "raw": cells.raw,
        "normalized": cells.normalized,
        "total": cells.total or (0,) * len(cells.feasible),
    }
