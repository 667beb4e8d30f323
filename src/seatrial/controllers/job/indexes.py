"""Completion indexes of a Job: sets of numbers written as "0,2-5,9"."""

from collections.abc import Iterable

from seatrial.controllers.framework.pod_row import PodRow
from seatrial.model.integers import int64_of


def read_indexes(text: str, completions: int) -> set[int]:
    """The indexes below `completions` that a text like "0,2-5" names."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), min(int(last or first), completions - 1) + 1))
    return found


def write_indexes(indexes: Iterable[int]) -> str:
    """The shortest text for these indexes; two neighbours stay apart by a comma, as upstream writes them."""
    parts: list[str] = []
    run: list[int] = []
    for index in [*sorted(indexes), None]:
        if run and index != run[-1] + 1:
            parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}{',' if len(run) == 2 else '-'}{run[-1]}")
            run = []
        if index is not None:
            run.append(index)
    return ",".join(parts)


def index_of(row: PodRow) -> int | None:
    """The completion index of a pod."""
    index = int64_of(row.annotations.completion_index, -1)
    return index if index >= 0 else None


def failures_of(row: PodRow) -> tuple[int, int]:
    """Counted and ignored failures of the index before this pod."""
    counted = row.annotations.failure_count
    ignored = row.annotations.ignored_failure_count
    return int64_of(counted), int64_of(ignored)
