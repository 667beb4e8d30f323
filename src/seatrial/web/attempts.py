"""The scheduling attempts of a run as the report page draws them (`web/src/data.ts` names their fields)."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.results import Run, Which
from seatrial.timeline import Attempt, Cells
from seatrial.words import counted

ATTEMPTS = 100_000
COLUMNS = (
    "pod", "step", "minor", "outcome", "node", "nominated", "message", "visited", "feasible", "reasons", "victims",
)  # fmt: skip
"""The numbers of an attempt; those of `outcome`, `message` and `reasons` are places in the page's lists."""

Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AttemptsShown:
    """Attempts as columns, the details of each, what both refer to, and what had to stay out of the page."""

    attempts: Columns
    details: list[Columns]
    rows: list[int]
    """The sequence number of each attempt."""
    verdicts: list[tuple[str, ...]]
    lists: list[Any]
    left_out: list[str]


def attempts_shown(run: Run, pods: Sequence[Which] | None, most_cells: int) -> AttemptsShown:
    """Attempts in order of time, cells as far as they fit: with `pods` those of the last attempts at these pods."""
    pods_of_name, places = _pods_of_name(run), run.places
    nodes = {node.name: row for row, node in enumerate(run.nodes)}
    columns: Columns = {name: [] for name in COLUMNS}
    details: list[Columns] = []
    rows: list[int] = []
    lists = _Lists()
    room, without = most_cells, 0
    for (key, number), tried in _tried(run, pods, most_cells):
        same_name = pods_of_name.get(key, ())
        if number >= len(same_name):
            continue
        values = _attempt(tried, same_name[number], places[tried.major], nodes, lists)
        for name, value in zip(COLUMNS, values, strict=True):
            columns[name].append(value)
        told, cells = details_of(tried), tried.cells
        if cells is not None and most_cells and len(cells.nodes) <= room:
            room -= len(cells.nodes)
            told["cells"] = lists.columns(cells)
        elif pods is None and most_cells and (cells is not None or tried.visited):
            without += 1
        details.append(told)
        rows.append(tried.sequence)
    left_out = _left_out(run, without, is_all=pods is None)
    return AttemptsShown(columns, details, rows, list(lists.verdicts), lists.all, left_out)


def _left_out(run: Run, without: int, *, is_all: bool) -> list[str]:
    said = []
    if without:
        attempts_without = counted(without, "attempt")
        said.append(f"Verdicts and scores of {attempts_without} are not in this page; seatrial explain shows them.")
    if is_all and (beyond := len(run.histories.attempts) - ATTEMPTS) > 0:
        are = "is" if beyond == 1 else "are"
        said.append(f"{counted(beyond, 'later attempt')} {are} not in this page; seatrial explain shows them.")
    return said


def _tried(run: Run, pods: Sequence[Which] | None, most_cells: int) -> Iterator[tuple[Which, Attempt]]:
    if pods is None:
        yield from run.attempts(most_cells=most_cells, most=ATTEMPTS)
        return
    last = run.last_attempts(list(dict.fromkeys(pods))[:ATTEMPTS], most_cells)
    for pod, tried in run.attempts(most_cells=0, most=ATTEMPTS):
        explained = last.get(pod)
        yield pod, explained if explained is not None and explained.sequence == tried.sequence else tried


def _pods_of_name(run: Run) -> dict[str, list[int]]:
    """The places of the pods that had each name in turn."""
    places: dict[str, list[int]] = {}
    for place, pod in enumerate(run.pods):
        places.setdefault(pod.key, []).append(place)
    return places


def _attempt(tried: Attempt, pod: int, step: int, nodes: Mapping[str, int], lists: "_Lists") -> tuple[int, ...]:
    """The values of `COLUMNS`."""
    return (
        pod,
        step,
        tried.minor,
        lists.number(tried.outcome),
        nodes.get(tried.node, -1),
        nodes.get(tried.nominated, -1),
        lists.number(tried.message),
        tried.visited,
        tried.feasible,
        lists.number(tuple(tried.reasons.items())),
        len(tried.victims),
    )


