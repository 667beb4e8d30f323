"""Encodes a scheduler's decision for the timeline: cells for the rows, pluginResults for the wire.

Names of nodes and plugins and the verdicts are numbered once per run, so an attempt over five thousand nodes is a
handful of integer arrays.
"""

from collections.abc import Hashable, Iterable, Sequence
from operator import itemgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from seatrial.model.documents import Document, encode
from seatrial.scheduler import Decision
from seatrial.scheduler.cache import NodeNames, RowNames
from seatrial.scheduler.framework import Status
from seatrial.timeline.wire import PASSED

H = TypeVar("H", bound=Hashable)


class Numbering(Generic[H]):
    """Gives each value a number, in the order of first use."""

    def __init__(self, values: Iterable[H] = ()) -> None:
        self._numbers: dict[H, int] = {value: number for number, value in enumerate(values)}
        self._latest: tuple[tuple[H, ...], NDArray[np.uint32]] | None = None

    def number(self, value: H) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def numbers(self, values: tuple[H, ...]) -> NDArray[np.uint32]:
        """The numbers of many values; repeating the same tuple costs nothing."""
        if self._latest is None or self._latest[0] is not values:
            self._latest = values, np.array(self._looked_up(values), np.uint32)
        return self._latest[1]

    def _looked_up(self, values: tuple[H, ...]) -> Sequence[int]:
        try:
            return itemgetter(*values)(self._numbers) if len(values) > 1 else [self._numbers[value] for value in values]
        except KeyError:
            return [self.number(value) for value in values]

    def values(self) -> list[H]:
        return list(self._numbers)


