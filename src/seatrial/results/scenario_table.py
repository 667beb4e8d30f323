"""Makes the table of a run from a Scenario with its result alone, in either spelling of KEP-140.

Such a result is a `result.json`, a served Scenario, or one of another simulator. Its timeline lists the attempts at a
pod in each entry that shows the pod; here each attempt becomes one row, before the first entry that lists it. Pods
that finished by a status write come from `status.notInTimeline` (`timeline/unshown.py`). There are no times and no
other status writes. Besides the entries of `timeline.parquet` the rows have `bound` and `preempted`, which are the
scheduler's writes there, and `finished`.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import polars as pl

from seatrial.model.documents import Document, encode
from seatrial.model.writers import operation_writer
from seatrial.results.lifecycles import unscheduled_message
from seatrial.timeline import COLUMNS, NOT_IN_TIMELINE, PASSED, TimelineReader

START = 1_893_456_000_000_000
"""Where virtual time begins: the time of all rows, since a Scenario alone has none."""
BEST = 3
POD_ENTRIES = {"podScheduled": "bound", "podUnscheduled": "unscheduled", "podPreempted": "preempted"}
SEVERAL_REASONS = frozenset({"NodeResourcesFit", "VolumeBinding"})
"""In-tree filters that give several reasons, which the wire joins; a reason of any other may contain a comma."""
SCHEDULED, UNSCHEDULABLE = "scheduled", "unschedulable"
ITEM = "item"
"""Key of a row that is no column: the item of a scheduleResult that lists the nodes of the attempt."""
KEY = ("namespace", "name")

Row = dict[str, Any]


def timeline_of_scenario(scenario: Document) -> TimelineReader:
    """The timeline of a Scenario, as far as its result tells it."""
    status = scenario.get("status") or {}
    timeline = (status.get("scenarioResult") or {}).get("timeline") or {}
    finished = (status.get(NOT_IN_TIMELINE) or {}).get("finishedPods") or {}
    spec = scenario.get("spec") or {}
    rows = _Rows({str(item.get("id")) for item in spec.get("operations") or spec.get("events") or ()})
    for step in sorted(timeline, key=int):
        listed = finished.get(step) or () if isinstance(finished, dict) else ()
        rows.add_step(int(step), timeline[step], _by_place(listed))
    return rows.timeline()


def has_unlisted_attempts(table: pl.LazyFrame) -> bool:
    """Whether a scheduler placed or tried a pod and no entry of its Scenario lists an attempt at it."""
    tried = table.filter(pl.col("entry") == "attempt").select(KEY).unique()
    shown = table.filter(pl.col("entry").is_in(["bound", "unscheduled"]))
    return not shown.join(tried, on=KEY, how="anti").collect().is_empty()


def _by_place(listed: Any) -> dict[int, list[str]]:
    """Finished pods by the number of entries before them."""
    found: dict[int, list[str]] = {}
    for place, pod in listed:
        found.setdefault(place, []).append(pod)
    return found


class _Rows:
    """The rows of the steps of a timeline, which are added in order."""

    def __init__(self, operations: set[str]) -> None:
        self._operations = operations
        self._rows: list[Row] = []
        self._listed: dict[tuple[str, ...], list[int]] = {}
        """The places of the rows of a pod's attempts."""
        self._victims: dict[str, list[tuple[int, int, str]]] = {}
        """By preemptor: the step, the place of the victim's row, and the victim."""

    def add_step(self, major: int, items: list[Document], finished: dict[int, list[str]]) -> None:
        for place, item in enumerate(items):
            self._finish(finished.pop(place, ()), major)
            self._read(item, major)
        for place in sorted(finished):
            self._finish(finished[place], major)

    def timeline(self) -> TimelineReader:
        """All rows, the attempts with their victims and cells."""
        for preemptor, victims in self._victims.items():
            self._attach(preemptor, victims)
        cells = _CellWriter()
        for place, row in enumerate(self._rows):
            row["sequence"] = place
            if ITEM in row:
                row.update(cells.columns(row[ITEM]))
        columns = [pl.Series(name, [row.get(name) for row in self._rows], dtype) for name, dtype in COLUMNS.items()]
        return TimelineReader(pl.DataFrame(columns).lazy(), cells.dictionary(), is_of_scenario=True)

    def _add(self, major: int, minor: int, entry: str, kind: str, namespace: str, name: str, **more: Any) -> None:
        row = {"major": major, "minor": minor, "time": START, "entry": entry, "kind": kind}
        self._rows.append({**row, "namespace": namespace, "name": name, **more})

    def _finish(self, pods: Any, major: int) -> None:
        for pod in pods:
            namespace, _, name = pod.partition("/")
            self._add(major, 0, "finished", "Pod", namespace, name)

    def _read(self, item: Document, major: int) -> None:
        minor = _step(item.get("step"), major)[1]
        id = str(item.get("id") or item.get("ID") or "")
        for verb in ("create", "patch", "delete", "done"):
            if item.get(verb):
                self._operation(item[verb], verb, id, major, minor)
        for field, meaning in POD_ENTRIES.items():
            if item.get(field):
                self._pod(item[field], meaning, id, major, minor)

    def _operation(self, body: Document, verb: str, id: str, major: int, minor: int) -> None:
        operation, result = body.get("operation") or {}, body.get("result") or {}
        target: Document = result or operation.get("object") or {}
        meta = target.get("metadata") or operation.get("objectMeta") or {}
        kind = target.get("kind") or (operation.get("typeMeta") or {}).get("kind") or ""
        self._add(
            major, minor, verb, kind, meta.get("namespace", ""), meta.get("name", ""), id=id,
            writer=operation_writer(id) if id in self._operations else "",
            object=encode(result).decode() if result else None,
        )  # fmt: skip

    def _pod(self, body: Document, meaning: str, id: str, major: int, minor: int) -> None:
        pod: Document = body.get("pod") or {}
        meta = pod.get("metadata") or {}
        namespace, name = meta.get("namespace", ""), meta.get("name", "")
        self._read_attempts(body, meaning, pod, major)
        by = body.get("preemptedBy") or ""
        if meaning == "preempted" and by:
            self._victims.setdefault(by, []).append((major, len(self._rows), f"{namespace}/{name}"))
        self._add(
            major, minor, meaning, "Pod", namespace, name, id=id, writer="scheduler", object=encode(pod).decode(),
            node=body.get("boundTo") or "", victims=[by] if meaning == "preempted" else None,
        )  # fmt: skip

    def _read_attempts(self, body: Document, meaning: str, pod: Document, major: int) -> None:
        """An entry lists all attempts up to now; those that an earlier one listed may come with more in them."""
        meta = pod.get("metadata") or {}
        namespace, name = meta.get("namespace", ""), meta.get("name", "")
        life = namespace, name, str(meta.get("uid", "")), str(body.get("createdAt"))
        known = self._listed.setdefault(life, [])
        listed = list(_each(body.get("scheduleResult") or []))
        for place, item in enumerate(listed):
            is_last = place == len(listed) - 1
            node = (body.get("boundTo") or "") if meaning == "bound" and is_last else ""
            said = _attempt(item, node, pod.get("status") or {} if is_last else {})
            if place == len(known):
                known.append(len(self._rows))
                self._rows.append({})
            elif ITEM in self._rows[known[place]] or ITEM not in said:
                continue
            at = dict(zip(("major", "minor"), _step(item.get("step"), major), strict=True))
            of_pod = {"entry": "attempt", "writer": "scheduler", "kind": "Pod", "namespace": namespace, "name": name}
            self._rows[known[place]] = {**at, **of_pod, "time": START, "attempt": place + 1, **said}

    def _attach(self, preemptor: str, victims: list[tuple[int, int, str]]) -> None:
        """Give a preemptor's victims to its last attempt of that step before it was scheduled.

        Of several preemptors of one name it is the first that an entry after the victim's lists an attempt at.
        """
        lives = [places for (namespace, name, *_), places in self._listed.items()
                 if places and f"{namespace}/{name}" == preemptor]  # fmt: skip
        for step, place_of_victim, victim in victims:
            own = next((places for places in lives if places[-1] > place_of_victim), lives[-1] if lives else [])
            tried = [self._rows[place] for place in own if self._rows[place]["major"] <= step]
            waiting = [row for row in tried if row["outcome"] != SCHEDULED]
            if waiting:
                waiting[-1].setdefault("victims", []).append(victim)


