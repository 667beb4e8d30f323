"""Pods per node by group: how many pods a selector picks, how many carry an affinity term.

Both are kept up to date pod by pod, so that a cycle reads them instead of walking all pods. A count comes into being
when a plugin first asks for it and is made from the shapes in use, of which there are few.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.node_columns import LabelColumn
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.cache.pod_terms import AffinityTerm, PodMatcher

MOST_MATCHERS = 1024
MOST_RESTING = 256

Counted = tuple[PodMatcher, bool]
"""A matcher, and whether pods that are being deleted are left out."""

Anchor = tuple[str, str] | None

Carried = tuple[str, int, AffinityTerm]
"""Kind of term (see `KINDS`), weight (0 if required) and the term itself."""

KINDS = ("required", "required_anti", "preferred", "preferred_anti")


@dataclass(slots=True)
class _Use:
    """Where the pods of one shape are: row -> number, those being deleted apart."""

    staying: dict[int, int] = field(default_factory=dict)
    deleting: dict[int, int] = field(default_factory=dict)
    counted: list[Counted] = field(default_factory=list)
    carried: tuple[Carried, ...] = ()


@dataclass(slots=True)
class _Domains:
    """A count added up by the values of a label: valid until a node changes."""

    version: int
    column: LabelColumn
    sums: NDArray[np.int64]


class PodCounts:
    """Numbers of pods per row of the node table."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._uses: dict[PodShape, _Use] = {}
        self._resting: dict[PodShape, None] = {}
        self._counts: dict[Counted, NDArray[np.int32]] = {}
        self._by_anchor: dict[Anchor, dict[Counted, None]] = {}
        """The same keys by a label that all their pods have, since most matchers ask for one."""
        self._carriers: dict[str, dict[Carried, NDArray[np.int32]]] = {kind: {} for kind in KINDS}
        self._carrier_totals: dict[Carried, int] = {}
        self._domains: dict[Counted | Carried, dict[str, _Domains]] = {}
        self.terms_version = 0
        """Grows when a term gets its first carrier or loses its last."""

    def grow(self, rows: int) -> None:
        """Makes room for more rows."""
        for key, column in self._counts.items():
            self._counts[key] = np.concatenate((column, np.zeros(rows - len(column), np.int32)))
        for carried, column in [item for kind in KINDS for item in self._carriers[kind].items()]:
            self._carriers[carried[0]][carried] = np.concatenate((column, np.zeros(rows - len(column), np.int32)))
        self._rows = rows

    def add(self, pod: PodInfo, row: int) -> None:
        """A pod has come to a row."""
        self._change(pod, row, 1)

    def remove(self, pod: PodInfo, row: int) -> None:
        """A pod has left a row."""
        self._change(pod, row, -1)

    def matching(self, matcher: PodMatcher, staying_only: bool) -> NDArray[np.int32]:
        """Pods per row that the matcher picks."""
        key = (matcher, staying_only)
        column = self._counts.get(key)
        if column is None:
            column = self._count(key)
        return column

    def carriers(self, kind: str) -> Mapping[Carried, NDArray[np.int32]]:
        """Every term of a kind that some pod carries, with the number of its carriers per row."""
        return self._carriers[kind]

    def by_domain(
        self, key: Counted | Carried, counts: NDArray[np.int32], column: LabelColumn, version: int
    ) -> NDArray[np.int64]:
        """A count added up by the values of a label, by the value's number; kept up to date pod by pod.

        There is one place more than there are values: nodes without the label look there, and it is 0. `version` is
        that of the nodes: their labels decide what is added to what.
        """
        known = self._domains.setdefault(key, {}).get(column.key)
        if known is None or known.version != version:
            size = len(column.values)
            rows = np.flatnonzero(counts)
            sums = np.bincount(column.ids[rows] + 1, counts[rows], size + 1).astype(np.int64)
            known = _Domains(version, column, np.concatenate((sums[1:], [0])))
            self._domains[key][column.key] = known
        return known.sums

    def _change(self, pod: PodInfo, row: int, sign: int) -> None:
        use = self._uses.get(pod.shape)
        if use is None:
            use = self._uses[pod.shape] = self._new_use(pod.shape)
        elif self._resting:
            self._resting.pop(pod.shape, None)
        places = use.deleting if pod.deleting else use.staying
        number = places.get(row, 0) + sign
        if number:
            places[row] = number
        else:
            del places[row]
        for key in use.counted:
            if not (key[1] and pod.deleting):
                self._counts[key][row] += sign
                self._add_to_domains(key, row, sign)
        for carried in use.carried:
            self._carry(carried, row, sign)
        if sign < 0 and not use.staying and not use.deleting:
            self._rest(pod.shape)

    def _rest(self, shape: PodShape) -> None:
        """A shape has no pods any more; what is known of the last ones is kept, since it may have some again soon."""
        self._resting[shape] = None
        if len(self._resting) > MOST_RESTING:
            oldest = next(iter(self._resting))
            del self._resting[oldest], self._uses[oldest]

    def _new_use(self, shape: PodShape) -> _Use:
        namespace, labels = shape.namespace, shape.labels
        anchors: list[Anchor] = [None, *labels.items()]
        near = (key for anchor in anchors for key in self._by_anchor.get(anchor, ()))
        return _Use(counted=[key for key in near if key[0].matches(namespace, labels)], carried=terms_of(shape))

    def _carry(self, carried: Carried, row: int, sign: int) -> None:
        columns = self._carriers[carried[0]]
        column = columns.get(carried)
        if column is None:
            column = columns[carried] = np.zeros(self._rows, np.int32)
            self._carrier_totals[carried] = 0
            self.terms_version += 1
        column[row] += sign
        self._add_to_domains(carried, row, sign)
        self._carrier_totals[carried] += sign
        if not self._carrier_totals[carried]:
            del columns[carried], self._carrier_totals[carried]
            self._domains.pop(carried, None)
            self.terms_version += 1

    def _add_to_domains(self, key: Counted | Carried, row: int, sign: int) -> None:
        for domains in self._domains.get(key, _NO_DOMAINS).values():
            number = domains.column.ids[row]
            if 0 <= number < len(domains.sums) - 1:
                domains.sums[number] += sign

    def _count(self, key: Counted) -> NDArray[np.int32]:
        if len(self._counts) >= MOST_MATCHERS:
            self._forget(next(iter(self._counts)))
        matcher, staying_only = key
        column = self._counts[key] = np.zeros(self._rows, np.int32)
        self._by_anchor.setdefault(matcher.anchor, {})[key] = None
        for shape, use in self._uses.items():
            if not matcher.matches(shape.namespace, shape.labels):
                continue
            use.counted.append(key)
            for row, number in use.staying.items():
                column[row] += number
            for row, number in () if staying_only else use.deleting.items():
                column[row] += number
        return column

    def _forget(self, key: Counted) -> None:
        del self._counts[key], self._by_anchor[key[0].anchor][key]
        self._domains.pop(key, None)
        for use in self._uses.values():
            if key in use.counted:
                use.counted.remove(key)


_NO_DOMAINS: dict[str, _Domains] = {}


def terms_of(shape: PodShape) -> tuple[Carried, ...]:
    """The affinity terms that pods of a shape carry, once each per occurrence."""
    affinity = shape.affinity
    return (
        *(("required", 0, term) for term in affinity.required),
        *(("required_anti", 0, term) for term in affinity.required_anti),
        *(("preferred", weight, term) for weight, term in affinity.preferred),
        *(("preferred_anti", weight, term) for weight, term in affinity.preferred_anti),
    )
