"""The scheduling attempts of a run as the report page draws them (`web/src/data.ts` names their fields)."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.results import Run, Which
from seatrial.timeline import Attempt, Cells
from seatrial.words import counted

ATTEMPTS = 100_000

Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AttemptsShown:
    """Attempts, what their cells refer to, and what had to stay out of the page."""

    attempts: list[Columns]
    verdicts: list[tuple[str, ...]]
    lists: list[Any]
    left_out: list[str]


def attempts_shown(run: Run, pods: Sequence[Which] | None, most_cells: int) -> AttemptsShown:
    """Attempts in order of time, cells as far as they fit.

    With `pods` they are the last attempts at these pods, in the order of the pods.
    """
    pods_of_name, places = _pods_of_name(run), run.places
    attempts: list[Columns] = []
    lists = _Lists()
    room, without = most_cells, 0
    for (key, number), tried in _tried(run, pods, most_cells):
        same_name = pods_of_name.get(key, ())
        if number >= len(same_name):
            continue
        attempt, cells = _attempt(tried, same_name[number], places[tried.major], lists), tried.cells
        if cells is not None and len(cells.nodes) <= room:
            room -= len(cells.nodes)
            attempt["cells"] = lists.columns(cells)
        elif cells is not None or tried.visited:
            without += 1
        attempts.append(attempt)
    said = []
    if without:
        attempts_without = counted(without, "attempt")
        said.append(f"Verdicts and scores of {attempts_without} are not in this page; seatrial explain shows them.")
    if pods is None and (beyond := len(run.histories.attempts) - ATTEMPTS) > 0:
        are = "is" if beyond == 1 else "are"
        said.append(f"{counted(beyond, 'later attempt')} {are} not in this page; seatrial explain shows them.")
    return AttemptsShown(attempts, list(lists.verdicts), lists.all, said)


def _tried(run: Run, pods: Sequence[Which] | None, most_cells: int) -> Iterator[tuple[Which, Attempt]]:
    if pods is None:
        return run.attempts(most_cells=most_cells, most=ATTEMPTS)
    wanted = list(dict.fromkeys(pods))[:ATTEMPTS]
    found = run.last_attempts(wanted, most_cells)
    return ((pod, found[pod]) for pod in wanted if pod in found)


def _pods_of_name(run: Run) -> dict[str, list[int]]:
    """The places of the pods that had each name in turn."""
    places: dict[str, list[int]] = {}
    for place, pod in enumerate(run.pods):
        places.setdefault(pod.key, []).append(place)
    return places


def _attempt(tried: Attempt, pod: int, step: int, lists: "_Lists") -> Columns:
    return {
        "pod": pod,
        "step": step,
        "minor": tried.minor,
        "outcome": tried.outcome,
        "node": tried.node,
        "message": lists.number(tried.message),
        "visited": tried.visited,
        "feasible": tried.feasible,
        "reasons": lists.number(tuple(tried.reasons.items())),
        "best": tried.best,
        "victims": tried.victims,
        "preFilter": narrowed(tried) if tried.details else "",
    }


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
