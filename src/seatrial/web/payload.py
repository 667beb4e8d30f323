"""A run as the columns that the report page draws (`web/src/data.ts` names them).

The page computes most things itself, so it gets lifecycles of nodes and pods, timeline entries and, as far as
`CELLS` reaches, the matrix of each scheduling attempt. What is left out is said in the page.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import polars as pl

import seatrial
from seatrial.model.writers import is_operation
from seatrial.results import Lives, PodLife, Run, Which, headline, waiting_groups
from seatrial.scenario.spec import Phase, dialect_of
from seatrial.web.attempts import AttemptsShown, attempts_shown
from seatrial.web.changes import budgets, changes
from seatrial.web.volcano import volcano
from seatrial.web.workloads import workloads

CELLS = 400_000
"""Visited nodes whose verdicts and scores go into the page."""
VERBS = ("create", "patch", "delete", "done", "bind", "unscheduled", "preempt")
SHOWN = frozenset({"create", "patch", "delete", "done", "unscheduled", "bound", "preempted"})
OPERATIONS = "operations"
CONTROLLERS = "controllers"
"""The lane of what a Scenario alone does not tell the writer of."""

Columns = dict[str, Any]
_OF_THE_FILE = re.compile(
    "(; |^)result[.]json lists [^;]* by step only; `seatrial explain` shows their nodes and scores"
)


def payload(run: Run, pods_explained: Sequence[Which] | None = None, most_cells: int = CELLS) -> Columns:
    """Everything the page knows of a run; with `pods_explained` it has the cells of the last attempts at these pods."""
    return columns(run, attempts_shown(run, pods_explained, most_cells))


def message_shown(message: str) -> str:
    """What a run has ended with, without what its file leaves out: a page says that of itself."""
    return _OF_THE_FILE.sub("", message)


def columns(run: Run, tried: AttemptsShown) -> Columns:
    """The same with attempts that are known."""
    resources = run.resources
    shapes: dict[tuple[tuple[int, ...], int], int] = {}
    pods = _pods(run, resources, shapes)
    return {
        "name": run.name,
        "title": run.scenario_name,
        "phase": run.phase,
        "message": message_shown(run.message),
        "version": run.version or seatrial.__version__,
        "resources": resources,
        "omitted": [*([f"This result lacks {run.lacks}."] if run.lacks else []), *tried.left_out],
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
            "to": [run.places[node.went] for node in run.nodes],
            "taints": [node.taints for node in run.nodes],
        },
        "pods": pods,
        "shapes": [{"requests": list(requests), "priority": priority} for requests, priority in shapes],
        "changes": changes(run, tried.attempts, tried.rows),
        "budgets": budgets(run),
        **_entries(run),
        "verdicts": tried.verdicts,
        "lists": tried.lists,
        "attempts": tried.attempts,
        "details": tried.details,
        "volcano": volcano(run),
        "workloads": workloads(run),
    }


def _phases(run: Run) -> tuple[str, str]:
    """What the first minor step of a step is called in the scenario's spelling, and each further one."""
    spec = msgspec.json.decode(run.header.spec, type=dict[str, msgspec.Raw]) if run.header.spec else {}
    dialect = dialect_of(dict.fromkeys(spec, True))
    return dialect.phase(Phase.OPERATING), dialect.phase(Phase.RUNNING)


def _pods(run: Run, resources: list[str], shapes: dict[tuple[tuple[int, ...], int], int]) -> Columns:
    pods, places = run.pods, run.places
    rows = {node.name: i for i, node in enumerate(run.nodes)}
    keys = [pod.key for pod in pods]
    created, (bound, ended) = np.array([places[pod.created] for pod in pods], np.int64), run.stays
    moved = _moved(run)
    return {
        "key": keys,
        "owner": [pod.owner for pod in pods],
        "shape": _shapes(pods, resources, shapes),
        "created": created,
        "bound": bound,
        "node": [rows.get(pod.node, -1) for pod in pods],
        "end": ended,
        "preempted": [places[pod.preempted] for pod in pods],
        "by": [pod.preempted_by or None for pod in pods],
        "preemptor": _preemptors(pods),
        "attempts": [pod.attempts for pod in pods],
        "waited": np.where(bound < 0, -1, bound - created),
        "moved": [key in moved for key in keys] if moved else [False] * len(keys),
        "perNode": [pod.is_per_node for pod in pods],
        "brought": [bool(pod.brought) for pod in pods],
        "waiting": _waiting(run),
    }


def _waiting(run: Run) -> list[tuple[int, str]]:
    """The places of the pods without a node at the end, each with the reason."""
    reasons = {pod: group.reason for group in waiting_groups(run) for pod in group.pods}
    last = run.last_step
    return [(place, reasons[pod.key]) for place, pod in enumerate(run.pods) if reasons and pod.is_waiting(last)]


def _preemptors(pods: Sequence[PodLife]) -> list[int]:
    """The place of the pod that preempted each; -1 where none did, or none of the run's."""
    names = {pod.preempted_by for pod in pods} - {""}
    preemptors = [(place, pod) for place, pod in enumerate(pods) if pod.key in names] if names else []
    places: dict[str, list[int]] = {}
    for place, pod in preemptors:
        places.setdefault(pod.key, []).append(place)
    lives = Lives(pod for _, pod in preemptors)
    found = []
    for pod in pods:
        same_name = places.get(pod.preempted_by)
        found.append(-1 if same_name is None else same_name[lives.preempting(pod)[1]])
    return found


def _shapes(pods: Sequence[PodLife], resources: list[str], shapes: dict[tuple[tuple[int, ...], int], int]) -> list[int]:
    """The number of each pod's requests and priority in `shapes`; pods of one shape share their requests."""
    known: dict[tuple[int, int], int] = {}
    numbers = []
    for pod in pods:
        same = id(pod.requests), pod.priority
        number = known.get(same)
        if number is None:
            shape = tuple(pod.requests.get(resource, 0) for resource in resources), pod.priority
            number = known[same] = shapes.setdefault(shape, len(shapes))
        numbers.append(number)
    return numbers


def _moved(run: Run) -> set[str]:
    """Pods of a name that was on different nodes in turn."""
    homes: dict[tuple[str, str], str] = {}
    moved = set()
    for pod in run.pods:
        if pod.node and homes.setdefault((pod.namespace, pod.name), pod.node) != pod.node:
            moved.add(pod.key)
    return moved


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
    verbs = shown.select(_verb(pl.col("entry"), is_scheduler=lane == "scheduler")).to_series()
    numbers = {
        "lane": lane.replace_strict(lanes, return_dtype=pl.Int64),
        "step": shown["major"].replace_strict(places, return_dtype=pl.Int64),
        "minor": shown["minor"],
        "verb": verbs.replace_strict({verb: number for number, verb in enumerate(VERBS)}, return_dtype=pl.Int64),
    }
    what = shown.select((kind + " " + where + name).str.strip_chars()).to_series()
    entries = {**{column: values.to_numpy() for column, values in numbers.items()}, "what": what.to_list()}
    return {"lanes": list(lanes), "verbs": list(VERBS), "entries": entries}


def _verb(entry: pl.Expr, is_scheduler: pl.Series) -> pl.Expr:
    binds = (entry == "bound") | ((entry == "patch") & is_scheduler)
    preempts = (entry == "preempted") | ((entry == "delete") & is_scheduler)
    return pl.when(binds).then(pl.lit("bind")).when(preempts).then(pl.lit("preempt")).otherwise(entry)
