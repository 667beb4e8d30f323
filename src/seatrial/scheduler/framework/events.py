"""Cluster events: what happened to which kind of object, and which plugins register it.

An event that may make a rejected pod schedulable moves it back to the queue; each plugin registers the events that
concern its own rejections. Upstream: kube-scheduler/framework/types.go, pkg/scheduler/framework/events.go (v1.36.3).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Action, Plugin, Requeue, default_requeues

POD = "Pod"
ASSIGNED_POD = "AssignedPod"
UNSCHEDULED_POD = "UnschedulablePod"
NODE = "Node"
WILDCARD = "*"
CLAIM = "PersistentVolumeClaim"
VOLUME = "PersistentVolume"
CSI_NODE = "CSINode"
CSI_DRIVER = "CSIDriver"
STORAGE_CAPACITY = "CSIStorageCapacity"
STORAGE_CLASS = "StorageClass"
ATTACHMENT = "VolumeAttachment"
RESOURCE_CLAIM = "ResourceClaim"
RESOURCE_SLICE = "ResourceSlice"
DEVICE_CLASS = "DeviceClass"

OBSERVED = (
    VOLUME,
    CLAIM,
    CSI_NODE,
    CSI_DRIVER,
    STORAGE_CAPACITY,
    STORAGE_CLASS,
    ATTACHMENT,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    DEVICE_CLASS,
)
"""Kinds other than pods and nodes whose events move pods."""


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """Something that happened to an object of a kind, or (registered) that a plugin reacts to."""

    resource: str
    action: Action
    label: str = ""
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.resource, self.action, self.label)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_wildcard(self) -> bool:
        return self.resource == WILDCARD and self.action == Action.ALL

    def covers(self, incoming: "ClusterEvent") -> bool:
        """Whether a registration of this event includes `incoming`."""
        if self.is_wildcard:
            return True
        same = self.resource in (WILDCARD, incoming.resource) or (
            self.resource == POD and incoming.resource in (ASSIGNED_POD, UNSCHEDULED_POD)
        )
        return same and bool(self.action & incoming.action) and incoming.action <= self.action


_GROUPS = {
    CSI_NODE: "storage.k8s.io/",
    CSI_DRIVER: "storage.k8s.io/",
    STORAGE_CAPACITY: "storage.k8s.io/",
    STORAGE_CLASS: "storage.k8s.io/",
    ATTACHMENT: "storage.k8s.io/",
    RESOURCE_CLAIM: "resource.k8s.io/",
    RESOURCE_SLICE: "resource.k8s.io/",
    DEVICE_CLASS: "resource.k8s.io/",
}
_ACTION_NAMES = {
    Action.ADD: "Add",
    Action.DELETE: "Delete",
    Action.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    Action.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    Action.UPDATE_NODE_TAINT: "UpdateNodeTaint",
    Action.UPDATE_NODE_CONDITION: "UpdateNodeCondition",
    Action.UPDATE_NODE_ANNOTATION: "UpdateNodeAnnotation",
    Action.UPDATE_NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    Action.UPDATE_POD_LABEL: "UpdatePodLabel",
    Action.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    Action.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    Action.UPDATE_POD_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    Action.UPDATE_POD_GENERATED_CLAIM: "UpdatePodGeneratedResourceClaim",
    Action.UPDATE: "Update",
    Action.ALL: "All",
}


def label_of(event: ClusterEvent) -> str:
    """What upstream calls an event in its metrics."""
    return event.label or f"{_GROUPS.get(event.resource, '')}{event.resource}{_ACTION_NAMES.get(event.action, '')}"


ASSIGNED_ADD = ClusterEvent(ASSIGNED_POD, Action.ADD)
ASSIGNED_DELETE = ClusterEvent(ASSIGNED_POD, Action.DELETE)
UNSCHEDULED_ADD = ClusterEvent(UNSCHEDULED_POD, Action.ADD)
UNSCHEDULED_UPDATE = ClusterEvent(UNSCHEDULED_POD, Action.UPDATE)
UNSCHEDULABLE_TIMEOUT = ClusterEvent(WILDCARD, Action.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(WILDCARD, Action.ALL, "ForceActivate")
ATTEMPT_FAILED = ClusterEvent(WILDCARD, Action.ALL, "ScheduleAttemptFailure")
BACKOFF_COMPLETE = ClusterEvent(WILDCARD, Action.ALL, "BackoffComplete")
BACKOFF_POPPED = ClusterEvent(WILDCARD, Action.ALL, "PopFromBackoffQ")
NODE_ADD = ClusterEvent(NODE, Action.ADD)
NODE_DELETE = ClusterEvent(NODE, Action.DELETE)

Hint = Callable[[PodInfo, Any, Any], bool]
"""Whether a change (old, new) may make the pod schedulable. Pods are PodInfo, nodes NodeInfo, the rest documents."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A plugin's interest in an event; without a hint every such event is worth a retry."""

    event: ClusterEvent
    hint: Hint | None = None


