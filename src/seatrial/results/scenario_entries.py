"""Makes the entries of a run from a Scenario with its result alone, in either spelling of KEP-140.

Such a result is a `result.json`, a served Scenario, or one of another simulator. Its timeline lists the attempts at a
pod in each entry that shows the pod; here each attempt becomes one entry, before the first entry that lists it. Pods
that finished by a status write come from `status.notInTimeline` (`timeline/unshown.py`). There are no times and no
other status writes.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from seatrial.model.documents import Document, encode
from seatrial.model.writers import operation_writer
from seatrial.results.entries import Entry
from seatrial.results.lifecycles import unscheduled_message
from seatrial.timeline import NOT_IN_TIMELINE, PASSED, Attempt, Cells

START = 1_893_456_000_000_000
"""Where virtual time begins: the time of all entries, since a Scenario alone has none."""
BEST = 3
POD_ENTRIES = {"podScheduled": "bound", "podUnscheduled": "unscheduled", "podPreempted": "preempted"}
SEVERAL_REASONS = frozenset({"NodeResourcesFit", "VolumeBinding"})
"""In-tree filters that give several reasons, which the wire joins; a reason of any other may contain a comma."""
SCHEDULED, UNSCHEDULABLE = "scheduled", "unschedulable"


def entries_of_scenario(scenario: Document) -> list[Entry]:
    """The entries in order, each with its place as sequence number."""
    status = scenario.get("status") or {}
    timeline = (status.get("scenarioResult") or {}).get("timeline") or {}
    finished = (status.get(NOT_IN_TIMELINE) or {}).get("finishedPods") or {}
    spec = scenario.get("spec") or {}
    operations = {str(item.get("id")) for item in spec.get("operations") or spec.get("events") or ()}
    reader = _Reader(operations)
    for step in sorted(timeline, key=int):
        listed = finished.get(step) or () if isinstance(finished, dict) else ()
        reader.read_step(int(step), timeline[step], _by_place(listed))
    return reader.entries()


def _by_place(listed: Any) -> dict[int, list[str]]:
    """Finished pods by the number of entries before them."""
    found: dict[int, list[str]] = {}
    for place, pod in listed:
        found.setdefault(place, []).append(pod)
    return found


class _Reader:
    """Takes the steps of a timeline in order."""

    def __init__(self, operations: set[str]) -> None:
        self._operations = operations
        self._entries: list[Entry] = []
        self._listed: dict[tuple[str, ...], list[int]] = {}
        """The places of the entries of a pod's attempts."""
        self._victims: dict[str, list[tuple[int, int, str]]] = {}
        """By preemptor: the step, the place of the victim's entry, and the victim."""

    def read_step(self, major: int, items: list[Document], finished: dict[int, list[str]]) -> None:
        for place, item in enumerate(items):
            self._finish(finished.pop(place, ()), major)
            self._read(item, major)
        for place in sorted(finished):
            self._finish(finished[place], major)

    def entries(self) -> list[Entry]:
        """All entries, attempts with their victims."""
        for preemptor, victims in self._victims.items():
            self._attach(preemptor, victims)
        return [msgspec.structs.replace(entry, sequence=place) for place, entry in enumerate(self._entries)]

    def _finish(self, pods: Any, major: int) -> None:
        for pod in pods:
            namespace, _, name = pod.partition("/")
            self._entries.append(Entry(0, major, 0, START, "", "finished", "", "Pod", namespace, name, None))

    def _read(self, item: Document, major: int) -> None:
        minor = _step(item.get("step"), major)[1]
        id = str(item.get("id") or item.get("ID") or "")
        for verb in ("create", "patch", "delete", "done"):
            if item.get(verb):
                self._entries.append(self._operation(item[verb], verb, id, major, minor))
        for field, meaning in POD_ENTRIES.items():
            if item.get(field):
                self._read_pod(item[field], meaning, id, major, minor)

    def _operation(self, body: Document, verb: str, id: str, major: int, minor: int) -> Entry:
        operation, result = body.get("operation") or {}, body.get("result") or {}
        target: Document = result or operation.get("object") or {}
        meta = target.get("metadata") or operation.get("objectMeta") or {}
        kind = target.get("kind") or (operation.get("typeMeta") or {}).get("kind") or ""
        return Entry(
            0, major, minor, START, operation_writer(id) if id in self._operations else "", verb, id, kind,
            meta.get("namespace", ""), meta.get("name", ""), encode(result).decode() if result else None,
        )  # fmt: skip

    def _read_pod(self, body: Document, meaning: str, id: str, major: int, minor: int) -> None:
        pod: Document = body.get("pod") or {}
        meta = pod.get("metadata") or {}
        namespace, name = meta.get("namespace", ""), meta.get("name", "")
        self._read_attempts(body, meaning, pod, major)
        by = body.get("preemptedBy") or ""
        if meaning == "preempted" and by:
            self._victims.setdefault(by, []).append((major, len(self._entries), f"{namespace}/{name}"))
        self._entries.append(
            Entry(
                0, major, minor, START, "scheduler", meaning, id, "Pod", namespace, name, encode(pod).decode(),
                node=body.get("boundTo") or "", victims=(by,) if meaning == "preempted" else (),
            )
        )  # fmt: skip

    def _read_attempts(self, body: Document, meaning: str, pod: Document, major: int) -> None:
        """An entry lists all attempts up to now; those that an earlier one listed may come with more in them."""
        meta = pod.get("metadata") or {}
        namespace, name = meta.get("namespace", ""), meta.get("name", "")
        life = namespace, name, str(meta.get("uid", "")), str(body.get("createdAt"))
        known = self._listed.setdefault(life, [])
        listed = list(_each(body.get("scheduleResult") or []))
        own_row = len(self._entries) + max(len(listed) - len(known), 0)
        for place, item in enumerate(listed):
            is_last = place == len(listed) - 1
            node = (body.get("boundTo") or "") if meaning == "bound" and is_last else ""
            tried = attempt_of(item, major, node, pod.get("status") or {} if is_last else {}, own_row)
            if place < len(known):
                before = self._entries[known[place]]
                if before.tried is not None and before.tried.cells is None and tried.cells is not None:
                    self._entries[known[place]] = _entry_of(namespace, name, tried, place + 1)
            else:
                known.append(len(self._entries))
                self._entries.append(_entry_of(namespace, name, tried, place + 1))

    def _attach(self, preemptor: str, victims: list[tuple[int, int, str]]) -> None:
        """Give a preemptor's victims to its last attempt of that step before it was scheduled.

        The entry itself names none: it comes after those of the victims, whose names other pods may have by then. Of
        several preemptors of one name it is the first that an entry after the victim's lists an attempt at.
        """
        lives = [places for (namespace, name, *_), places in self._listed.items()
                 if places and f"{namespace}/{name}" == preemptor]  # fmt: skip
        gone: dict[int, tuple[str, ...]] = {}
        for step, row, victim in victims:
            own = next((places for places in lives if places[-1] > row), lives[-1] if lives else [])
            tried = [place for place in own if self._entries[place].major <= step]
            waiting = [place for place in tried if self._entries[place].outcome != SCHEDULED]
            if waiting:
                gone[waiting[-1]] = (*gone.get(waiting[-1], ()), victim)
        for place, of_attempt in gone.items():
            entry = self._entries[place]
            if entry.tried is not None:
                tried_with_victims = msgspec.structs.replace(entry.tried, victims=of_attempt)
                self._entries[place] = msgspec.structs.replace(entry, tried=tried_with_victims)


