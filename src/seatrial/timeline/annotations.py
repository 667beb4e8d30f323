"""The result annotations of kube-scheduler-simulator, rendered from a decision.

All keys are written at every attempt, and the history grows by one; what would not fit into the 256 KiB that
Kubernetes allows for annotations is replaced by a pointer to the timeline, which has everything.
Shapes: simulator/scheduler/plugin/annotation and resultstore/store.go of kube-scheduler-simulator.
"""

from typing import Any

from seatrial.model.documents import Document, decode, encode
from seatrial.model.durations import format_duration
from seatrial.model.errors import StatusError
from seatrial.scheduler import ANNOTATOR, Decision
from seatrial.store import Change, Store
from seatrial.timeline.decisions import filtered
from seatrial.timeline.wire import PASSED

PREFIX = "kube-scheduler-simulator.sigs.k8s.io/"
SELECTED = f"{PREFIX}selected-node"
HISTORY = f"{PREFIX}result-history"
LIMIT = 256 * 1024
TOTAL = 32 * 1024 * 1024
"""Bytes that pods with results may take together in a server."""
TOO_LARGE = "too large for an annotation: ask `seatrial explain`"
FULL = "results are kept on the first pods only: ask `seatrial explain`"
SUMMARY = "--record full keeps what every plugin said"
POINTER = f"{PREFIX}result-in-timeline"
SUCCESS = "success"
VICTIM = "preemption victim"
_POINTS = {"reserve": "reserve-result", "permit": "permit-result", "preBind": "prebind-result", "bind": "bind-result"}
_EXTENDERS = ("filter", "prioritize", "preempt", "bind")


def annotations_of(decision: Decision) -> dict[str, str]:
    """The annotations of one attempt, without the history."""
    before = decision.pre_filter
    said = dict.fromkeys(before.plugins, SUCCESS) | dict.fromkeys(before.skipped, "")
    if not before.status.is_success and before.status.plugin:
        said[before.status.plugin] = before.status.message
    values: dict[str, Any] = {
        "prefilter-result-status": said,
        "prefilter-result": {plugin: list(nodes) for plugin, nodes in before.node_sets.items()},
        "filter-result": _filter(decision),
        "postfilter-result": _post_filter(decision),
        "prescore-result": dict.fromkeys(decision.pre_score_plugins, SUCCESS)
        | dict.fromkeys(decision.pre_score_skipped, ""),
        "score-result": _scores(decision, final=False),
        "finalscore-result": _scores(decision, final=True),
        "permit-result-timeout": {plugin: format_duration(wait) for plugin, wait in decision.permit_timeouts},
    }
    for point, key in _POINTS.items():
        values[key] = dict(decision.points.get(point, ()))
    for verb in _EXTENDERS:
        answers = decision.extenders.get(verb)
        if answers:
            values[f"extender-{verb}-result"] = dict(answers)
    rendered = {f"{PREFIX}{key}": encode(value).decode() for key, value in values.items()}
    return rendered | {SELECTED: decision.node}


def _filter(decision: Decision) -> Document:
    passed = dict.fromkeys(decision.filter_plugins, PASSED)
    verdicts: list[int] = decision.verdicts.tolist()
    answers = [filtered(decision.filter_plugins, status) for status in decision.statuses]
    return {name: answers[code - 1] if code else passed for name, code in zip(decision.visited, verdicts, strict=True)}


def _post_filter(decision: Decision) -> Document:
    """kube-scheduler-simulator names the nominated node and leaves an empty entry for the others."""
    if not decision.post_filter:
        return {}
    result: Document = {name: {} for name, _ in decision.rejected()}
    plugin = decision.post_filter[-1][0]
    if decision.preemption is not None:
        result[decision.preemption.node] = {plugin: VICTIM}
    return result


def _scores(decision: Decision, *, final: bool) -> Document:
    columns = [(column.plugin, (column.final if final else column.raw).tolist()) for column in decision.scores]
    return {
        name: {plugin: str(values[place]) for plugin, values in columns}
        for place, name in enumerate(decision.feasible if columns else ())
    }


def annotate(metadata: Document, attempt: dict[str, str]) -> None:
    """Put the annotations of an attempt onto an object, within Kubernetes' limit."""
    present: dict[str, str] = metadata.setdefault("annotations", {})
    others = sum(len(key) + len(value) for key, value in present.items() if not key.startswith(PREFIX))
    history = decode(present.get(HISTORY, "[]"))
    room = LIMIT - others
    for kept in ([*history, attempt], [attempt], []):
        candidate = {**attempt, HISTORY: encode(kept).decode()}
        if _size(candidate) <= room:
            break
    else:
        point(metadata, attempt[SELECTED], TOO_LARGE)
        return
    for key in [key for key in present if key.startswith(PREFIX)]:
        del present[key]
    present.update(candidate)


def point(metadata: Document, node: str, why: str) -> None:
    """Put the node and the reason why there is no more onto an object."""
    present: dict[str, str] = metadata.setdefault("annotations", {})
    for key in [key for key in present if key.startswith(PREFIX)]:
        del present[key]
    present.update({SELECTED: node, POINTER: why})


def _size(annotations: dict[str, str]) -> int:
    return sum(len(key) + len(value.encode()) for key, value in annotations.items())


class Annotator:
    """A Recorder that writes each decision onto its pod, for `serve`.

    The results on all pods together are bounded: with 500 visited nodes they are a hundred times the pod itself, and
    a server with many thousand pods would hold nothing else. Pods beyond the bound get their node and a pointer.
    """

    def __init__(self, store: Store, most: int = TOTAL, *, summary: bool = False) -> None:
        self.wants_cells = not summary
        self._why = SUMMARY if summary else FULL
        self._store = store
        self._most = most
        self._sizes: dict[tuple[str, str], int] = {}
        self._total = 0
        kind = store.kinds.served("v1", "Pod")
        self._pods = kind
        store.subscribe(self._forget, [kind])

    def keeps_cells(self, visited: int) -> bool:
        return self.wants_cells

    def decided(self, decision: Decision) -> None:
        """The annotations are written after the attempt."""

    def record(self, decision: Decision) -> None:
        """Write the annotations; a pod that is gone in the meantime is left alone."""
        namespace, _, name = decision.pod.partition("/")
        attempt = annotations_of(decision) if self.wants_cells else None

        def change(document: Document) -> None:
            if attempt is None:
                point(document["metadata"], decision.node, self._why)
            else:
                annotate(document["metadata"], attempt)

        try:
            stored = self._store.modify(self._pods, name, change, writer=ANNOTATOR, namespace=namespace)
        except StatusError:
            return
        self._note((stored.namespace, stored.name), stored.size if attempt is not None else 0)

    def _note(self, pod: tuple[str, str], size: int) -> None:
        self._total += size - self._sizes.pop(pod, 0)
        if size:
            self._sizes[pod] = size
        self.wants_cells = self._why is not SUMMARY and self._total < self._most

    def _forget(self, change: Change) -> None:
        if change.type == "DELETED":
            self._note((change.stored.namespace, change.stored.name), 0)
