"""Defers long work of a request, so that it does not block the thread that serves all requests.

Inside `short_turns` such work is not done where it is met: Deferred is raised with the work, its caller does it on
another thread and makes the request again, and this time the result is there. Elsewhere (a run on the command line)
the work is done at once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from seatrial.model.documents import Document, encode
from seatrial.model.errors import StatusError

T = TypeVar("T")
LARGE = 64 * 1024
"""Bytes of a body from which reading and checking it is long work."""


class Deferred(Exception):
    """Not done yet: call `work` on another thread, then try again. Nothing has been written."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__("work for another thread")
        self.work = work


class Awaited(Deferred):
    """Work that waits for another process, which may itself wait for this server: it has a thread of its own."""


@dataclass(slots=True)
class Turn:
    """One request: how large its body is, and the results of its long work so far."""

    size: int = 0
    known: dict[tuple[str, bytes], Any] = field(default_factory=dict)


_turn: ContextVar[Turn | None] = ContextVar("turn", default=None)


@contextmanager
def short_turns(turn: Turn) -> Iterator[None]:
    """Inside, long work is deferred."""
    token = _turn.set(turn)
    try:
        yield
    finally:
        _turn.reset(token)


@contextmanager
def long_turn() -> Iterator[None]:
    """Inside, everything is done at once: for a request that writes many objects and cannot be made again."""
    token = _turn.set(None)
    try:
        yield
    finally:
        _turn.reset(token)


def defers() -> bool:
    """Whether long work is to be deferred here."""
    return _turn.get() is not None


def large(what: str, key: Callable[[], bytes], work: Callable[[], T]) -> T:
    """The result of work that takes long for a large body; `key` identifies its inputs."""
    turn = _turn.get()
    if turn is None or turn.size < LARGE:
        return work()
    name = (what, key())
    if name not in turn.known:
        raise Deferred(lambda: _keep(turn, name, work))
    found = turn.known[name]
    if isinstance(found, StatusError):
        raise found
    result: T = found
    return result


def elsewhere(what: str, key: bytes, work: Callable[[], T]) -> T:
    """The result of work that waits for another process, for a body of any size; `key` identifies its inputs."""
    turn = _turn.get()
    if turn is None:
        return work()
    name = (what, key)
    if name not in turn.known:
        raise Awaited(lambda: _keep(turn, name, work))
    result: T = turn.known[name]
    return result


def _keep(turn: Turn, name: tuple[str, bytes], work: Callable[[], Any]) -> None:
    try:
        turn.known[name] = work()
    except StatusError as error:
        turn.known[name] = error


def meaning(*documents: Document | None) -> bytes:
    """Objects without what differs each time the same object is made: only the name is kept of the metadata."""
    parts = []
    for each in documents:
        metadata = (each or {}).get("metadata") or {}
        kept = {key: value for key, value in metadata.items() if key not in ("uid", "creationTimestamp")}
        parts.append({**(each or {}), "metadata": {**kept, "managedFields": None}})
    return encode(parts)