def _each(listed: list[Document]) -> Iterator[Document]:
    """One item per attempt: earlier ones may be given as their number and the step of the last one."""
    for item in listed:
        yield from [item] if "attempts" not in item else [{"step": item.get("step")}] * item["attempts"]


def _entry_of(namespace: str, name: str, tried: Attempt, number: int) -> Entry:
    return Entry(
        0, tried.major, tried.minor, START, "scheduler", "attempt", "", "Pod", namespace, name, None, tried.outcome,
        tried.node, tried.message, tried.visited, tried.feasible, tried.visited - tried.feasible, (), number, tried,
    )  # fmt: skip


def _step(step: Any, major: int) -> tuple[int, int]:
    if isinstance(step, dict):
        return int(step.get("major", major)), int(step.get("minor", 0))
    return (int(step), 0) if step is not None else (major, 0)


def attempt_of(item: Document, major: int, node: str, status: Document, row: int) -> Attempt:
    """One item of a scheduleResult; `node` is where it placed the pod, `status` that of the pod after it.

    `row` is the place of the entry that lists it.
    """
    cells = _cells(item) if "allCandidateNodes" in item else None
    at = _step(item.get("step"), major)
    totals = dict(zip(cells.feasible, cells.total, strict=False)) if cells is not None else {}
    best = sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))[:BEST]
    message = "" if node else unscheduled_message(status)
    return Attempt(
        *at,
        outcome=SCHEDULED if node else UNSCHEDULABLE,
        node=node,
        nominated="" if node else status.get("nominatedNodeName") or "",
        message=message,
        visited=len(cells.nodes) if cells is not None else 0,
        feasible=len(cells.feasible) if cells is not None else 0,
        reasons=_reasons(cells) if cells is not None else {},
        best=tuple(best),
        cells=cells,
        sequence=row,
    )


