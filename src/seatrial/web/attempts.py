"""The scheduling attempts of a run as the report page draws them (`web/src/data.ts` names their fields)."""

from collections.abc import Iterator, Sequence
from typing import Any

from seatrial.model.documents import encoded_part
from seatrial.results import Run, Which
from seatrial.timeline import Attempt, CellArrays

ATTEMPTS = 100_000

Columns = dict[str, Any]
Tried = tuple[Which, Attempt, CellArrays | None]


def attempts_shown(
    run: Run, pods: Sequence[Which] | None, most_cells: int
) -> tuple[list[Columns], list[list[str]], list[str]]:
    """Attempts in order of time, cells as far as they fit; the verdicts in them; and what had to stay out.

    With `pods` they are the last attempts at these pods, in the order of the pods.
    """
    pods_of_name, places = _pods_of_name(run), run.places
    attempts: list[Columns] = []
    matrices = _Matrices()
    room, without = most_cells, 0
    for (key, number), tried, cells in _tried(run, pods, most_cells):
        same_name = pods_of_name.get(key, ())
        if number >= len(same_name):
            continue
        attempt = _attempt(tried, same_name[number], places[tried.major])
        if cells is not None and len(cells.nodes) <= room:
            room -= len(cells.nodes)
            attempt["cells"] = matrices.columns(cells)
        elif cells is not None or tried.visited:
            without += 1
        attempts.append(attempt)
    said = []
    if without:
        said.append(f"Verdicts and scores of {without:,} attempts are not in this page; seatrial explain shows them.")
    if pods is None and (beyond := len(run.histories.attempts) - ATTEMPTS) > 0:
        said.append(f"{beyond:,} later attempts are not in this page; seatrial explain shows them.")
    return attempts, [list(verdict) for verdict in matrices.verdicts], said


def _tried(run: Run, pods: Sequence[Which] | None, most_cells: int) -> Iterator[Tried]:
    if pods is None:
        return run.attempts_with_arrays(None, ATTEMPTS, most_cells)
    wanted = list(dict.fromkeys(pods))[:ATTEMPTS]
    found = {tried[0]: tried for tried in run.attempts_with_arrays(wanted, ATTEMPTS, most_cells)}
    return (found[pod] for pod in wanted if pod in found)


def _pods_of_name(run: Run) -> dict[str, list[int]]:
    """The places of the pods that had each name in turn."""
    places: dict[str, list[int]] = {}
    for place, pod in enumerate(run.pods):
        places.setdefault(pod.key, []).append(place)
    return places


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
        "reasons": tuple(tried.reasons.items()),
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
    return ", ".join(f"{plugin} left {len(nodes)} node{'s' * (len(nodes) != 1)}" for plugin, nodes in sets.items())


class _Matrices:
    """Verdicts and scores of attempts as columns."""

    def __init__(self) -> None:
        self.verdicts: dict[tuple[str, ...], int] = {}
        """The number of each verdict, in the order of the page."""
        self._lists: dict[tuple[str, ...], Any] = {}

    def columns(self, cells: CellArrays) -> Columns:
        """The matrix of an attempt."""
        return {
            "nodes": self._listed(cells.nodes),
            "verdicts": self._numbered(cells) if cells.verdicts.any() else cells.verdicts,
            "feasible": self._listed(cells.feasible),
            "plugins": cells.scorers,
            "weights": [weight or 0 for weight in cells.weights],
            "raw": cells.raw,
            "normalized": cells.normalized,
            "total": cells.total if len(cells.total) else (0,) * len(cells.feasible),
        }

    def _listed(self, names: tuple[str, ...]) -> Any:
        """Names that many attempts list are encoded once."""
        found = self._lists.get(names)
        if found is None:
            found = self._lists[names] = encoded_part(names)
        return found

    def _numbered(self, cells: CellArrays) -> list[int]:
        given, numbers = cells.verdicts.tolist(), {0: 0}
        for verdict in dict.fromkeys(given):
            if verdict:
                said = tuple(map(str, cells.said[verdict - 1]))
                numbers[verdict] = 1 + self.verdicts.setdefault(said, len(self.verdicts))
        return [numbers[verdict] for verdict in given]
