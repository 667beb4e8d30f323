"""Which events upstream's handlers see in a change of the cluster.

Upstream: pkg/scheduler/eventhandlers.go (v1.36.3).
"""

from collections.abc import Iterator
from typing import Any

from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.events import OBSERVED, ClusterEvent, label_of, node_events, pod_events
from seatrial.scheduler.framework.interface import Action

_ACTIONS = {"ADDED": Action.ADD, "MODIFIED": Action.UPDATE, "DELETED": Action.DELETE}


def event_labels(kind: str, type: str, before: Any, after: Any, profiles: frozenset[str]) -> Iterator[str]:
    """The labels of the events; pods and nodes are given as they were and as they are, None where they are not."""
    if kind == "Pod":
        yield from _of_pod(before, after, profiles)
    elif kind == "Node" and before is None and after is not None:
        yield "NodeAdd"
    elif kind == "Node" and before is not None:
        yield from (label_of(event) for event in node_events(before, after)) if after is not None else ("NodeDelete",)
    elif kind in OBSERVED:
        yield label_of(ClusterEvent(kind, _ACTIONS[type]))


def _of_pod(before: PodInfo | None, after: PodInfo | None, profiles: frozenset[str]) -> Iterator[str]:
    is_ours = any(pod is not None and pod.shape.scheduler_name in profiles for pod in (before, after))
    if before is None or after is None:
        pod = before or after
        if pod is not None and (pod.node or is_ours):
            yield f"{'AssignedPod' if pod.node else 'UnschedulablePod'}{'Add' if before is None else 'Delete'}"
    elif after.node and not before.node:
        yield "AssignedPodAdd"
        if is_ours:
            yield "UnschedulablePodDelete"
    elif before.node or is_ours:
        plain = "AssignedPodUpdate" if before.node else "UnschedulablePodUpdate"
        yield plain
        # An update of an assigned pod is measured as a whole and once more for each of its events.
        yield from (label for label in map(label_of, pod_events(before, after)) if before.node or label != plain)
