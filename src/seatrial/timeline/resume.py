"""Restores from a published timeline what a run needs to go on with it after a restart.

The published entries hold everything: ids that were given, and in PodResult when a pod was created and bound and all
its scheduling attempts. A pod is known by its uid, so a later pod of the same name starts with an empty history.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.model.documents import encode
from seatrial.timeline.attempt_lists import Tried
from seatrial.timeline.pods import PodHistory, StepPair

GENERATED = re.compile(r"^timeline-(\d+)$")
POD_FIELDS = ("podScheduled", "podUnscheduled", "podPreempted")


@dataclass(slots=True)
class PastOfPod:
    """What published entries say of one pod."""

    created_at: StepPair
    bound_at: StepPair | None = None
    attempts: list[Tried] = field(default_factory=list)

    def restore(self, history: PodHistory) -> None:
        """Bring the history of a stored pod to where it was."""
        history.created_at = self.created_at
        if history.bound_at is not None and self.bound_at is not None:
            history.bound_at = self.bound_at
        for tried in self.attempts:
            history.listed = history.listed.add(tried)
        history.shown = history.listed.number


def last_number(timeline: Mapping[str, Any]) -> int:
    """The highest number of an id that the timeline itself gave; 0 without any."""
    numbers = (GENERATED.match(str(entry.get("id"))) for entry in _entries(timeline))
    return max((int(found[1]) for found in numbers if found), default=0)


def pasts_of_pods(timeline: Mapping[str, Any]) -> dict[str, PastOfPod]:
    """The past of each pod, by uid."""
    pasts: dict[str, PastOfPod] = {}
    for entry in _entries(timeline):
        created = (entry.get("create") or {}).get("result") or {}
        if created.get("kind") == "Pod" and created.get("apiVersion") == "v1":
            pasts[_uid(created)] = PastOfPod(_step(entry["step"]))
        for name in POD_FIELDS:
            if result := entry.get(name):
                bound_at = result.get("boundAt")
                pasts[_uid(result["pod"])] = PastOfPod(
                    _step(result["createdAt"]),
                    None if bound_at is None else _step(bound_at),
                    [_tried(item) for item in result.get("scheduleResult") or ()],
                )
    return pasts


def _tried(item: Mapping[str, Any]) -> Tried:
    return Tried(encode(item["step"]), encode(item), item.get("attempts") or 1)


def _entries(timeline: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for step in sorted(timeline, key=int):
        yield from timeline[step]


def _uid(pod: Mapping[str, Any]) -> str:
    return str((pod.get("metadata") or {}).get("uid"))


def _step(step: Any) -> StepPair:
    return (step["major"], step["minor"]) if isinstance(step, dict) else (step, 0)
