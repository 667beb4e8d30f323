"""Classifies the requests of outside controllers: those that read, decide or report, and those a scenario ignores."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from seatrial.model.documents import decode
from seatrial.model.errors import ServerTimeout, TooManyRequests
from seatrial.model.times import to_time
from seatrial.server import Target
from seatrial.server.handlers import is_dry_run
from seatrial.server.messages import Disconnected, Request
from seatrial.timeline import PREFIX
from seatrial.timeline.writes import QUIET_KINDS, QUIET_SUBRESOURCES

HELD_AT_MOST = 2048
HELD_BYTES = 64 * 1024 * 1024
HELD_FOR = 600.0
"""Seconds a request is held at most."""
PODS = ("", "Pod")
_TIMES = re.compile(rb'("last(?:Transition|Probe|Update|Heartbeat)Time":\s*)"[^"]*"')


class Sort(Enum):
    """How the gate treats a request."""

    BESIDE = "beside"
    """Leases and events: always let through."""
    READ = "read"
    REPORT = "report"
    """A status write, or one that only explains: never an operation."""
    OPERATION = "operation"


def sort_of(request: Request, target: Target) -> Sort:
    """What a request is."""
    if target.kind.group_kind in QUIET_KINDS:
        return Sort.BESIDE
    if request.method in ("GET", "HEAD") or is_dry_run(request):
        return Sort.READ
    if target.subresource in QUIET_SUBRESOURCES or is_explanation(request, target):
        return Sort.REPORT
    return Sort.OPERATION


def is_explanation(request: Request, target: Target) -> bool:
    """Whether a patch writes the result annotations of kube-scheduler-simulator and nothing else."""
    if request.method != "PATCH" or target.kind.group_kind != PODS or target.subresource:
        return False
    if PREFIX.encode() not in request.body:
        return False
    try:
        patch = decode(request.body)
    except ValueError:
        return False
    metadata = patch.get("metadata") if isinstance(patch, dict) and patch.keys() == {"metadata"} else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(annotations, dict) or not metadata or metadata.keys() - {"annotations", "uid"}:
        return False
    return all(key.startswith(PREFIX) for key in annotations)


def in_virtual_time(request: Request, now: int) -> None:
    """Give the times that a status patch sets the time of the step; the program's own clock is real."""
    if request.method == "PATCH" and b'Time"' in request.body:
        request.body = _TIMES.sub(rb'\1"%s"' % to_time(now).encode(), request.body)


@dataclass(eq=False, slots=True)
class Held:
    """A request that waits at the gate."""

    request: Request
    target: Target
    sort: Sort
    arrived: float
    is_waiting: bool = True
    passed: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def pod(self) -> tuple[str, str] | None:
        """The pod that it gives a verdict on; None for anything else."""
        target = self.target
        if target.kind.group_kind != PODS or not target.name:
            return None
        is_verdict = target.subresource == "binding" or (
            target.subresource == "status" and b"PodScheduled" in self.request.body
        )
        return (target.namespace, target.name) if is_verdict else None

    def let_pass(self) -> None:
        if not self.passed.done():
            self.passed.set_result(None)


class HeldRequests:
    """The requests that wait at a gate, in the order of their arrival; bounded in number, bytes and time."""

    def __init__(self) -> None:
        self._held: dict[int, Held] = {}
        self._bytes = 0

    def __iter__(self) -> Iterator[Held]:
        return iter(list(self._held.values()))

    def __len__(self) -> int:
        return len(self._held)

    def add(self, held: Held) -> None:
        """Take a request in; TooManyRequests where there is no room."""
        size = len(held.request.body)
        if len(self._held) >= HELD_AT_MOST or self._bytes + size > HELD_BYTES:
            raise TooManyRequests("too many requests wait for the controller's turn", retry_after=1)
        self._held[id(held)] = held
        self._bytes += size

    async def wait(self, held: Held) -> None:
        """Wait until a request that was added may pass; Disconnected where its client has gone away."""
        gone = asyncio.ensure_future(held.request.gone()) if held.request.gone is not None else None
        try:
            async with asyncio.timeout(HELD_FOR):
                await asyncio.wait([held.passed, *([gone] if gone else [])], return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise ServerTimeout("the controller's turn did not come in time") from None
        finally:
            held.is_waiting = False
            del self._held[id(held)]
            self._bytes -= len(held.request.body)
            if gone is not None:
                gone.cancel()
        if not held.passed.done():
            raise Disconnected
