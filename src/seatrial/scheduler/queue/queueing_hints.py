"""The plugins that registered an event, and whether the event justifies another attempt of a pod.

Upstream: pkg/scheduler/backend/queue/scheduling_queue.go (isPodWorthRequeuing), scheduler.go (buildQueueingHintMap).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.events import ClusterEvent, Hint, Registration
from seatrial.scheduler.queue.queued_pod_info import QueuedPod

Registrations = Mapping[str, Mapping[str, Sequence[Registration]]]
"""By profile and plugin: the events each plugin registered."""


class Worth(Enum):
    """What an event is worth to a pod."""

    NOTHING = 0
    AFTER_BACKOFF = 1
    AT_ONCE = 2


class Hinting:
    """The queueing hints of all profiles."""

    def __init__(self, registrations: Registrations) -> None:
        self._registrations = registrations
        self._hints_by_event: dict[tuple[str, ClusterEvent], tuple[tuple[str, Hint | None], ...]] = {}
        self._plugins_by_event: dict[ClusterEvent, frozenset[str]] = {}
        self.wrap: Callable[[str, ClusterEvent, Hint | None], Hint | None] = lambda plugin, event, hint: hint
        """What is called in place of a plugin's hint for an event."""

    def concerns_anybody(self, event: ClusterEvent) -> bool:
        """Whether any plugin of any profile registered the event."""
        return event.is_wildcard or bool(self.interested(event))

    def interested(self, event: ClusterEvent) -> frozenset[str]:
        """The plugins that registered the event in any profile."""
        known = self._plugins_by_event.get(event)
        if known is None:
            known = self._plugins_by_event[event] = frozenset(
                plugin
                for plugins in self._registrations.values()
                for plugin, entries in plugins.items()
                if any(entry.event.covers(event) for entry in entries)
            )
        return known

    def events_of(self, plugin: str) -> tuple[ClusterEvent, ...]:
        """The events a plugin registered in any profile."""
        found = (entry.event for plugins in self._registrations.values() for entry in plugins.get(plugin, ()))
        return tuple(dict.fromkeys(found))

    def worth(self, queued: QueuedPod, event: ClusterEvent, old: Any, new: Any) -> Worth:
        """Whether the pod should be tried again after an event, and how soon."""
        rejectors = queued.rejectors
        if not rejectors:
            return Worth.AFTER_BACKOFF
        if event.is_wildcard:
            is_for_another = new is not None and not (isinstance(new, PodInfo) and new.uid == queued.pod.uid)
            return Worth.NOTHING if is_for_another else Worth.AFTER_BACKOFF
        best = Worth.NOTHING
        for plugin, hint in self._hints(queued.pod.shape.scheduler_name, event):
            if plugin not in rejectors or not (hint is None or hint(queued.pod, old, new)):
                continue
            if plugin in queued.pending_plugins:
                return Worth.AT_ONCE
            if not queued.pending_plugins:
                return Worth.AFTER_BACKOFF
            best = Worth.AFTER_BACKOFF
        return best

    def _hints(self, profile: str, event: ClusterEvent) -> Iterable[tuple[str, Hint | None]]:
        found = self._hints_by_event.get((profile, event))
        if found is None:
            found = self._hints_by_event[profile, event] = tuple(
                (plugin, self.wrap(plugin, event, entry.hint))
                for plugin, entries in self._registrations.get(profile, {}).items()
                for entry in entries
                if entry.event.covers(event)
            )
        return found