def _cells(item: Document) -> Cells:
    results = item.get("pluginResults") or {}
    filters: Document = results.get("filter") or {}
    scores: Document = results.get("score") or {}
    nodes = tuple(item.get("allCandidateNodes") or ())
    ran: tuple[str, ...] = max((tuple(said) for said in filters.values()), key=len, default=())
    said: dict[tuple[str, ...], int] = {}
    verdicts = [_verdict(filters.get(name) or {}, said) for name in nodes]
    feasible = tuple(item.get("allFilteredNodes") or ())
    scorers = tuple(dict.fromkeys(plugin for of_node in scores.values() for plugin in of_node))
    columns = {
        kind: tuple(tuple(_number(scores, name, plugin, kind) for name in feasible) for plugin in scorers)
        for kind in ("rawScore", "normalizedScore", "finalScore")
    }
    finals = columns["finalScore"]
    pairs = list(zip(finals, columns["normalizedScore"], strict=True))
    return Cells(
        nodes=nodes,
        verdicts=tuple(verdicts),
        said=[list(each) for each in said],
        filters=ran,
        feasible=feasible,
        scorers=scorers,
        weights=tuple(_weight(final, normal) for final, normal in pairs),
        raw=columns["rawScore"],
        normalized=columns["normalizedScore"],
        total=tuple(sum(column[place] for column in finals) for place, _ in enumerate(feasible)) if scorers else (),
    )


def _verdict(of_node: Document, said: dict[tuple[str, ...], int]) -> int:
    rejected = next(((plugin, text) for plugin, text in of_node.items() if text != PASSED), None)
    if rejected is None:
        return 0
    plugin, text = rejected
    reasons = text.split(", ") if plugin in SEVERAL_REASONS else [text]
    return said.setdefault((plugin, "", *reasons), len(said) + 1)


def _number(scores: Document, node: str, plugin: str, kind: str) -> int:
    return int(((scores.get(node) or {}).get(plugin) or {}).get(kind) or 0)


def _weight(final: tuple[int, ...], normal: tuple[int, ...]) -> int | None:
    return next((last // each for last, each in zip(final, normal, strict=True) if each), None)


def _reasons(cells: Cells) -> dict[str, int]:
    counts: dict[str, int] = {}
    for verdict, number in sorted(Counter(cells.verdicts).items()):
        for reason in cells.said[verdict - 1][2:] if verdict else ():
            counts[reason] = counts.get(reason, 0) + number
    return counts


def rejections(entries: Iterator[Entry]) -> list[tuple[str, int]]:
    """The reason and the number of nodes rejected for it, for each reason of each attempt."""
    return [pair for entry in entries if entry.tried is not None for pair in entry.tried.reasons.items()]
