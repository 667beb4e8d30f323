"""The attempts of a pod as the items of a scheduleResult.

Most pending pods came with others and were tried as often as they: a list is never changed, so that pods with equal
attempts share one, which is shortened and encoded once. What was made of a list is known until its step ends: lists
that knew it themselves would keep all later ones of other pods in memory.
"""

from functools import lru_cache
from typing import NamedTuple

from seatrial.timeline.wire import attempt, attempts_until

STEPS_REMEMBERED = 1024
EARLIER_LISTED = 8
"""How many attempts of earlier steps an entry lists; of those before them it gives the number."""


class Tried(NamedTuple):
    """An item of a scheduleResult: one attempt, or the number of several earlier ones."""

    step: bytes
    item: bytes
    number: int = 1


@lru_cache(STEPS_REMEMBERED)
def tried_in(step: bytes) -> Tried:
    """An attempt of which the step alone is given; those of one step are one object."""
    return Tried(step, attempt(step))


class AttemptList:
    """Some attempts in order, which are `number` in all; `short` of the items give no more than their step."""

    __slots__ = ("_encoded", "_items", "length", "number", "short")

    def __init__(self, items: list[Tried], number: int, short: int = 0) -> None:
        """The items go on in longer lists; those of this one are the first `length`."""
        self._items, self.length = items, len(items)
        self.number, self.short = number, short
        self._encoded: bytes | None = None

    def add(self, tried: Tried) -> "AttemptList":
        """The list with one more attempt."""
        # That without attempts is one for all runs, and keeps nothing of them.
        items = self._items if 0 < self.length == len(self._items) else self.items()
        items.append(tried)
        return AttemptList(items, self.number + tried.number, self.short)

    def items(self) -> list[Tried]:
        return self._items[: self.length]

    def encoded(self) -> bytes:
        """The items of the JSON array."""
        if self._encoded is None:
            self._encoded = b",".join([tried.item for tried in self.items()])
        return self._encoded

    def shortened(self, known: int) -> "AttemptList":
        """The list whose first `known` items, which an entry has listed whole, are reduced.

        They give no more than their steps, and all but the latest of them no more than their number.
        """
        items = self.items()
        for place in range(self.short, known):
            if items[place].number == 1:
                items[place] = tried_in(items[place].step)
        if known > EARLIER_LISTED:
            many = items[: known - EARLIER_LISTED]
            number, step = sum([tried.number for tried in many]), many[-1].step
            earlier = Tried(step, attempts_until(step, number), number) if number > 1 else tried_in(step)
            items[: len(many)] = [earlier]
            known = EARLIER_LISTED + 1
        return AttemptList(items, self.number, known)


NO_ATTEMPTS = AttemptList([], 0)


class AttemptLists:
    """The lists that were made of others in this step, so that pods with equal attempts get the same one."""

    def __init__(self) -> None:
        self._longer: dict[AttemptList, tuple[Tried, AttemptList]] = {}
        self._shortened: dict[AttemptList, tuple[int, AttemptList]] = {}

    def add(self, attempts: AttemptList, tried: Tried) -> AttemptList:
        """A list with one more attempt."""
        latest = self._longer.get(attempts)
        if latest is None or latest[0] is not tried:
            latest = self._longer[attempts] = tried, attempts.add(tried)
        return latest[1]

    def shortened(self, attempts: AttemptList, known: int) -> AttemptList:
        """A list whose first `known` items are reduced."""
        latest = self._shortened.get(attempts)
        if latest is None or latest[0] != known:
            latest = self._shortened[attempts] = known, attempts.shortened(known)
        return latest[1]

    def forget(self) -> None:
        """The step ends: attempts of the next one are others."""
        self._longer.clear()
        self._shortened.clear()
