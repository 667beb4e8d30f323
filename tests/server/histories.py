"""Checks what writers, readers and watchers of one kind observed against the order of revisions that the server claims.

All watchers together give the history: one change per revision. It must explain every answer: each watcher sees each
change after the revision that it began with, in order, once and equal to what the others see; each acknowledged write
is in it, a refused one is not; a write with a resourceVersion follows exactly that revision; a read shows a state that
is not older than what was acknowledged before the read began.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

ABSENT = ""
Verb = Literal["create", "update", "patch", "delete", "read"]


class Seen(NamedTuple):
    """One event of a watch."""

    type: str
    key: str
    value: str


@dataclass(slots=True)
class Call:
    """One request about a key, with the times at which it began and was answered."""

    verb: Verb
    key: str
    value: str
    """What is written, or was read; ABSENT for a deletion or an object that is not there."""
    began: float
    ended: float = 0.0
    outcome: Literal["ok", "refused", "unknown"] = "unknown"
    revision: int = 0
    """That of the answer."""
    expected: int = 0
    """The revision that an update or a deletion replaces."""


@dataclass(slots=True)
class Watch:
    """What one watcher saw: revisions, in spans that each begin with a list."""

    spans: list[tuple[int, list[int]]] = field(default_factory=list)

    def has_seen(self, revision: int) -> bool:
        """Whether it has seen all changes up to a revision."""
        return any(found and found[-1] >= revision for _, found in self.spans[-1:])


class History:
    """The changes of all keys by revision, as watchers see them."""

    def __init__(self) -> None:
        self.changes: dict[int, Seen] = {}
        self.faults: list[str] = []

    def see(self, revision: int, seen: Seen) -> None:
        """Take in an event; two watchers must see the same."""
        known = self.changes.setdefault(revision, seen)
        if known != seen:
            self.faults.append(f"revision {revision} is {known} for one watcher and {seen} for another")

    def violations(self, calls: list[Call], watches: list[Watch]) -> Iterator[str]:
        """What the history does not explain."""
        yield from self.faults
        order = sorted(self.changes)
        for number, watch in enumerate(watches):
            for start, found in watch.spans:
                if found != sorted(set(found)):
                    yield f"watcher {number} saw revisions out of order or twice"
                expected = order[bisect_right(order, start) : bisect_right(order, found[-1])] if found else []
                if found != expected:
                    missed = sorted(set(expected) ^ set(found))
                    yield f"watcher {number}, from {start}: {missed[:5]} of {len(missed)} revisions not seen"
        by_key: dict[str, list[int]] = defaultdict(list)
        for revision in order:
            by_key[self.changes[revision].key].append(revision)
        written = {seen.value: revision for revision, seen in self.changes.items() if seen.type != "DELETED"}
        acknowledged: dict[str, list[Call]] = defaultdict(list)
        for call in calls:
            if call.verb == "delete" and call.outcome == "ok":
                # The answer names no revision: it is that of the next change of the key.
                place = bisect_right(by_key[call.key], call.expected)
                call.revision = by_key[call.key][place] if place < len(by_key[call.key]) else 0
            if call.verb != "read" and call.outcome == "ok":
                acknowledged[call.key].append(call)
        for call in calls:
            if call.verb == "read":
                yield from self._judge_read(call, by_key[call.key], acknowledged[call.key])
            else:
                yield from self._judge_write(call, by_key[call.key], written)

    def _judge_write(self, call: Call, revisions: list[int], written: dict[str, int]) -> Iterator[str]:
        if call.outcome == "refused" and call.value in written:
            yield f"{call} was refused and is there"
        if call.outcome != "ok":
            return
        seen = self.changes.get(call.revision)
        if call.verb == "delete":
            if seen is None or (seen.type, seen.key) != ("DELETED", call.key):
                yield f"{call} was acknowledged and is {seen}"
            return
        if seen is None or (seen.key, seen.value) != (call.key, call.value):
            yield f"{call} was acknowledged and is {seen}"
            return
        place = bisect_left(revisions, call.revision)
        before = revisions[place - 1] if place else 0
        existed = bool(before) and self.changes[before].type != "DELETED"
        if call.verb == "create" and existed:
            yield f"{call} created what was there at {before}"
        if call.verb == "update" and before != call.expected:
            yield f"{call} replaced revision {before}"

    def _judge_read(self, call: Call, revisions: list[int], acknowledged: list[Call]) -> Iterator[str]:
        if call.outcome != "ok":
            return
        oldest = max((write.revision for write in acknowledged if write.ended < call.began), default=0)
        if call.value != ABSENT:
            seen = self.changes.get(call.revision)
            if seen is None or seen.value != call.value:
                yield f"{call} shows what was never written: {seen}"
            elif call.revision < oldest:
                yield f"{call} is older than {oldest}, which was acknowledged before"
            return
        states = [self.changes[revision].type for revision in revisions[max(0, bisect_right(revisions, oldest) - 1) :]]
        if states and oldest and "DELETED" not in states:
            yield f"{call} does not see {oldest}, which was acknowledged before"
