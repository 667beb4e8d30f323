"""Pods that wait for an event, found by the plugins that rejected them.

Ten thousand pods may wait for room; a pod that is bound somewhere must not cost a look at each of them.
Upstream: pkg/scheduler/backend/queue/unschedulable_pods.go (which has no such index).
"""

from collections.abc import Iterable, Iterator

from seatrial.scheduler.queue.queued_pod_info import QueuedPod


class UnschedulablePods:
    """Parked pods by key, and by each of their rejectors."""

    def __init__(self) -> None:
        self.present: dict[str, QueuedPod] = {}
        """By key. Others may read it, which costs no call."""
        self._by_plugin: dict[str, dict[str, QueuedPod]] = {}
        self._plugins_of: dict[str, frozenset[str]] = {}
        self.resting: dict[str, QueuedPod] = {}
        """Pods that no plugin rejected: they rest after errors, and any event brings them back."""
        self._latest: QueuedPod | None = None
        """The pod that was parked last; it may be gone."""

    def __len__(self) -> int:
        return len(self.present)

    def __contains__(self, key: str) -> bool:
        return key in self.present

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter(list(self.present.values()))

    def get(self, key: str) -> QueuedPod | None:
        return self.present.get(key)

    def park(self, queued: QueuedPod) -> None:
        """Keep a pod; one that is here already may have other rejectors now."""
        key, plugins = queued.key, queued.rejectors
        if self._latest is queued and key in self.present and self._plugins_of[key] is plugins and plugins:
            return  # the last one in all orders
        self.remove(key)
        self._latest = queued
        self.present[key] = queued
        self._plugins_of[key] = plugins
        for plugin in plugins:
            self._by_plugin.setdefault(plugin, {})[key] = queued
        if not plugins and not queued.is_gated:
            self.resting[key] = queued

    def remove(self, key: str) -> QueuedPod | None:
        queued = self.present.pop(key, None)
        if queued is None:
            return None
        self.resting.pop(key, None)
        for plugin in self._plugins_of.pop(key):
            parked = self._by_plugin[plugin]
            del parked[key]
            if not parked:
                del self._by_plugin[plugin]
        return queued

    def rejected_by(self, plugins: Iterable[str]) -> list[QueuedPod]:
        """The pods that one of these plugins rejected and those that rest after errors, each once."""
        found: dict[str, QueuedPod] = dict(self.resting)
        for plugin in plugins:
            found.update(self._by_plugin.get(plugin, {}))
        return list(found.values())
