"""Requests of a claim, exact ones and the alternatives of `firstAvailable`, in one form."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.scheduler.dra.devices import Device
from seatrial.scheduler.dra.pools import Candidate


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """One request, or one alternative of it."""

    name: str
    parent: str
    """The request of which this is an alternative, else empty."""
    device_class: str
    all_devices: bool
    mode: str
    count: int
    admin_access: bool
    selectors: tuple[Document, ...]
    tolerations: tuple[Document, ...]
    capacity: Mapping[str, Quantity]

    @classmethod
    def read(cls, name: str, document: Mapping[str, Any], parent: str = "") -> "DeviceRequest":
        mode = document.get("allocationMode") or "ExactCount"
        requests = (document.get("capacity") or {}).get("requests") or {}
        count = document.get("count")
        return cls(
            name,
            parent,
            document.get("deviceClassName") or "",
            mode == "All",
            mode,
            1 if count is None else count,
            bool(document.get("adminAccess")) and not parent,
            tuple(document.get("selectors") or ()),
            tuple(document.get("tolerations") or ()),
            {key: Quantity.parse(value) for key, value in requests.items()},
        )

    @property
    def full_name(self) -> str:
        """The name in allocation results."""
        return f"{self.parent}/{self.name}" if self.parent else self.name

    def tolerates(self, device: Device) -> bool:
        """Whether every taint of the device that would prevent allocation is tolerated."""
        return all(
            any(_tolerates(toleration, taint) for toleration in self.tolerations)
            for taint in device.document.get("taints") or ()
            if taint.get("effect") in ("NoSchedule", "NoExecute")
        )


def _tolerates(toleration: Document, taint: Document) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Equal":
        return (toleration.get("value") or "") == (taint.get("value") or "")
    return bool(operator == "Exists")


@dataclass(slots=True)
class Wanted:
    """A request with its class and what is known about it before the search."""

    request: DeviceRequest
    device_class: Document
    count: int = 0
    candidates: list[Candidate] = field(default_factory=list)
    """The devices of a request for all of them."""


def requests_of(claim: Document) -> list[list[DeviceRequest]]:
    """For each request its alternatives; an exact request is its only one."""
    found: list[list[DeviceRequest]] = []
    for entry in (claim.get("spec") or {}).get("devices", {}).get("requests") or ():
        name = entry.get("name", "")
        if entry.get("firstAvailable"):
            found.append([DeviceRequest.read(sub.get("name", ""), sub, name) for sub in entry["firstAvailable"]])
        else:
            found.append([DeviceRequest.read(name, entry.get("exactly") or {})])
    return found


def key_of(claim: Document) -> str:
    """`namespace/name` in messages."""
    metadata = claim.get("metadata") or {}
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata.get('name', '')}" if namespace else str(metadata.get("name", ""))
