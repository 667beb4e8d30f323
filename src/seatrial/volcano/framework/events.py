"""What a session reports: events on PodGroups and pods. Upstream: pkg/scheduler/cache/cache.go (Recorder)."""

from dataclasses import dataclass

NORMAL, WARNING = "Normal", "Warning"


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """An event: what it is about (kind and namespace/name), its type, reason and text."""

    kind: str
    key: str
    type: str
    reason: str
    message: str
