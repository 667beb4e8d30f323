"""Pods that wait for an event, found by the plugins that rejected them.

Ten thousand pods may wait for room; a pod that is bound somewhere must not cost a look at each of them, nor a node that
changes a call of the same hint for each. Pods that hints cannot tell apart are therefore kept together.
Upstream: pkg/scheduler/backend/queue/unschedulable_pods.go (which has no such index).
"""

from collections.abc import Collection, Iterator
from typing import Any

from seatrial.scheduler.queue.queued_pod_info import QueuedPod


class Group:
    """Parked pods with the same rejectors; all hints answer the same for them, unless the key is None."""

    __slots__ = ("key", "pods", "rejectors")

    def __init__(self, rejectors: frozenset[str], key: Any) -> None:
        self.rejectors, self.key = rejectors, key
        self.pods: dict[str, QueuedPod] = {}


class UnschedulablePods:
    """Parked pods by key, and in groups."""

    def __init__(self, alike_in: Collection[str] = ()) -> None:
        """`alike_in` are the profiles whose hints see nothing in most pods but their shape."""
        self.present: dict[str, QueuedPod] = {}
        """By key. Others may read it, which costs no call."""
        self._alike_in = alike_in
        self._groups: dict[frozenset[str], dict[Any, Group]] = {}
        """By rejectors and key."""
        self._group_of: dict[str, Group] = {}
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
        """Keep a pod; one that is here already may have other rejectors now, or look otherwise to hints."""
        key, group = queued.key, self._group_for(queued)
        if self._latest is queued and self._group_of.get(key) is group and group.rejectors:
            return  # the last one in all orders
        self.remove(key)
        self._latest = queued
        self.present[key] = queued
        self._group_of[key] = group
        if not group.pods:
            self._groups.setdefault(group.rejectors, {})[group.key] = group
        group.pods[key] = queued
        if not group.rejectors and not queued.is_gated:
            self.resting[key] = queued

    def remove(self, key: str) -> QueuedPod | None:
        queued = self.present.pop(key, None)
        if queued is None:
            return None
        group = self._group_of.pop(key)
        del group.pods[key]
        if not group.pods:
            self._drop(group)
        if self.resting:
            self.resting.pop(key, None)
        return queued

    def rejected_by(self, plugins: frozenset[str]) -> list[Group]:
        """The pods that one of these plugins rejected."""
        return [
            group
            for rejectors, groups in self._groups.items()
            if not rejectors.isdisjoint(plugins)
            for group in groups.values()
        ]

    def _group_for(self, queued: QueuedPod) -> Group:
        """The group that a pod belongs to, which may be new and empty."""
        pod, rejectors, key = queued.pod, queued.rejectors, None
        if pod.is_like_others and pod.shape.scheduler_name in self._alike_in:
            key = pod.shape, queued.pending_plugins, queued.gating_plugin
        groups = self._groups.get(rejectors)
        group = None if groups is None else groups.get(key)
        return Group(rejectors, key) if group is None else group

    def _drop(self, group: Group) -> None:
        groups = self._groups[group.rejectors]
        del groups[group.key]
        if not groups:
            del self._groups[group.rejectors]
