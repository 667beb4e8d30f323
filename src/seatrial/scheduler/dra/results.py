"""The allocation as it is written into a claim's status: devices, their configuration, and the nodes it is good for.

Upstream: the end of Allocate in structured/internal/incubating/allocator_incubating.go, and createNodeSelector.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_OID, uuid5

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.scheduler.dra.pools import Candidate
from seatrial.scheduler.dra.requests import DeviceRequest, Wanted


@dataclass(frozen=True, slots=True)
class Granted:
    """A device given to a request; `consumed` is set for a share of a device."""

    request: DeviceRequest
    candidate: Candidate
    consumed: Mapping[str, Quantity] | None


def allocation_document(claim: Document, granted: Sequence[Granted], chosen: Sequence[Wanted], node: str) -> Document:
    """The AllocationResult of a claim."""
    uid = (claim.get("metadata") or {}).get("uid") or ""
    devices: Document = {"results": [_result(entry, uid, number) for number, entry in enumerate(granted)]}
    config = [*_class_configs(chosen), *_claim_configs(claim, chosen)]
    if config:
        devices["config"] = config
    allocation: Document = {"devices": devices}
    selector = node_selector(granted, node)
    if selector is not None:
        allocation["nodeSelector"] = selector
    return allocation


def _result(granted: Granted, claim_uid: str, number: int) -> Document:
    request, candidate = granted.request, granted.candidate
    driver, pool, device = candidate.id
    result: Document = {"request": request.full_name, "driver": driver, "pool": pool, "device": device}
    if request.admin_access:
        result["adminAccess"] = True
    if request.tolerations:
        result["tolerations"] = list(request.tolerations)
    for name in ("bindingConditions", "bindingFailureConditions"):
        if candidate.device.document.get(name):
            result[name] = candidate.device.document[name]
    if granted.consumed is not None:
        # Upstream takes a random share ID; here it is unique and the same in every run.
        result["shareID"] = str(uuid5(NAMESPACE_OID, f"{claim_uid}/{number}/{driver}/{pool}/{device}"))
        if granted.consumed:
            result["consumedCapacity"] = {name: str(granted.consumed[name]) for name in sorted(granted.consumed)}
    return result


def _class_configs(chosen: Iterable[Wanted]) -> list[Document]:
    """Each class' configuration once, with the names of the requests it is for."""
    made: dict[str, list[Document]] = {}
    for wanted in chosen:
        name = (wanted.device_class.get("metadata") or {}).get("name", "")
        if name in made:
            for entry in made[name]:
                entry["requests"].append(wanted.request.full_name)
            continue
        made[name] = [
            {**config, "source": "FromClass", "requests": [wanted.request.full_name]}
            for config in (wanted.device_class.get("spec") or {}).get("config") or ()
        ]
    return [entry for entries in made.values() for entry in entries]


def _claim_configs(claim: Document, chosen: Sequence[Wanted]) -> list[Document]:
    found: list[Document] = []
    for config in (claim.get("spec") or {}).get("devices", {}).get("config") or ():
        names = config.get("requests") or []
        entry = {**config, "source": "FromClaim"}
        if not names:
            found.append(entry)
            continue
        found.extend(
            dict(entry)
            for wanted in chosen
            if (wanted.request.parent or wanted.request.name) in names or wanted.request.full_name in names
        )
    return found


def node_selector(granted: Iterable[Granted], node: str) -> Document | None:
    """The nodes the allocation can be used on; None: all of them."""
    fields: list[Document] = []
    expressions: list[Document] = []
    for entry in granted:
        device, piece = entry.candidate.device.document, entry.candidate.slice
        name = device.get("nodeName") if piece.per_device else piece.node_name
        selector = device.get("nodeSelector") if piece.per_device else piece.node_selector
        if name or device.get("bindsToNode"):
            requirement = {"key": "metadata.name", "operator": "In", "values": [node]}
            return {"nodeSelectorTerms": [{"matchFields": [requirement]}]}
        for term in (selector or {}).get("nodeSelectorTerms") or ():
            _add_new(fields, term.get("matchFields") or ())
            _add_new(expressions, term.get("matchExpressions") or ())
    term = {"matchExpressions": expressions, "matchFields": fields}
    return {"nodeSelectorTerms": [{k: v for k, v in term.items() if v}]} if fields or expressions else None


def _add_new(present: list[Document], requirements: Iterable[Document]) -> None:
    for requirement in requirements:
        if not any(_same(requirement, other) for other in present):
            present.append(requirement)


def _same(one: Document, other: Document) -> bool:
    return (
        one.get("key") == other.get("key")
        and one.get("operator") == other.get("operator")
        and set(one.get("values") or ()) == set(other.get("values") or ())
    )
