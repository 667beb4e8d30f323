"""Pods per node by group: how many pods a selector picks, how many carry an affinity term.

Both are kept up to date pod by pod, so that a cycle reads them instead of walking all pods. A count comes into being
when a plugin first asks for it and is made from the shapes in use, of which there are few.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_columns import LabelColumn
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.cache.pod_terms import NO_TERMS, AffinityTerm, PodMatcher

MOST_MATCHERS = 1024
MOST_RESTING = 256

Counted = tuple[PodMatcher, bool]
"""A matcher, and whether pods that are being deleted are left out."""

Anchor = tuple[str, str] | None

Carried = tuple[str, int, AffinityTerm]
"""Kind of term (see `KINDS`), weight (0 if required) and the term itself."""

KINDS = ("required", "required_anti", "preferred", "preferred_anti")


class PodCount:
    """Pods of one group per row of the node table, and per value of the labels by which they were asked for."""

    __slots__ = ("__weakref__", "_domains", "rows", "total")

    def __init__(self, rows: int) -> None:
        self.rows: NDArray[np.int32] = np.zeros(rows, np.int32)
        self.total = 0
        self._domains: dict[str, _Domains] = {}

    def add(self, row: int, number: int) -> None:
        """So many pods have come to a row, or left it."""
        self.rows[row] += number
        self.total += number
        for domains in self._domains.values():
            value = domains.column.ids.item(row)
            if 0 <= value < len(domains.sums) - 1:
                domains.sums[value] += number
                domains.number += number

    def by_domain(self, column: LabelColumn, version: int) -> NDArray[np.int64]:
        """The count added up by the values of a label, by the value's number; kept up to date pod by pod.

        There is one place more than there are values: nodes without the label look there, and it is 0. `version` is
        that of the nodes: their labels decide what is added to what. The array must not be changed.
        """
        return self._added_up(column, version).sums

    def number_in_domains(self, column: LabelColumn, version: int) -> int:
        """The sum of `by_domain`: pods on nodes without the label are not in it."""
        return self._added_up(column, version).number

    def _added_up(self, column: LabelColumn, version: int) -> "_Domains":
        known = self._domains.get(column.key)
        if known is None or known.version != version:
            rows = np.flatnonzero(self.rows)
            sums = np.bincount(column.ids[rows] + 1, self.rows[rows], len(column.values) + 1).astype(np.int64)
            sums = np.concatenate((sums[1:], [0]))
            known = self._domains[column.key] = _Domains(version, column, sums, int(sums.sum()))
        return known

    def grow(self, rows: int) -> None:
        """Makes room for more rows."""
        self.rows = np.concatenate((self.rows, np.zeros(rows - len(self.rows), np.int32)))


@dataclass(slots=True)
class _Domains:
    """A count added up by the values of a label: valid until a node changes."""

    version: int
    column: LabelColumn
    sums: NDArray[np.int64]
    number: int


@dataclass(slots=True)
class _Use:
    """Where the pods of one shape are: row -> number, those being deleted apart; and what they are counted in."""

    staying: dict[int, int] = field(default_factory=dict)
    deleting: dict[int, int] = field(default_factory=dict)
    counted: list[tuple[PodCount, bool]] = field(default_factory=list)
    """with whether pods that are being deleted are left out"""
    carried: tuple[tuple[PodCount, Carried], ...] = ()
    becoming: dict[PodShape, tuple[int, list[PodCount], list[PodCount]]] = field(default_factory=dict)
    """What a pod that gets another shape leaves and what it comes into, with the number of matchers made so far."""


class PodCounts:
    """Numbers of pods per row of the node table."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._uses: dict[PodShape, _Use] = {}
        self._resting: dict[PodShape, None] = {}
        self._counts: dict[Counted, PodCount] = {}
        self._labelled: dict[str, dict[str, dict[PodShape, _Use]]] = {}
        """The shapes in use by the values of each label that was the anchor of a matcher."""
        self._by_anchor: dict[Anchor, dict[Counted, None]] = {}
        """The same keys by a label that all their pods have, since most matchers ask for one."""
        self._terms: WeakValueDictionary[Carried, PodCount] = WeakValueDictionary()
        """The counts of all terms of the shapes in use, with carriers or without."""
        self._carriers: dict[str, dict[Carried, PodCount]] = {kind: {} for kind in KINDS}
        self._made = 0
        """How many matchers were counted so far."""
        self.terms_version = 0
        """Grows when a term gets its first carrier or loses its last, and when the count of a matcher is dropped."""

    def grow(self, rows: int) -> None:
        """Makes room for more rows."""
        for count in (*self._counts.values(), *self._terms.values()):
            count.grow(rows)
        self._rows = rows

    def add(self, pod: PodInfo, row: int) -> None:
        """A pod has come to a row."""
        self._change(pod, row, 1)

    def remove(self, pod: PodInfo, row: int) -> None:
        """A pod has left a row."""
        self._change(pod, row, -1)

    def replace(self, old: PodInfo, new: PodInfo, row: int) -> None:
        """A pod of a row has changed: most often it got some labels, and all but few counts are the same."""
        before, after = self._uses.get(old.shape), self._uses.get(new.shape)
        carries_same = old.shape.spec is new.shape.spec and not old.deleting and not new.deleting
        if before is None or after is None or not after.staying or not carries_same:
            self._change(new, row, 1)
            self._change(old, row, -1)
            return
        left, come = self._difference(before, after, new.shape)
        _add_to(before.staying, row, -1)
        _add_to(after.staying, row, 1)
        for count in left:
            count.add(row, -1)
        for count in come:
            count.add(row, 1)
        if not before.staying and not before.deleting:
            self._rest(old.shape)

    def _difference(self, before: _Use, after: _Use, shape: PodShape) -> tuple[list[PodCount], list[PodCount]]:
        known = before.becoming.get(shape)
        if known is None or known[0] != self._made:
            first, second = ([count for count, _ in use.counted] for use in (before, after))
            left, come = ([c for c in a if c not in b] for a, b in ((first, second), (second, first)))
            known = before.becoming[shape] = self._made, left, come
        return known[1], known[2]

    def matching(self, matcher: PodMatcher, staying_only: bool) -> PodCount:
        """The pods that the matcher picks."""
        key = (matcher, staying_only)
        return self._counts.get(key) or self._count(key)

    def carriers(self, kind: str) -> Mapping[Carried, PodCount]:
        """Every term of a kind that some pod carries, with its carriers; good until `terms_version` grows."""
        return self._carriers[kind]

    def _change(self, pod: PodInfo, row: int, sign: int) -> None:
        use = self._uses.get(pod.shape)
        if use is None:
            use = self._uses[pod.shape] = self._new_use(pod.shape)
            for key, values in self._labelled.items():
                if (value := pod.shape.labels.get(key)) is not None:
                    values.setdefault(value, {})[pod.shape] = use
        elif self._resting:
            self._resting.pop(pod.shape, None)
        _add_to(use.deleting if pod.deleting else use.staying, row, sign)
        for count, staying_only in use.counted:
            if not (staying_only and pod.deleting):
                count.add(row, sign)
        for count, carried in use.carried:
            self._carry(count, carried, row, sign)
        if sign < 0 and not use.staying and not use.deleting:
            self._rest(pod.shape)

    def _rest(self, shape: PodShape) -> None:
        """A shape has no pods any more; what is known of the last ones is kept, since it may have some again soon."""
        self._resting[shape] = None
        if len(self._resting) > MOST_RESTING:
            oldest = next(iter(self._resting))
            del self._resting[oldest], self._uses[oldest]
            for key, values in self._labelled.items():
                if (value := oldest.labels.get(key)) is not None:
                    del values[value][oldest]

    def _new_use(self, shape: PodShape) -> _Use:
        if not self._by_anchor and shape.affinity is NO_TERMS:
            return _Use()
        namespace, labels = shape.namespace, shape.labels
        anchors: list[Anchor] = [None, *labels.items()]
        near = (key for anchor in anchors for key in self._by_anchor.get(anchor, ()))
        return _Use(
            counted=[(self._counts[key], key[1]) for key in near if key[0].matches(namespace, labels)],
            carried=tuple((self._term(carried), carried) for carried in terms_of(shape)),
        )

    def _term(self, carried: Carried) -> PodCount:
        count = self._terms.get(carried)
        if count is None:
            count = self._terms[carried] = PodCount(self._rows)
        return count

    def _carry(self, count: PodCount, carried: Carried, row: int, sign: int) -> None:
        was_carried = count.total > 0
        count.add(row, sign)
        if (count.total > 0) != was_carried:
            if was_carried:
                del self._carriers[carried[0]][carried]
            else:
                self._carriers[carried[0]][carried] = count
            self.terms_version += 1

    def _count(self, key: Counted) -> PodCount:
        if len(self._counts) >= MOST_MATCHERS:
            self._forget(next(iter(self._counts)))
        matcher, staying_only = key
        self._made += 1
        count = self._counts[key] = PodCount(self._rows)
        self._by_anchor.setdefault(matcher.anchor, {})[key] = None
        for shape, use in self._near(matcher.anchor):
            if not matcher.matches(shape.namespace, shape.labels):
                continue
            use.counted.append((count, staying_only))
            for row, number in use.staying.items():
                count.add(row, number)
            for row, number in () if staying_only else use.deleting.items():
                count.add(row, number)
        return count

    def _forget(self, key: Counted) -> None:
        count = self._counts.pop(key)
        self.terms_version += 1
        del self._by_anchor[key[0].anchor][key]
        for _, use in self._near(key[0].anchor):
            use.counted = [item for item in use.counted if item[0] is not count]

    def _near(self, anchor: Anchor) -> Iterable[tuple[PodShape, _Use]]:
        """The shapes that have a label, which are few where there are many workloads."""
        if anchor is None:
            return self._uses.items()
        key, value = anchor
        values = self._labelled.get(key)
        if values is None:
            values = self._labelled[key] = {}
            for shape, use in self._uses.items():
                if (own := shape.labels.get(key)) is not None:
                    values.setdefault(own, {})[shape] = use
        return values.get(value, {}).items()


def _add_to(places: dict[int, int], row: int, sign: int) -> None:
    number = places.get(row, 0) + sign
    if number:
        places[row] = number
    else:
        del places[row]


def terms_of(shape: PodShape) -> tuple[Carried, ...]:
    """The affinity terms that pods of a shape carry, once each per occurrence."""
    affinity = shape.affinity
    return (
        *(("required", 0, term) for term in affinity.required),
        *(("required_anti", 0, term) for term in affinity.required_anti),
        *(("preferred", weight, term) for weight, term in affinity.preferred),
        *(("preferred_anti", weight, term) for weight, term in affinity.preferred_anti),
    )
