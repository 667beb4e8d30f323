"""Endpoints of Services with a selector: the older form of EndpointSlices.

Upstream: pkg/controller/endpoint, pkg/api/v1/endpoints (RepackSubsets; v1.36). Upstream orders subsets and ports by a
hash; here they are in the order of their numbers.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import ClassVar

from seatrial.controllers.endpoints.service_pods import (
    HEADLESS,
    TRIGGER_TIME,
    ServiceController,
    ServicePod,
    is_headless,
    of_family,
)
from seatrial.controllers.framework.controller import Context, Key, Listener
from seatrial.model.documents import Document, encode_sorted
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.store import Change

MANAGED_BY = "endpoints.kubernetes.io/managed-by"
MANAGER = "endpoint-controller"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
MOST_ENDPOINTS = 1000


class Endpoint(ServiceController):
    """Keeps the Endpoints of every Service."""

    name: ClassVar[str] = "endpoint"
    component: ClassVar[str] = "endpoint-controller"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("v1", "Endpoints")

    def watches(self) -> Mapping[Kind, Listener]:
        return {**super().watches(), self.kind: self._endpoints_changed}

    def forget(self, key: Key) -> None:
        try:
            self.store.delete(self.kind, key[1], namespace=key[0], writer=self.name)
        except NotFound:
            return

    def reconcile(self, service: Document, pods: list[ServicePod], changed: str) -> None:
        meta = service["metadata"]
        wanted = subsets(service, pods)
        is_cut = _truncate(wanted)
        labels = {key: value for key, value in meta.get("labels", {}).items() if key != HEADLESS}
        labels |= ({HEADLESS: ""} if is_headless(service) else {}) | {MANAGED_BY: MANAGER}
        notes = ({TRIGGER_TIME: changed} if changed else {}) | ({OVER_CAPACITY: "truncated"} if is_cut else {})
        stored = self.store.find(self.kind, meta["name"], meta["namespace"])
        if stored is None:
            new = {"name": meta["name"], "labels": labels} | ({"annotations": notes} if notes else {})
            document: Document = {"apiVersion": "v1", "kind": "Endpoints", "metadata": new, "subsets": wanted}
            self.store.create(self.kind, document, namespace=meta["namespace"], writer=self.name)
            return
        present = stored.document()
        if (present.get("subsets") or [], present["metadata"].get("labels")) == (wanted, labels):
            return

        def change(document: Document) -> None:
            kept = document["metadata"].pop("annotations", {})
            kept = {key: value for key, value in kept.items() if key not in (TRIGGER_TIME, OVER_CAPACITY)} | notes
            document["metadata"] |= {"labels": labels} | ({"annotations": kept} if kept else {})
            document["subsets"] = wanted

        self.store.modify(self.kind, meta["name"], change, namespace=meta["namespace"], writer=self.name)

    def _endpoints_changed(self, change: Change) -> None:
        """Deleted Endpoints are created again, and those without a Service are deleted by `forget`."""
        if change.type == "DELETED":
            self.enqueue((change.stored.namespace, change.stored.name))


def subsets(service: Document, pods: list[ServicePod]) -> list[Document]:
    """The addresses by the ports that they have."""
    spec = service["spec"]
    is_published, family = bool(spec.get("publishNotReadyAddresses")), (spec.get("ipFamilies") or ["IPv4"])[0]
    groups: dict[bytes, tuple[list[Document], list[Document], list[Document]]] = {}
    for pod in pods:
        own = of_family(pod.addresses, family)[:1] if pod.belongs(terminating=is_published) else []
        ports = _ports(service, pod)
        if not own or (not ports and (spec.get("ports") or spec.get("clusterIP") != "None")):
            continue
        address: Document = {"ip": own[0], "nodeName": pod.spec.node_name, "targetRef": pod.reference()}
        if pod.has_hostname_for(service):
            address["hostname"] = pod.spec.hostname
        _, ready, unready = groups.setdefault(encode_sorted(ports), (ports, [], []))
        (ready if is_published or pod.is_ready else unready).append(address)
    made = [_subset(*group) for group in groups.values()]
    return sorted(made, key=lambda subset: [_port_order(port) for port in subset.get("ports", [])])


def _subset(ports: list[Document], ready: list[Document], unready: list[Document]) -> Document:
    parts = {"addresses": _by_address(ready), "notReadyAddresses": _by_address(unready), "ports": ports}
    return {key: value for key, value in parts.items() if value}


def _by_address(addresses: list[Document]) -> list[Document]:
    return sorted(addresses, key=lambda entry: (ip_address(entry["ip"]).packed, entry["targetRef"]["uid"]))


def _ports(service: Document, pod: ServicePod) -> list[Document]:
    ports: list[Document] = []
    for entry in service["spec"].get("ports") or []:
        number = pod.port(entry)
        if number is not None:
            port = {"port": number, "protocol": entry.get("protocol", "TCP")}
            ports.append(port | {key: entry[key] for key in ("name", "appProtocol") if entry.get(key)})
    return sorted(ports, key=_port_order)


def _port_order(port: Document) -> tuple[int, str, str]:
    return port["port"], port["protocol"], port.get("name", "")


def _truncate(wanted: list[Document]) -> bool:
    """Keep at most 1,000 addresses, ready ones first; True where some were dropped."""
    total = sum(len(subset.get(key, [])) for subset in wanted for key in ("addresses", "notReadyAddresses"))
    if total <= MOST_ENDPOINTS:
        return False
    left = MOST_ENDPOINTS
    for key in ("addresses", "notReadyAddresses"):
        for subset in wanted:
            if key in subset:
                subset[key] = subset[key][:left]
                left -= len(subset[key])
                if not subset[key]:
                    del subset[key]
    return True
