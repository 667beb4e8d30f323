"""What a session reports: events on PodGroups and pods. Upstream: pkg/scheduler/cache/cache.go (Recorder)."""

from dataclasses import dataclass
from typing import Final

from seatrial.controllers.framework import EventType

NORMAL: Final = "Normal"
WARNING: Final = "Warning"


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """An event: what it is about (kind and namespace/name), its type, reason and text."""

    kind: str
    key: str
    type: EventType
    reason: str
    message: str