_REJECTING_POINTS = frozenset(("preEnqueue", "preFilter", "filter", "reserve", "permit"))


def requeues_of(plugin: Plugin, points: Sequence[str]) -> Sequence[Requeue]:
    """The events a plugin registers: none if it cannot reject pods, any event if it does not declare events."""
    if not _REJECTING_POINTS.intersection(points):
        return ()
    return plugin.events(plugin.handle.gates if plugin.handle else {}) or default_requeues()


def registrations(plugin: Plugin, requeues: Iterable[Requeue]) -> tuple[Registration, ...]:
    """The events of a plugin with its hints bound to it.

    In versions that ask so (buildQueueingHintMap), a plugin that registers added nodes and not changed taints is
    registered for every changed taint, without a hint.
    """
    requeues = tuple(requeues)
    found = [
        Registration(ClusterEvent(entry.resource, entry.actions), entry.hint and partial(entry.hint, plugin))
        for entry in requeues
    ]
    actions = [entry.actions for entry in requeues if entry.resource == NODE]
    waits_for_nodes = any(Action.ADD in known for known in actions)
    hears_taints = any(Action.UPDATE_NODE_TAINT in known for known in actions)
    if plugin.rules.retries_on_taints and waits_for_nodes and not hears_taints:
        found.append(Registration(ClusterEvent(NODE, Action.UPDATE_NODE_TAINT)))
    return tuple(found)


_ASSIGNED_UPDATE = (ClusterEvent(ASSIGNED_POD, Action.UPDATE),)
_UNSCHEDULED_UPDATE = (UNSCHEDULED_UPDATE,)


def pod_events(old: PodInfo, new: PodInfo) -> Sequence[ClusterEvent]:
    """What an update of a pod means for scheduling; a plain Update where nothing that matters has changed."""
    resource, plain = (ASSIGNED_POD, _ASSIGNED_UPDATE) if new.node else (UNSCHEDULED_POD, _UNSCHEDULED_UPDATE)
    if old.shape is new.shape and old.requests is new.requests and old.status is new.status:
        return plain
    return [ClusterEvent(resource, action) for action in _pod_actions(old, new)] or plain


def _pod_actions(old: PodInfo, new: PodInfo) -> Iterator[Action]:
    if old.shape is not new.shape and old.labels != new.labels:
        yield Action.UPDATE_POD_LABEL
    if old.requests is not new.requests and _is_scaled_down(old, new):
        yield Action.UPDATE_POD_SCALE_DOWN
    if old.spec.get("schedulingGates") and not new.spec.get("schedulingGates"):
        yield Action.UPDATE_POD_GATES_ELIMINATED
    if len(old.spec.get("tolerations") or ()) != len(new.spec.get("tolerations") or ()):
        yield Action.UPDATE_POD_TOLERATION
    if any(
        old.status.get(name) != new.status.get(name)
        for name in ("resourceClaimStatuses", "extendedResourceClaimStatus")
    ):
        yield Action.UPDATE_POD_GENERATED_CLAIM


def _is_scaled_down(old: PodInfo, new: PodInfo) -> bool:
    before, after = old.requests, new.requests
    return (
        before.cpu > after.cpu
        or before.memory > after.memory
        or before.ephemeral > after.ephemeral
        or any(amount > after.scalars.get(name, -1) for name, amount in before.scalars.items())
    )


def node_events(old: NodeInfo, new: NodeInfo) -> list[ClusterEvent]:
    """What an update of a node means for scheduling; empty where nothing that matters has changed."""
    actions = []
    if old.unschedulable and not new.unschedulable:
        actions.append(Action.UPDATE_NODE_TAINT)
    if old.allocatable != new.allocatable:
        actions.append(Action.UPDATE_NODE_ALLOCATABLE)
    if old.labels != new.labels:
        actions.append(Action.UPDATE_NODE_LABEL)
    if old.taints != new.taints:
        actions.append(Action.UPDATE_NODE_TAINT)
    if old.conditions != new.conditions:
        actions.append(Action.UPDATE_NODE_CONDITION)
    if old.annotations != new.annotations:
        actions.append(Action.UPDATE_NODE_ANNOTATION)
    if old.declared_features != new.declared_features:
        actions.append(Action.UPDATE_NODE_DECLARED_FEATURE)
    return [ClusterEvent(NODE, action) for action in actions]
