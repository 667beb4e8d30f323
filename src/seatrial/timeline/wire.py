"""Both wire shapes of a timeline entry (KEP-140, first and second version), joined from pieces that are encoded.

The first version has integer steps and says in `operation` which field is used; the second has {major, minor}.
Objects are spliced in as the store keeps them, so an entry costs no decoding.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from seatrial.model.documents import encode

NULL = b"null"
PASSED = "passed"
"""The answer of a filter that has nothing against a node."""
NOT_IN_TIMELINE = "notInTimeline"
"""The field of a Scenario's status that counts what no entry shows."""
STEPS_REMEMBERED = 1024

OPERATIONS = ("Create", "Patch", "Delete", "Done", "PodScheduled", "PodUnscheduled", "PodPreempted")
Entry = tuple[bytes, ...]
"""An encoded entry in pieces, a comma first. Most of them are kept elsewhere, too, so that only a page is joined."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One of the two wire shapes."""

    minor_steps: bool

    def step(self, major: int, minor: int) -> bytes:
        return _step(major, minor) if self.minor_steps else b"%d" % major

    def entry(self, id: str, major: int, minor: int, operation: str, *body: bytes) -> Entry:
        """One entry; `operation` is one of OPERATIONS.

        The body comes in pieces.
        """
        said = _SAID[operation, self.minor_steps]
        return b',{"id":', encode(id), b',"step":', self.step(major, minor), said, *body, b"}"


@lru_cache(STEPS_REMEMBERED)
def _step(major: int, minor: int) -> bytes:
    return b'{"major":%d,"minor":%d}' % (major, minor)


def _said(operation: str, minor_steps: bool) -> bytes:
    field = (operation[0].lower() + operation[1:]).encode()
    return b',"%s":' % field if minor_steps else b',"operation":"%s","%s":' % (operation.encode(), field)


_SAID = {(each, minor_steps): _said(each, minor_steps) for each in OPERATIONS for minor_steps in (False, True)}
"""The bytes between the step of an entry and its body, by operation and shape."""


def operated(operation: bytes, result: bytes | None = None) -> tuple[bytes, ...]:
    """The body of create, patch (with the resource afterwards), delete and done (without), in pieces."""
    if result is None:
        return b'{"operation":', operation, b"}"
    return b'{"operation":', operation, b',"result":', result, b"}"


_FACTS = b',"boundTo":%b,"preemptedBy":%b,"createdAt":%b,"boundAt":%b,"preemptedAt":%b,"scheduleResult":['


def pod_result(
    pod: bytes,
    bound_to: str | None,
    preempted_by: str | None,
    created_at: bytes,
    bound_at: bytes | None,
    preempted_at: bytes | None,
    attempts: bytes,
) -> tuple[bytes, ...]:
    """The body of an entry that shows what became of a pod up to now, in pieces; steps and attempts are encoded."""
    facts = _FACTS % (
        NULL if bound_to is None else encode(bound_to),
        NULL if preempted_by is None else encode(preempted_by),
        created_at,
        bound_at or NULL,
        preempted_at or NULL,
    )
    return b'{"pod":', pod, facts, attempts, b"]}"


def attempt(
    step: bytes, candidates: bytes | None = None, filtered: bytes | None = None, results: bytes | None = None
) -> bytes:
    """One scheduling attempt; the step alone where the cells are not kept."""
    if candidates is None or filtered is None or results is None:
        return b'{"step":%s}' % step
    return b'{"step":%s,"allCandidateNodes":%s,"allFilteredNodes":%s,"pluginResults":%s}' % (
        step,
        candidates,
        filtered,
        results,
    )


def attempts_until(step: bytes, number: int) -> bytes:
    """Earlier attempts of a pod, of which only their number and the step of the last one are given."""
    return b'{"step":%s,"attempts":%d}' % (step, number)


def page_of(step: int, entries: Iterable[Entry]) -> list[bytes]:
    """The member of the timeline that holds one step, in pieces."""
    return [b'"%d":[' % step, *listed(entries), b"]"]


def listed(entries: Iterable[Entry]) -> list[bytes]:
    """The pieces of entries, the first without its comma."""
    pieces = list(chain.from_iterable(entries))
    pieces[:1] = [piece[1:] for piece in pieces[:1]]
    return pieces
