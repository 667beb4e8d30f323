"""Hints of NodeResourcesFit. Upstream: plugins/noderesources/fit.go (v1.36.3)."""

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_requests import Requests
from seatrial.scheduler.framework.interface import Action, Handle, Plugin, Requeue

GATE = "DRAExtendedResource"
_CORE = ("cpu", "memory", "ephemeral-storage")
_DEVICE_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"


def has_device_resources(handle: Handle | None) -> bool:
    """Whether devices may stand for extended resources."""
    return handle is not None and handle.gates.get(GATE, True)


def is_by_devices(handle: Handle | None, resource: str) -> bool:
    """Whether a device class stands for an extended resource, so that DynamicResources judges it."""
    return (
        handle is not None
        and has_device_resources(handle)
        and any(
            (device.get("spec") or {}).get("extendedResourceName") == resource
            or _DEVICE_CLASS_PREFIX + device["metadata"]["name"] == resource
            for device in handle.cluster.list("DeviceClass")
        )
    )


def pod_left_or_shrank(_: Plugin, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> bool:
    if new is None:
        return old is not None and bool(old.node or old.nominated_node)
    if new.uid == pod.uid:
        return True
    if not new.node or old is None:
        return False
    return any(old.requests.of(name) > new.requests.of(name) for name, amount in _wanted(pod.requests) if amount)


def node_has_room(plugin: Plugin, pod: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
    """Whether the node, were it empty, would fit the pod, and offers more than before of what the pod asks for."""
    if new.allowed_pods < 1:
        return False
    wanted = [(name, amount) for name, amount in _wanted(pod.requests) if amount]
    for name, amount in wanted:
        if amount > new.allocatable.get(name, 0) and not _is_delegated(plugin, name, new):
            return False
    if old is None or new.allowed_pods > old.allowed_pods:
        return True
    return any(
        new.allocatable.get(name, 0) > old.allocatable.get(name, 0) or _is_delegated(plugin, name, new)
        for name, _ in wanted
    )


def device_class_offers(_: Plugin, pod: PodInfo, old: Document | None, new: Document) -> bool:
    offered = (new.get("spec") or {}).get("extendedResourceName")
    asked = pod.requests.scalars
    if old is not None:
        if ((old.get("spec") or {}).get("extendedResourceName") or "") == (offered or ""):
            return False
    elif _DEVICE_CLASS_PREFIX + new["metadata"]["name"] in asked:
        return True
    return offered is not None and offered in asked


def _wanted(requests: Requests) -> list[tuple[str, int]]:
    return [*((name, requests.of(name)) for name in _CORE), *requests.scalars.items()]


def _is_delegated(plugin: Plugin, name: str, node: NodeInfo) -> bool:
    """Whether devices stand for an extended resource that the node itself does not offer."""
    return name not in _CORE and node.allocatable.get(name, 0) <= 0 and is_by_devices(plugin.handle, name)


HINTS: tuple[Requeue, ...] = (
    Requeue("Pod", Action.DELETE | Action.UPDATE_POD_SCALE_DOWN, pod_left_or_shrank),
    Requeue("Node", Action.ADD | Action.UPDATE_NODE_ALLOCATABLE, node_has_room),
    Requeue("DeviceClass", Action.ADD | Action.UPDATE, device_class_offers),
)
