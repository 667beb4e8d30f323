"""Defers long work of a request, so that it does not block the thread that serves all requests.

Inside `short_turns` such work is not done where it is met: Deferred is raised with the work, its caller does it
elsewhere and makes the request again, and this time the result is there. Work on large bodies is done on another
thread; calls of other programs have threads of their own; expressions and patterns that users have written are
evaluated at once up to an allowance for the whole request, and beyond it in another process, which is ended when it
takes too long. Outside (a run on the command line) the work is done at once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from typing import Any, TypeVar

from seatrial.model.cel import Allowance, TooMuchWork, charge_before, charge_to
from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import StatusError, TooLarge

T = TypeVar("T")
LARGE = 16 * 1024
"""Bytes of a body from which reading and checking it is long work: defaults can make it fifty times as large."""
LARGEST_OBJECT = 3 * 1024 * 1024
"""Bytes of an object with its defaults that a request may store; it bounds the work on the thread that serves all
requests. Upstream, etcd refuses 1.5 MiB of protobuf, and no client can send more JSON back."""
MOST_VALUES = 10_000
"""Values (fields, items, scalars) of an object that the scheduler and controllers take apart on that thread. A pod of
100 containers with 20 variables each has 8,000."""
UNLIMITED = "simulation.kube-scheduler-simulator.x-k8s.io"
"""The group whose objects may be as large as the server allows: a Scenario carries a cluster."""
BYTES_PER_VALUE = 128
"""A Scenario may have one JSON value for each 128 bytes of the largest body: values are what takes time."""
DATA = frozenset(
    {
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("v1", "Endpoints"),
        ("discovery.k8s.io/v1", "EndpointSlice"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("rbac.authorization.k8s.io/v1", "ClusterRole"),
        ("rbac.authorization.k8s.io/v1", "Role"),
    }
)
"""Built-in kinds that no controller takes apart: their bytes alone are limited, as those of custom resources are."""


class Deferred(Exception):
    """Not done yet: call `work` on another thread, then try again. Nothing has been written."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__("work for another thread")
        self.work = work


class Awaited(Deferred):
    """Work that waits for a program of the user's, which may itself wait for this server.

    `pool` names the programs that share threads.
    """

    def __init__(self, pool: str, work: Callable[[], None]) -> None:
        super().__init__(work)
        self.pool = pool


class Isolated(Deferred):
    """Work that cannot be interrupted: `job`, which can be pickled, is for a process that can be ended.

    `take` is called with its result, or with the error for a job that was ended.
    """

    def __init__(self, job: Callable[[], Any], take: Callable[[Any], None]) -> None:
        super().__init__(lambda: take(job()))
        self.job, self.take = job, take


@dataclass(slots=True)
class Turn:
    """One request: how large its body is, and the results of its long work so far."""

    size: int = 0
    most_values: float = inf
    """Values of the spec of a Scenario that the request may store."""
    allowance: Allowance = field(default_factory=Allowance)
    """What the request may spend on expressions and patterns where it is met."""
    known: dict[tuple[str, bytes], Any] = field(default_factory=dict)
    made: "dict[tuple[str, bytes], _Made]" = field(default_factory=dict)
    taken: list[Document] = field(default_factory=list)
    """Objects that are no longer used when the request is over; to free a large one takes long, too."""

    def release(self) -> None:
        """Free everything, one object after the other."""
        self.known.clear()
        while self.made:
            self.made.popitem()
        while self.taken:
            self.taken.pop()


@dataclass(slots=True)
class _Made:
    """An object that long work has made: encoded, and decoded ahead for the next attempt of the request."""

    data: bytes
    warnings: list[str]
    spare: Document | None = None

    def take(self) -> Document:
        """The object; the caller may change it."""
        document, self.spare = self.spare, None
        return decode(self.data) if document is None else document


_turn: ContextVar[Turn | None] = ContextVar("turn", default=None)
_request: ContextVar[Turn | None] = ContextVar("request", default=None)
"""The turn also where its long work is done."""


class short_turns:
    """Inside, long work is deferred; each request passes here, and a generator would take some microseconds more."""

    __slots__ = ("_tokens", "_turn")

    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    def __enter__(self) -> None:
        turn = self._turn
        self._tokens = _turn.set(turn), _request.set(turn), charge_to(turn.allowance)

    def __exit__(self, *error: object) -> None:
        turn, request, charged = self._tokens
        charge_before(charged)
        _request.reset(request)
        _turn.reset(turn)


@contextmanager
def _charged_to(turn: Turn) -> Iterator[None]:
    token, charged = _request.set(turn), charge_to(turn.allowance)
    try:
        yield
    finally:
        charge_before(charged)
        _request.reset(token)


@contextmanager
def long_turn() -> Iterator[None]:
    """Inside, everything is done at once: for a request that writes many objects and cannot be made again."""
    tokens = _turn.set(None), _request.set(None)
    try:
        yield
    finally:
        _turn.reset(tokens[0])
        _request.reset(tokens[1])


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