class NodeNumbering(Numbering[str]):
    """Numbers nodes; for rows of the scheduler's table the numbers are kept by row."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        super().__init__(values)
        self._names: RowNames | None = None
        self._by_row: NDArray[np.int64] = np.zeros(0, np.int64)

    def of(self, nodes: Sequence[str]) -> NDArray[np.uint32]:
        """The numbers of some nodes."""
        if not isinstance(nodes, NodeNames):
            return self.numbers(tuple(nodes))
        if self._names is not nodes.of:
            self._names, self._by_row = nodes.of, np.full(len(nodes.of.names), -1, np.int64)
        found = self._by_row[nodes.rows]
        if len(found) and found.min() < 0:
            for row in nodes.rows[found < 0].tolist():
                self._by_row[row] = self.number(nodes.of.names[row])
            found = self._by_row[nodes.rows]
        return found.astype(np.uint32)


class Dictionary:
    """The names for the numbers in the cells of one run."""

    def __init__(self) -> None:
        self.nodes = NodeNumbering()
        self.plugins: Numbering[str] = Numbering()
        self.verdicts: Numbering[tuple[str, ...]] = Numbering()
        self._latest: tuple[tuple[object, ...], bytes] | None = None

    @classmethod
    def of(cls, document: Document) -> "Dictionary":
        """The dictionary that a document was made of."""
        dictionary = cls()
        dictionary.nodes = NodeNumbering(document["nodes"])
        dictionary.plugins = Numbering(document["plugins"])
        dictionary.verdicts = Numbering(tuple(verdict) for verdict in document["verdicts"])
        return dictionary

    def document(self) -> Document:
        return {
            "nodes": self.nodes.values(),
            "plugins": self.plugins.values(),
            "verdicts": [list(verdict) for verdict in self.verdicts.values()],
        }

    def cells(self, decision: Decision) -> tuple[Any, ...]:
        """The list columns of one attempt, from `nodes` to `total`."""
        meanings = np.zeros(len(decision.statuses) + 1, np.uint32)
        for place, status in enumerate(decision.statuses, 1):
            meanings[place] = 1 + self.verdicts.number((status.plugin, status.code.text, *status.reasons))
        scores = decision.scores
        return (
            self.nodes.of(decision.visited),
            meanings[decision.verdicts],
            [self.plugins.number(plugin) for plugin in decision.filter_plugins],
            self.nodes.of(decision.feasible),
            [self.plugins.number(column.plugin) for column in scores],
            [column.weight for column in scores],
            np.concatenate([column.raw for column in scores]) if scores else [],
            np.concatenate([column.normalized for column in scores]) if scores else [],
            decision.total,
        )

    def details(self, decision: Decision) -> bytes:
        """The results at the extension points that are not per node; most attempts have those of the one before."""
        asked = (
            decision.pre_filter, decision.pre_score_plugins, decision.pre_score_skipped, decision.post_filter,
            decision.points, decision.permit_timeouts, decision.extenders,
        )  # fmt: skip
        if self._latest is None or self._latest[0] != asked:
            self._latest = asked, _details(decision)
        return self._latest[1]


NO_CELLS: tuple[None, ...] = (None,) * 9


def bytes_of(cells: tuple[Any, ...]) -> int:
    """What the arrays among the list columns of an attempt take while they are buffered."""
    return sum([column.nbytes for column in cells if isinstance(column, np.ndarray)])


def _details(decision: Decision) -> bytes:
    """The results at the extension points that are not per node."""
    said: Document = {}
    before = decision.pre_filter
    if before.plugins or before.skipped:
        said["preFilter"] = {
            "plugins": list(before.plugins),
            "skipped": list(before.skipped),
            "status": _status(before.status),
            "nodeSets": {plugin: list(nodes) for plugin, nodes in before.node_sets.items()},
        }
    if decision.pre_score_plugins or decision.pre_score_skipped:
        said["preScore"] = {"plugins": list(decision.pre_score_plugins), "skipped": list(decision.pre_score_skipped)}
    if decision.post_filter:
        said["postFilter"] = [{"plugin": plugin, **_status(status)} for plugin, status in decision.post_filter]
    if decision.points:
        said["points"] = {point: [list(pair) for pair in answers] for point, answers in decision.points.items()}
    if decision.permit_timeouts:
        said["permitTimeouts"] = [list(pair) for pair in decision.permit_timeouts]
    if decision.extenders:
        said["extenders"] = {verb: [list(pair) for pair in answers] for verb, answers in decision.extenders.items()}
    return encode(said)


def _status(status: Status) -> Document:
    return {"code": status.code.text, "reasons": list(status.reasons), "by": status.plugin}


def reasons_in(message: str) -> list[tuple[str, int]]:
    """The number of rejected nodes by reason, parsed from the text of the event."""
    _, _, listed = message.partition(" nodes are available: ")
    found = []
    for part in listed.partition(". ")[0].rstrip(".").split(", "):
        number, _, reason = part.partition(" ")
        if number.isdigit() and reason:
            found.append((reason, int(number)))
    return found


def plugin_results(decision: Decision) -> bytes:
    """The pluginResults of KEP-140: filter and score, by node and plugin."""
    return b'{"filter":%s,"score":%s}' % (_filters(decision), _scores(decision))


def _filters(decision: Decision) -> bytes:
    ran = decision.filter_plugins
    answers = [encode(dict.fromkeys(ran, PASSED)), *(encode(filtered(ran, status)) for status in decision.statuses)]
    verdicts: Sequence[int] = decision.verdicts.tolist()
    pairs = zip(decision.visited, verdicts, strict=True)
    return b"{%s}" % b",".join([b"%s:%s" % (encode(name), answers[code]) for name, code in pairs])


def filtered(ran: Sequence[str], status: Status) -> dict[str, str]:
    """What each filter said about a node that was rejected: those before the one that said no let it pass."""
    place = ran.index(status.plugin) if status.plugin in ran else 0
    return {**dict.fromkeys(ran[:place], PASSED), status.plugin: status.message}


def _scores(decision: Decision) -> bytes:
    columns = [
        (encode(column.plugin), column.raw.tolist(), column.normalized.tolist(), column.final.tolist())
        for column in decision.scores
    ]
    nodes = []
    for place, name in enumerate(decision.feasible if columns else ()):
        cells = b",".join(
            b'%s:{"rawScore":%d,"normalizedScore":%d,"finalScore":%d}'
            % (plugin, raw[place], normal[place], last[place])
            for plugin, raw, normal, last in columns
        )
        nodes.append(b"%s:{%s}" % (encode(name), cells))
    return b"{%s}" % b",".join(nodes)