def details_of(tried: Attempt) -> Columns:
    """What an attempt tells beyond its row; what it does not have is left out."""
    details = tried.details
    told = {
        "best": tried.best,
        "victims": tried.victims,
        "preFilter": narrowed(tried) if details else "",
        "postFilter": [[each["plugin"], each["code"], *each["reasons"]] for each in (details.get("postFilter") or ())],
        "extenders": details.get("extenders"),
        "points": details.get("points"),
    }
    return {name: value for name, value in told.items() if value}


def whole_details(tried: Attempt) -> Columns:
    """The details of one attempt with its cells, and the lists that they refer to."""
    told, lists = details_of(tried), _Lists()
    if tried.cells is not None:
        told["cells"] = lists.columns(tried.cells)
    return {"detail": told, "lists": lists.all, "verdicts": list(lists.verdicts)}


def narrowed(tried: Attempt) -> str:
    """Which PreFilter plugins left how many nodes to search."""
    before = tried.details.get("preFilter")
    sets = before and before.get("nodeSets")
    if not sets:
        return ""
    return ", ".join(f"{plugin} left {counted(len(nodes), 'node')}" for plugin, nodes in sets.items())


_NOTHING = (b"no array", -1)


class _Lists:
    """What recurs in attempts: each is in the page once, and attempts have its number.

    Pods wait for the same reasons, and attempts in turn visit the same nodes and score all but a few of them as the one
    before.
    """

    def __init__(self) -> None:
        self.verdicts: dict[tuple[str, ...], int] = {}
        """The number of each verdict, in the order of the page."""
        self.all: list[Any] = []
        self._numbers: dict[Hashable, int] = {}
        self._arrays: dict[bytes, int] = {}
        self._before: dict[str, Sequence[tuple[bytes, int]]] = {}
        """The arrays of the attempt before, by column: most are the same, which is found without a hash of them."""

    def columns(self, cells: Cells) -> Columns:
        """The matrix of an attempt, each column as the number of its list."""
        total = cells.total if len(cells.total) else np.zeros(len(cells.feasible), np.int64)
        nodes = self.number(cells.nodes)
        return {
            "nodes": nodes,
            "filters": self.number(cells.filters),
            "verdicts": self._rows("verdicts", [self._numbered(cells)])[0],
            "feasible": nodes if cells.feasible is cells.nodes else self.number(cells.feasible),
            "plugins": self.number(cells.scorers),
            "weights": self.number(tuple(weight or 0 for weight in cells.weights)),
            "raw": self._rows("raw", cells.raw),
            "normalized": self._rows("normalized", cells.normalized),
            "total": self._rows("total", [total])[0],
        }

    def number(self, values: Hashable) -> int:
        """The number of a list or text."""
        number = self._numbers.setdefault(values, len(self.all))
        if number == len(self.all):
            self.all.append(values)
        return number

    def _rows(self, column: str, rows: Sequence[NDArray[Any]]) -> list[int]:
        """The numbers of the arrays of a column, all of 64 bits."""
        before = self._before.get(column, ())
        if len(before) != len(rows):
            before = [_NOTHING] * len(rows)
        self._before[column] = now = [
            known if (data := row.tobytes()) == known[0] else (data, self._array(row, data))
            for row, known in zip(rows, before, strict=True)
        ]
        return [number for _, number in now]

    def _array(self, row: NDArray[Any], data: bytes) -> int:
        number = self._arrays.setdefault(data, len(self.all))
        if number == len(self.all):
            self.all.append(row)
        return number

    def _numbered(self, cells: Cells) -> NDArray[Any]:
        """The verdicts on the nodes, as numbers of this page."""
        if not cells.verdicts.any():
            return cells.verdicts.astype(np.int64)
        given, places = np.unique(cells.verdicts, return_inverse=True)
        numbers = [0 if verdict == 0 else self._verdict(cells.said[verdict - 1]) for verdict in given.tolist()]
        return np.array(numbers, np.int64)[places]

    def _verdict(self, said: Sequence[str]) -> int:
        return 1 + self.verdicts.setdefault(tuple(map(str, said)), len(self.verdicts))
