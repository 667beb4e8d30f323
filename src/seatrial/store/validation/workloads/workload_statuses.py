"""Validation of the status of workloads: counts are not negative and agree with each other.

Upstream: the Validate…Status functions of pkg/apis/apps/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid
from seatrial.store.validation.formats import not_negative

_READY = "cannot be greater than readyReplicas"
_COUNTS = {
    "Deployment": (
        "observedGeneration replicas updatedReplicas readyReplicas availableReplicas unavailableReplicas "
        "terminatingReplicas collisionCount"
    ),
    "ReplicaSet": (
        "replicas fullyLabeledReplicas readyReplicas availableReplicas observedGeneration terminatingReplicas"
    ),
    "ReplicationController": "replicas fullyLabeledReplicas readyReplicas availableReplicas observedGeneration",
    "StatefulSet": (
        "replicas readyReplicas currentReplicas updatedReplicas availableReplicas observedGeneration collisionCount"
    ),
    "DaemonSet": (
        "currentNumberScheduled numberMisscheduled desiredNumberScheduled numberReady observedGeneration "
        "updatedNumberScheduled numberAvailable numberUnavailable collisionCount"
    ),
}
_WITHIN = {
    "Deployment": ("updatedReplicas", "readyReplicas", "availableReplicas"),
    "ReplicaSet": ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    "ReplicationController": ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    "StatefulSet": ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
    "DaemonSet": (),
}


def status_causes(kind: str, document: Document, old: Document) -> Iterator[Cause]:
    """Validation errors of the status of a workload."""
    status, before = document.get("status") or {}, old.get("status") or {}
    for key in _COUNTS[kind].split():
        yield from not_negative(status.get(key), f"status.{key}")
    total, ready = status.get("replicas", 0), status.get("readyReplicas", 0)
    for key in _WITHIN[kind]:
        if status.get(key, 0) > total:
            yield invalid(f"status.{key}", status[key], "cannot be greater than status.replicas")
    if _WITHIN[kind] and status.get("availableReplicas", 0) > ready:
        why = "cannot be greater than status.readyReplicas" if kind == "StatefulSet" else _READY
        yield invalid("status.availableReplicas", status["availableReplicas"], why)
    earlier = before.get("collisionCount") if "collisionCount" in _COUNTS[kind] else None
    if earlier is not None and status.get("collisionCount", -1) < earlier:
        yield invalid("status.collisionCount", status.get("collisionCount", 0), "cannot be decremented")
