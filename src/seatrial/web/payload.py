"""A run as the columns that the report page draws (`web/src/data.ts` names them).

The page computes most things itself, so it gets lifecycles of nodes and pods, timeline entries and, as far as
`CELLS` reaches, the matrix of each scheduling attempt. What is left out is said in the page.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import polars as pl

import seatrial
from seatrial.model.documents import Document, decode
from seatrial.results.headline import headline
from seatrial.results.lifecycles import NEVER
from seatrial.results.run import Run
from seatrial.scenario.spec import Phase, dialect_of

CELLS = 400_000
"""Visited nodes whose verdicts and scores go into the page."""
ATTEMPTS = 100_000
VERBS = ("create", "patch", "delete", "done", "bind", "unscheduled", "preempt")
SHOWN = frozenset({"create", "patch", "delete", "done", "unscheduled", "bound", "preempted"})
OPERATIONS = "operations"

Columns = dict[str, Any]


def payload(run: Run) -> Columns:
    """Everything the page knows of a run."""
    resources = run.resources
    shapes: dict[tuple[tuple[int, ...], int], int] = {}
    pods = _pods(run, resources, shapes)
    attempts, left_out = _attempts(run)
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
            "from": [node.came for node in run.nodes],
            "to": [node.went for node in run.nodes],
        },
        "pods": pods,
        "shapes": [{"requests": list(requests), "priority": priority} for requests, priority in shapes],
        **_entries(run),
        "verdicts": [list(map(str, verdict)) for verdict in run.dictionary.get("verdicts", [])],
        "attempts": attempts,
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
            "key", "owner", "shape", "created", "bound", "node", "end", "preempted", "by", "attempts", "waited"
        )
    }  # fmt: skip
    for pod in run.pods:
        shape = tuple(pod.requests.get(resource, 0) for resource in resources), pod.priority
        values = (
            pod.key, pod.owner, shapes.setdefault(shape, len(shapes)), pod.created, pod.bound, rows.get(pod.node, -1),
            pod.ended, pod.preempted, pod.preempted_by or None, pod.attempts,
            -1 if pod.bound == NEVER else pod.bound - pod.created,
        )  # fmt: skip
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    return columns


def _entries(run: Run) -> Columns:
    """Lanes: the scenario's operations, the scheduler, and each controller that wrote something."""
    lanes: dict[str, int] = {OPERATIONS: 0}
    places = {step.major: i for i, step in enumerate(run.steps)}
    columns: Columns = {name: [] for name in ("lane", "step", "minor", "verb", "what")}
    for entry in run:
        if entry.entry not in SHOWN:
            continue
        writer = entry.writer or OPERATIONS
        lane = OPERATIONS if writer.startswith("operation:") or not entry.writer else writer
        verb = _verb(entry.entry, writer)
        what = f"{entry.kind} {entry.namespace}/{entry.name}" if entry.namespace else f"{entry.kind} {entry.name}"
        values = lanes.setdefault(lane, len(lanes)), places[entry.major], entry.minor, VERBS.index(verb), what.strip()
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    return {"lanes": list(lanes), "verbs": list(VERBS), "entries": columns}


def _verb(entry: str, writer: str) -> str:
    if entry == "bound" or (entry == "patch" and writer == "scheduler"):
        return "bind"
    if entry == "preempted" or (entry == "delete" and writer == "scheduler"):
        return "preempt"
    return entry


def _attempts(run: Run) -> tuple[list[Columns], list[str]]:
    """Attempts in order of time, cells as far as they fit; and what had to stay out."""
    if run.table is None:
        return [], []
    lives: dict[str, list[int]] = {}
    for i, pod in enumerate(run.pods):
        lives.setdefault(pod.key, []).append(i)
    places = {step.major: i for i, step in enumerate(run.steps)}
    attempts: list[Columns] = []
    room, without = CELLS, 0
    for row in _attempt_rows(run.table):
        if len(attempts) >= ATTEMPTS:
            break
        step = places[row["major"]]
        life = _life_at(run, lives.get(f"{row['namespace']}/{row['name']}", []), step)
        if life is None:
            continue
        cells = len(row["nodes"] or ())
        attempt = _attempt(row, life, step)
        if cells and cells <= room:
            room -= cells
            attempt["cells"] = _cells(row, run.dictionary)
        elif cells or row["visited"]:
            without += 1
        attempts.append(attempt)
    said = [f"Verdicts and scores of {without:,} attempts are not in this page; the command seatrial explain has them."]
    return attempts, said if without else []


def _life_at(run: Run, lives: list[int], step: int) -> int | None:
    """The latest life of a name that had begun by this step."""
    return next((i for i in reversed(lives) if run.pods[i].created <= step), None)


def _attempt_rows(table: pl.LazyFrame) -> Iterator[Columns]:
    wanted = table.filter(pl.col("entry") == "attempt").select(
        "major", "minor", "namespace", "name", "outcome", "node", "message", "visited", "feasible", "reasons", "best",
        "victims", "details", "nodes", "verdicts", "feasible_nodes", "score_plugins", "weights", "raw", "normalized",
        "total",
    )  # fmt: skip
    return wanted.collect().iter_rows(named=True)


def _attempt(row: Columns, pod: int, step: int) -> Columns:
    details: Document = decode(row["details"]) if row["details"] else {}
    narrowed = (details.get("preFilter") or {}).get("nodes")
    return {
        "pod": pod,
        "step": step,
        "minor": row["minor"],
        "outcome": row["outcome"],
        "node": row["node"] or "",
        "message": row["message"] or "",
        "visited": row["visited"] or 0,
        "feasible": row["feasible"] or 0,
        "reasons": [[item["reason"], item["count"]] for item in row["reasons"] or ()],
        "best": [[item["node"], item["total"]] for item in row["best"] or ()],
        "victims": list(row["victims"] or ()),
        "preFilter": f"PreFilter left {len(narrowed)} nodes" if narrowed else "",
    }


def _cells(row: Columns, dictionary: Document) -> Columns:
    names, plugins = dictionary["nodes"], dictionary["plugins"]
    feasible = [names[i] for i in row["feasible_nodes"] or ()]
    width = len(feasible)
    scorers = [plugins[i] for i in row["score_plugins"] or ()]

    def rows(flat: list[int] | None) -> list[list[int]]:
        values = flat or []
        return [values[i * width : (i + 1) * width] for i in range(len(scorers))]

    return {
        "nodes": [names[i] for i in row["nodes"] or ()],
        "verdicts": list(row["verdicts"] or ()),
        "feasible": feasible,
        "plugins": scorers,
        "weights": list(row["weights"] or ()),
        "raw": rows(row["raw"]),
        "normalized": rows(row["normalized"]),
        "total": list(row["total"] or [0] * width),
    }