def _each(listed: list[Document]) -> Iterator[Document]:
    """One item per attempt: earlier ones may be given as their number and the step of the last one."""
    for item in listed:
        yield from [item] if "attempts" not in item else [{"step": item.get("step")}] * item["attempts"]


def _step(step: Any, major: int) -> tuple[int, int]:
    if isinstance(step, dict):
        return int(step.get("major", major)), int(step.get("minor", 0))
    return (int(step), 0) if step is not None else (major, 0)


def _attempt(item: Document, node: str, status: Document) -> Row:
    """One item of a scheduleResult; `node` is where it placed the pod, `status` that of the pod after it."""
    row: Row = {
        "outcome": SCHEDULED if node else UNSCHEDULABLE,
        "node": node,
        "nominated": "" if node else status.get("nominatedNodeName") or "",
        "message": "" if node else unscheduled_message(status),
    }
    if "allCandidateNodes" in item:
        visited, feasible = (len(item.get(key) or ()) for key in ("allCandidateNodes", "allFilteredNodes"))
        row |= {ITEM: item, "visited": visited, "feasible": feasible, "rejected": visited - feasible}
    return row


class _CellWriter:
    """Numbers the nodes, plugins and verdicts of attempts as the cells of a table have them."""

    def __init__(self) -> None:
        self._nodes: dict[str, int] = {}
        self._plugins: dict[str, int] = {}
        self._verdicts: list[tuple[str, ...]] = []

    def dictionary(self) -> Document:
        return {"nodes": list(self._nodes), "plugins": list(self._plugins), "verdicts": self._verdicts}

    def columns(self, item: Document) -> Row:
        """The columns of an attempt that tell about its nodes."""
        results = item.get("pluginResults") or {}
        filters: Document = results.get("filter") or {}
        scores: Document = results.get("score") or {}
        nodes, feasible = item.get("allCandidateNodes") or [], item.get("allFilteredNodes") or []
        verdicts = self._verdicts_on(nodes, filters)
        scorers = list(dict.fromkeys(plugin for of_node in scores.values() for plugin in of_node)) if feasible else []
        raw, normalized, final = (
            [[_number(scores, name, plugin, kind) for name in feasible] for plugin in scorers]
            for kind in ("rawScore", "normalizedScore", "finalScore")
        )
        totals = [sum(column) for column in zip(*final, strict=True)]
        best = sorted(dict(zip(feasible, totals, strict=False)).items(), key=lambda pair: (-pair[1], pair[0]))[:BEST]
        return {
            "reasons": [{"reason": reason, "count": count} for reason, count in self._reasons(verdicts).items()],
            "best": [{"node": node, "total": total} for node, total in best],
            "nodes": _numbers(self._nodes, nodes),
            "verdicts": verdicts,
            "filter_plugins": _numbers(self._plugins, max(filters.values(), key=len, default=())),
            "feasible_nodes": _numbers(self._nodes, feasible),
            "score_plugins": _numbers(self._plugins, scorers),
            "weights": [_weight(*columns) for columns in zip(final, normalized, strict=True)],
            "raw": [score for column in raw for score in column],
            "normalized": [score for column in normalized for score in column],
            "total": totals,
        }

    def _verdicts_on(self, nodes: list[str], filters: Document) -> list[int]:
        """The verdict on each node; each attempt has numbers of its own, in the order in which its verdicts occur."""
        said: dict[tuple[str, ...], int] = {}
        found = []
        for name in nodes:
            rejected = next((pair for pair in (filters.get(name) or {}).items() if pair[1] != PASSED), None)
            if rejected is None:
                found.append(0)
                continue
            plugin, text = rejected
            reasons = text.split(", ") if plugin in SEVERAL_REASONS else [text]
            found.append(said.setdefault((plugin, "", *reasons), len(self._verdicts) + len(said) + 1))
        self._verdicts += said
        return found

    def _reasons(self, verdicts: list[int]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for verdict, number in sorted(Counter(verdicts).items()):
            for reason in self._verdicts[verdict - 1][2:] if verdict else ():
                counts[reason] = counts.get(reason, 0) + number
        return counts


def _numbers(known: dict[str, int], names: Any) -> list[int]:
    return [known.setdefault(name, len(known)) for name in names]


def _number(scores: Document, node: str, plugin: str, kind: str) -> int:
    return int(((scores.get(node) or {}).get(plugin) or {}).get(kind) or 0)


def _weight(final: list[int], normal: list[int]) -> int | None:
    return next((last // each for last, each in zip(final, normal, strict=True) if each), None)
