"""What the scheduler reads of a pod's status. Pods of one template share whole statuses."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from seatrial.model.times import parse_time
from seatrial.store import Condition

NOTHING: Mapping[str, Any] = MappingProxyType({})
STATUSES_KEPT = 256
STATUS = b',"status":{'


class StatusFields(msgspec.Struct, frozen=True, eq=False):
    """The fields of a status, as PodInfo has them."""

    phase: str
    nominated_node: str
    start_time: int | None
    is_preempted: bool
    kept: Mapping[str, Any]
    changes_requests: bool
    """Whether a pod is charged with other amounts than its spec says."""

    @classmethod
    def of(cls, status: "PodStatus | None") -> "StatusFields":
        if status is None:
            status = _NO_STATUS
        return cls(
            status.phase or "",
            status.nominated_node_name or "",
            parse_time(status.start_time) if status.start_time else None,
            status.is_preempted(),
            status.kept(),
            status.changes_requests(),
        )


class _ContainerStatus(msgspec.Struct, rename="camel"):
    resources: Any = None
    allocated_resources: Any = None


class PodStatus(msgspec.Struct, rename="camel"):
    phase: str | None = None
    nominated_node_name: str | None = None
    start_time: str | None = None
    conditions: tuple[Condition, ...] | None = None
    resource_claim_statuses: Any = None
    extended_resource_claim_status: Any = None
    node_allocatable_resource_claim_statuses: Any = None
    resources: Any = None
    allocated_resources: Any = None
    container_statuses: tuple[_ContainerStatus, ...] | None = None
    init_container_statuses: tuple[_ContainerStatus, ...] | None = None

    def changes_requests(self) -> bool:
        if self.resources or self.allocated_resources:
            return True
        if any(condition.type == "PodResizePending" for condition in self.conditions or ()):
            return True
        containers = (*(self.container_statuses or ()), *(self.init_container_statuses or ()))
        return any(one.resources is not None or one.allocated_resources is not None for one in containers)

    def is_preempted(self) -> bool:
        for condition in self.conditions or ():
            if condition.type == "DisruptionTarget":
                return condition.status == "True" and condition.reason == "PreemptionByScheduler"
        return False

    def kept(self) -> Mapping[str, Any]:
        """The fields that plugins read."""
        found = {
            "resourceClaimStatuses": self.resource_claim_statuses,
            "extendedResourceClaimStatus": self.extended_resource_claim_status,
            "nodeAllocatableResourceClaimStatuses": self.node_allocatable_resource_claim_statuses,
        }
        return {name: value for name, value in found.items() if value} or NOTHING


_NO_STATUS = PodStatus()


def only_status_changed(data: bytes, revision: int, before: bytes, revision_before: int) -> bytes | None:
    """The encoded status of an object, where nothing but that and the resourceVersion changed; None where unknown.

    Both must be equal up to the status, and the status must be the last field. It is, if what stands there up to
    the closing brace is one JSON value, which its decoder finds out.
    """
    found = data.rfind(STATUS)
    if found < 0:
        return None
    place = found + len(STATUS) - 1
    new, old = b'"resourceVersion":"%d"' % revision, b'"resourceVersion":"%d"' % revision_before
    head = before[: place - len(new) + len(old)]
    return data[place:-1] if head.replace(old, new, 1) == data[:place] else None
