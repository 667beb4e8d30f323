"""Distributes the endpoints of a Service over EndpointSlices with as few writes as possible. Pure.

Upstream: k8s.io/endpointslice/reconciler.go (reconcileByPortMapping, finalize; v1.36). Where upstream takes endpoints
in no fixed order, they are taken in the order of the pods.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from seatrial.controllers.endpoints.service_pods import HEADLESS, ServicePod, is_headless, of_family
from seatrial.model.documents import Document, encode_sorted

MOST_ENDPOINTS = 100
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
SERVICE_NAME = "kubernetes.io/service-name"
MANAGER = "endpointslice-controller.k8s.io"
RESERVED = frozenset({MANAGED_BY, SERVICE_NAME, HEADLESS})
EndpointKey = tuple[tuple[str, ...], str]
"""Addresses and the uid of the pod: endpoints that are equal in these are one endpoint."""


@dataclass(slots=True)
class Plan:
    """The slices to write."""

    create: list[Document] = field(default_factory=list)
    update: list[Document] = field(default_factory=list)
    delete: list[Document] = field(default_factory=list)


@dataclass(slots=True)
class Wanted:
    """The endpoints with the same ports."""

    ports: list[Document]
    endpoints: dict[EndpointKey, Document] = field(default_factory=dict)


def plan(service: Document, family: str, wanted: dict[bytes, Wanted], present: Sequence[Document]) -> Plan:
    """What to write, so that the slices of one address family hold the wanted endpoints."""
    result = Plan()
    by_ports: dict[bytes, list[Document]] = {}
    for slice_ in present:
        if _is_owned(slice_, service):
            by_ports.setdefault(ports_key(slice_.get("ports") or []), []).append(slice_)
        else:
            result.delete.append(slice_)
    for key, group in wanted.items():
        _fill(service, family, group, by_ports.get(key, []), result)
    for key, slices in by_ports.items():
        if key not in wanted:
            result.delete.extend(slices)
    _keep_placeholder(service, family, len(present), result)
    _reuse(service, result)
    return result


def ports_key(ports: Sequence[Document]) -> bytes:
    """Equal for lists of the same ports."""
    return b",".join(sorted(encode_sorted(port) for port in ports))


def endpoint_of(pod: ServicePod, service: Document, zone: str, family: str) -> Document:
    """The endpoint of a pod."""
    is_published = bool(service["spec"].get("publishNotReadyAddresses"))
    endpoint: Document = {
        "addresses": of_family(pod.addresses, family),
        "conditions": {
            "ready": is_published or (pod.is_ready and not pod.is_terminating),
            "serving": pod.is_ready,
            "terminating": pod.is_terminating,
        },
        "targetRef": pod.reference(),
    }
    if pod.spec.node_name:
        endpoint["nodeName"] = pod.spec.node_name
    if zone:
        endpoint["zone"] = zone
    if pod.has_hostname_for(service):
        endpoint["hostname"] = pod.spec.hostname
    return endpoint


def endpoint_key(endpoint: Document) -> EndpointKey:
    return tuple(endpoint["addresses"]), (endpoint.get("targetRef") or {}).get("uid", "")


def _fill(service: Document, family: str, group: Wanted, present: Sequence[Document], result: Plan) -> None:
    left = dict(group.endpoints)
    changed: list[Document] = []
    unchanged: list[Document] = []
    for slice_ in present:
        old = slice_.get("endpoints") or []
        kept = [new for endpoint in old if (new := left.pop(endpoint_key(endpoint), None)) is not None]
        if kept == old and _labels(service) == slice_["metadata"].get("labels"):
            unchanged.append(slice_)
        elif old and not kept:
            result.delete.append(slice_)
        else:
            changed.append(_with(slice_, kept, service))
    remaining = list(left.values())
    for slice_ in sorted(changed, key=lambda slice_: -len(slice_["endpoints"])):
        room = MOST_ENDPOINTS - len(slice_["endpoints"])
        slice_["endpoints"] += remaining[:room]
        remaining = remaining[room:]
    while remaining:
        chosen = _closest_to_full(unchanged, len(remaining)) if len(remaining) < MOST_ENDPOINTS else None
        if chosen is not None:
            unchanged.remove(chosen)
            changed.append(_with(chosen, [*(chosen.get("endpoints") or []), *remaining], service))
            break
        result.create.append(_new(service, family, group.ports, remaining[:MOST_ENDPOINTS]))
        remaining = remaining[MOST_ENDPOINTS:]
    result.update.extend(changed)


def _closest_to_full(slices: Sequence[Document], count: int) -> Document | None:
    rooms = [(MOST_ENDPOINTS - count - len(slice_.get("endpoints") or []), slice_) for slice_ in slices]
    fitting = [(room, place) for place, (room, _) in enumerate(rooms) if 0 <= room < MOST_ENDPOINTS]
    return rooms[min(fitting)[1]][1] if fitting else None


def _keep_placeholder(service: Document, family: str, present: int, result: Plan) -> None:
    """A Service without endpoints has one empty slice."""
    if present != len(result.delete) or result.create:
        return
    placeholder = _new(service, family, [], [])
    only = result.delete[0] if len(result.delete) == 1 else None
    if (
        only is not None
        and not only.get("endpoints")
        and not only.get("ports")
        and _is_owned(only, service)
        and only["metadata"].get("labels") == placeholder["metadata"]["labels"]
    ):
        result.delete.clear()
    else:
        result.create.append(placeholder)


def _reuse(service: Document, result: Plan) -> None:
    """A slice that would be deleted is changed into one that would be created."""
    for slice_ in list(result.delete):
        if result.create and _is_owned(slice_, service):
            new = result.create.pop()
            kept = {"name": slice_["metadata"]["name"], "namespace": slice_["metadata"]["namespace"]}
            result.update.append(new | {"metadata": {**_without_name(new["metadata"]), **kept}})
            result.delete.remove(slice_)


def _without_name(meta: Document) -> Document:
    return {key: value for key, value in meta.items() if key != "generateName"}


def _with(slice_: Document, endpoints: list[Document], service: Document) -> Document:
    meta = slice_["metadata"] | {"labels": _labels(service)}
    return slice_ | {"metadata": meta, "endpoints": list(endpoints)}


def _new(service: Document, family: str, ports: list[Document], endpoints: list[Document]) -> Document:
    meta = service["metadata"]
    owner = {
        "apiVersion": "v1",
        "kind": "Service",
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{meta['name']}-",
            "namespace": meta["namespace"],
            "labels": _labels(service),
            "ownerReferences": [owner],
        },
        "addressType": family,
        "endpoints": list(endpoints),
        "ports": ports,
    }


def _labels(service: Document) -> Document:
    """The labels of the Service, and the reserved ones."""
    own = {key: value for key, value in service["metadata"].get("labels", {}).items() if key not in RESERVED}
    headless = {HEADLESS: ""} if is_headless(service) else {}
    return own | headless | {SERVICE_NAME: service["metadata"]["name"], MANAGED_BY: MANAGER}


def _is_owned(slice_: Document, service: Document) -> bool:
    references: list[Document] = slice_["metadata"].get("ownerReferences") or []
    return any(
        (reference["uid"], reference["kind"], reference["apiVersion"]) == (service["metadata"]["uid"], "Service", "v1")
        for reference in references
    )