def large_object(
    what: str,
    key: Callable[[], bytes],
    work: Callable[[list[str] | None], Document],
    warnings: list[str] | None,
    check: Callable[[Document, float], None] = lambda document, most_values: None,
) -> Document:
    """The object that `work` makes, which takes long for a large body; it is kept encoded, since its caller changes it.

    `work` adds warnings to the list that it is called with, if any; `check` is called with a large object.
    """
    turn = _turn.get()
    if turn is None or turn.size < LARGE:
        return work(warnings)

    def make() -> _Made:
        found: list[str] = []
        document = work(found)
        check(document, turn.most_values)
        return _Made(encode(document), found)

    name = (what, key())
    made = turn.made.get(name)
    if made is None:
        made = turn.made[name] = large(what, lambda: name[1], make)
    if warnings is not None:
        warnings.extend(made.warnings)
    document = made.take()
    turn.taken.append(document)
    return document


def check_size(document: Document, most_values: float, *, custom: bool = False) -> None:
    """TooLarge where an object has more than a request may store; `most_values` is the limit of a Scenario."""
    api_version = str(document.get("apiVersion"))
    if api_version.startswith(UNLIMITED):
        if measure(document.get("spec"), inf, most_values) is None:
            raise _too_large(f"has more than {most_values} values in its spec (see --max-request-bytes)")
        return
    if not custom and (api_version, document.get("kind")) not in DATA:
        metadata = {key: value for key, value in (document.get("metadata") or {}).items() if key != "managedFields"}
        if measure({**document, "metadata": metadata}, inf, MOST_VALUES) is None:
            raise _too_large(f"has more than {MOST_VALUES} values")
    # The encoded sets of fields in it are counted only by encoding them.
    if is_larger(document, LARGEST_OBJECT) or len(encode(document)) > LARGEST_OBJECT:
        raise _too_large(f"exceeds {LARGEST_OBJECT} bytes")


def _too_large(why: str) -> TooLarge:
    return TooLarge(f"Request entity too large: with its defaults the object {why}")


def is_larger(document: Any, limit: int) -> bool:
    """Whether a document takes more bytes of JSON; unlike encoding it, this lets other threads work meanwhile."""
    return measure(document, limit) is None


def measure(document: Any, most_bytes: float, most_values: float = inf) -> tuple[int, int] | None:
    """The bytes of JSON (by an estimate) and the values of a document; None where it has more."""
    size, values, rest = 0, 0, [document]
    while rest:
        value = rest.pop()
        values += 1
        if isinstance(value, dict):
            size += 2 + sum(len(key) + 4 for key in value)
            rest.extend(value.values())
        elif isinstance(value, list):
            size += 2 + len(value)
            rest.extend(value)
        else:
            size += len(value) + 2 if isinstance(value, str) else 4
        if size > most_bytes or values > most_values:
            return None
    return size, values


def weigh(size: int) -> None:
    """Make the request a large one where the object that it changes is."""
    turn = _turn.get()
    if turn is not None:
        turn.size = max(turn.size, size)


def isolated(what: str, key: Callable[[], bytes], here: Callable[[], T], job: Callable[[], Callable[[], T]]) -> T:
    """The result of `here`, or of a job in another process where `here` exceeds the allowance.

    `key` identifies the inputs; `job` makes a job that can be pickled and means the same as `here`.
    """
    turn = _request.get()
    if turn is None:
        return here()
    if turn.known and (name := (what, key())) in turn.known:
        found = turn.known[name]
        if isinstance(found, StatusError):
            raise found
        result: T = found
        return result
    try:
        return here()
    except TooMuchWork:
        name = (what, key())
    raise Isolated(job(), lambda result: turn.known.__setitem__(name, result))


def elsewhere(what: str, key: bytes, work: Callable[[], T]) -> T:
    """The result of a call of another program, for a body of any size; `what` is its pool, `key` its inputs."""
    turn = _turn.get()
    if turn is None:
        return work()
    name = (what, key)
    if name not in turn.known:
        raise Awaited(what, lambda: _keep(turn, name, work))
    result: T | StatusError = turn.known[name]
    if isinstance(result, StatusError):
        raise result
    return result


def _keep(turn: Turn, name: tuple[str, bytes], work: Callable[[], Any]) -> None:
    try:
        with _charged_to(turn):
            turn.known[name] = work()
    except TooMuchWork:
        raise
    except StatusError as error:
        turn.known[name] = error
    for made in [*turn.made.values(), turn.known[name]]:
        if isinstance(made, _Made) and made.spare is None:
            made.spare = decode(made.data)


def meaning(document: Document) -> bytes:
    """An object without uid, creation time and managedFields, which differ each time the same object is made."""
    metadata = document.get("metadata") or {}
    kept = {key: value for key, value in metadata.items() if key not in ("uid", "creationTimestamp")}
    return encode({**document, "metadata": {**kept, "managedFields": None}})


def seen(*documents: Document | None) -> bytes:
    """What rules and policies can read of objects: one that is made again differs in uid and time, or in its name."""
    parts = []
    for document in documents:
        metadata = (document or {}).get("metadata") or {}
        left_out = {"uid", "creationTimestamp", "managedFields", *(("name",) if "generateName" in metadata else ())}
        kept = {key: value for key, value in metadata.items() if key not in left_out}
        parts.append({**(document or {}), "metadata": kept})
    return encode(parts)
