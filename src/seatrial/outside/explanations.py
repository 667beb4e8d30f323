"""The kube-scheduler-simulator annotations of a pod as an attempt of its scheduleResult."""

from typing import Any

from seatrial.model.documents import decode, encode
from seatrial.store import Stored
from seatrial.timeline import PASSED, PREFIX
from seatrial.timeline.wire import attempt


def attempt_of(stored: Stored, step: bytes) -> bytes | None:
    """The latest attempt that a scheduler wrote onto its pod; None where it wrote none."""
    if PREFIX.encode() not in stored.data:
        return None
    annotations = (stored.document()["metadata"].get("annotations")) or {}
    filters = _object(annotations.get(f"{PREFIX}filter-result"))
    if filters is None:
        return None
    raw = _object(annotations.get(f"{PREFIX}score-result")) or {}
    final = _object(annotations.get(f"{PREFIX}finalscore-result")) or {}
    passed = [node for node, said in filters.items() if all(answer == PASSED for answer in said.values())]
    results = {"filter": filters, "score": {node: _scores(raw[node], final.get(node) or {}) for node in raw}}
    return attempt(step, encode(list(filters)), encode(passed), encode(results))


def _scores(raw: dict[str, Any], final: dict[str, Any]) -> dict[str, Any]:
    """The scores of a node by plugin; the annotations have no normalised score."""
    return {
        plugin: {"rawScore": _number(score), "normalizedScore": 0, "finalScore": _number(final.get(plugin, 0))}
        for plugin, score in raw.items()
    }


def _object(text: Any) -> dict[str, dict[str, Any]] | None:
    try:
        found = decode(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if isinstance(found, dict) and all(isinstance(said, dict) for said in found.values()) else None


def _number(score: Any) -> int:
    try:
        return int(score)
    except (TypeError, ValueError):
        return 0
