"""Keeps the ages of a snapshot's objects: its times are moved so that the latest of them is now.

A scenario begins in 2030, and a server may start long after the snapshot was taken. Without this a Job would be over
its deadline, a finished one be deleted for its age, and a CronJob make up for the years between.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.times import MINUTE, SECOND, parse_time, to_micro_time, to_time

PAST = frozenset(
    {
        "acquireTime",
        "completionTime",
        "creationTimestamp",
        "finishedAt",
        "lastHeartbeatTime",
        "lastProbeTime",
        "lastScaleTime",
        "lastScheduleTime",
        "lastSuccessfulTime",
        "lastTransitionTime",
        "lastUpdateTime",
        "renewTime",
        "startTime",
        "startedAt",
        "timeAdded",
    }
)
"""Fields that hold times at which something has happened."""
MOVED = PAST | {"deletionTimestamp"}
SAME = MINUTE
"""A snapshot that was taken less than this before now keeps its times."""


def at_present(documents: Sequence[Document], now: int, taken_at: int | None = None) -> list[Document]:
    """The objects with their times moved by as much as has passed since the snapshot was taken.

    Where `taken_at` is not known it is the latest time in the snapshot.
    """
    if taken_at is None:
        taken_at = max((time for document in documents for time in _times(document)), default=None)
    if taken_at is None or 0 <= now - taken_at < SAME:
        return list(documents)
    shift = (now // SECOND - taken_at // SECOND) * SECOND
    return [_moved(document, shift) for document in documents]


def _times(document: Document) -> Iterator[int]:
    for part in _parts(document).values():
        yield from _times_in(part)


def _times_in(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in PAST and (time := _read(item)) is not None:
                yield time
            elif isinstance(item, dict | list):
                yield from _times_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _times_in(item)


def _moved(document: Document, shift: int) -> Document:
    return {**document, **{key: _moved_in(part, shift) for key, part in _parts(document).items()}}


def _moved_in(value: Any, shift: int) -> Any:
    if isinstance(value, dict):
        return {key: _move(item, shift) if key in MOVED else _moved_in(item, shift) for key, item in value.items()}
    if isinstance(value, list):
        return [_moved_in(item, shift) for item in value]
    return value


def _move(value: Any, shift: int) -> Any:
    time = _read(value)
    if time is None:
        return value
    return to_micro_time(time + shift) if "." in value else to_time(time + shift)


def _parts(document: Document) -> dict[str, Any]:
    """The parts of an object that hold times: a template's are not those of an object."""
    found: dict[str, Any] = {key: document[key] for key in ("metadata", "status") if key in document}
    if document.get("kind") == "Node" and "spec" in document:
        found["spec"] = document["spec"]
    return found


def _read(value: Any) -> int | None:
    if not isinstance(value, str):
        return None
    try:
        return parse_time(value)
    except (ValueError, OverflowError):
        return None
