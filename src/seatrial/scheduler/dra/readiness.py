"""Binding conditions: devices that must be made ready after they were allocated, before the pod is bound.

Upstream: isClaimReadyForBinding and isClaimTimeout in dynamicresources.go.
"""

from collections.abc import Iterable

from seatrial.model.documents import Document
from seatrial.model.times import parse_time
from seatrial.scheduler.dra.pod_claims import allocation_of
from seatrial.scheduler.volumes.claims import metadata_of


class BindingFailed(Exception):
    """A device says that it will not become ready."""


def results_of(claim: Document) -> list[Document]:
    """The devices allocated for a claim."""
    allocation = allocation_of(claim) or {}
    results: list[Document] = (allocation.get("devices") or {}).get("results") or []
    return results


def has_conditions(claims: Iterable[Document]) -> bool:
    """Whether one of the claims has devices with binding conditions."""
    return any(result.get("bindingConditions") for claim in claims for result in results_of(claim))


def is_ready(claim: Document) -> bool:
    """Whether all devices of a claim are ready; BindingFailed where one will not be."""
    if allocation_of(claim) is None:
        return False
    for result in results_of(claim):
        if not result.get("bindingConditions"):
            continue
        conditions = _conditions(claim, result)
        if conditions is None:
            return False
        for name in result.get("bindingFailureConditions") or ():
            found = conditions.get(name)
            if found is not None and found.get("status") == "True":
                raise BindingFailed(
                    f"device binding failed: claim={metadata_of(claim).get('name')}, "
                    f'reason={found.get("reason") or ""}, message="{found.get("message") or ""}"'
                )
        if any((conditions.get(name) or {}).get("status") != "True" for name in result["bindingConditions"]):
            return False
    return True


def has_timed_out(claim: Document, now: int, timeout: int) -> bool:
    """Whether the devices of a claim had their time to become ready."""
    started = (allocation_of(claim) or {}).get("allocationTimestamp")
    if started is None or not any(result.get("bindingConditions") for result in results_of(claim)):
        return False
    return parse_time(started) + timeout < now


def _conditions(claim: Document, result: Document) -> dict[str, Document] | None:
    for device in (claim.get("status") or {}).get("devices") or ():
        if all(device.get(name) == result.get(name) for name in ("driver", "pool", "device")):
            return {condition.get("type", ""): condition for condition in device.get("conditions") or ()}
    return None
