"""Selects the stages whose conditions an object meets, decoding only the fields that the selectors read.

Most conditions read plain paths. Their result depends on the values at these paths only, so it is cached for the next
object with equal values; the other conditions are evaluated only for the stages that remain.
"""

from collections.abc import Sequence

from seatrial.controllers.stages.field_reader import ABSENT, Fields, Seen, Values
from seatrial.controllers.stages.selector import Condition
from seatrial.controllers.stages.stage import Stage
from seatrial.store import Memo, Stored

REMEMBERED = 4096
"""How many different answers are kept."""
NOTHING = (ABSENT, b"null")
Key = tuple[bytes | bool, ...]


class SelectorCache:
    """The stages of one kind."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = tuple(stages)
        plain = [condition for stage in stages for condition in stage.selector.conditions if condition.paths]
        self._fields = Fields(path for condition in plain for path in condition.paths) if plain else None
        self._presences = _presences(self._fields, plain) if self._fields is not None else ()
        self._others = {stage: [c.test for c in stage.selector.conditions if not c.paths] for stage in stages}
        self._remembered: Memo[Key, tuple[Stage, ...]] = Memo(REMEMBERED)
        self._known: Memo[tuple[Values | None, bool, bytes], tuple[Stage, ...]] = Memo(REMEMBERED)
        """By the values outside of the status, presence of a node and status, where no condition reads more."""
        self._is_shared = self._fields is not None and self._fields.are_shared(self._presences)

    def possible(self, stored: Stored) -> tuple[Stage, ...]:
        """The stages whose plain conditions the object meets."""
        if stored.shape is None or self._fields is None or not self._is_shared:
            return self._told(Seen(stored))
        key = self._fields.outside(stored), stored.node_name != "", stored.encoded_status
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._told(Seen(stored))
        return found

    def _told(self, seen: Seen) -> tuple[Stage, ...]:
        found = self._fields.read(seen.stored) if self._fields is not None else None
        if found is None:
            return self.stages
        key: list[bytes | bool] = [*found]
        for place in self._presences:
            key[place] = found[place] not in NOTHING
        known = self._remembered.get(tuple(key))
        if known is None:
            known = tuple(stage for stage in self.stages if _meets_plain(seen, stage))
            self._remembered[tuple(key)] = known
        return known

    def matching(self, seen: Seen) -> list[Stage]:
        """The stages that the object matches."""
        possible = self.possible(seen.stored)
        if possible is self.stages:
            return [stage for stage in possible if stage.selector.matches(seen.document)]
        others = self._others
        return [stage for stage in possible if not others[stage] or all(test(seen.document) for test in others[stage])]


def _presences(fields: Fields, conditions: Sequence[Condition]) -> tuple[int, ...]:
    """The positions of the fields of which only the presence is tested, not the value."""
    asked = {path for condition in conditions if not condition.only_presence for path in condition.paths}
    inner = {path for condition in conditions for path in condition.paths} - set(fields.paths)
    return tuple(
        place
        for place, path in enumerate(fields.paths)
        if path not in asked and not any(other[: len(path)] == path for other in inner)
    )


def _meets_plain(seen: Seen, stage: Stage) -> bool:
    conditions = stage.selector.conditions
    return all(condition.test(seen.document) for condition in conditions if condition.paths)
