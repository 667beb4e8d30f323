"""EndpointSlices of Services with a selector.

Upstream: pkg/controller/endpointslice, k8s.io/endpointslice (v1.36). Topology hints are left out.
"""

from collections.abc import Mapping
from typing import ClassVar

from seatrial.controllers.endpoints.service_pods import TRIGGER_TIME, ServiceController, ServicePod, is_headless
from seatrial.controllers.endpoints.slices import (
    MANAGED_BY,
    MANAGER,
    SERVICE_NAME,
    Plan,
    Wanted,
    endpoint_key,
    endpoint_of,
    plan,
    ports_key,
)
from seatrial.controllers.framework.controller import Context, Listener
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.store import Change

ZONE = "topology.kubernetes.io/zone"


class EndpointSlice(ServiceController):
    """Keeps the EndpointSlices of every Service."""

    name: ClassVar[str] = "endpointslice"
    component: ClassVar[str] = "endpoint-slice-controller"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("discovery.k8s.io/v1", "EndpointSlice")
        self._nodes = context.kind("v1", "Node")

    def watches(self) -> Mapping[Kind, Listener]:
        return {**super().watches(), self.kind: self._slice_changed}

    def reconcile(self, service: Document, pods: list[ServicePod], changed: str) -> None:
        namespace = service["metadata"]["namespace"]
        selector = LabelSelector.from_document(
            {"matchLabels": {SERVICE_NAME: service["metadata"]["name"], MANAGED_BY: MANAGER}}
        )
        present = [stored.document() for stored in self.store.list(self.kind, namespace, selector)]
        present = [slice_ for slice_ in present if "deletionTimestamp" not in slice_["metadata"]]
        families: list[str] = service["spec"].get("ipFamilies") or ["IPv4"]
        for family in families:
            own = [slice_ for slice_ in present if slice_["addressType"] == family]
            wanted = self._wanted(service, pods, family)
            self._write(service, plan(service, family, wanted, own), changed)
        for slice_ in present:
            if slice_["addressType"] not in families:
                self._delete(slice_)

    def _wanted(self, service: Document, pods: list[ServicePod], family: str) -> dict[bytes, Wanted]:
        wanted: dict[bytes, Wanted] = {}
        for pod in pods:
            if not pod.belongs(terminating=True):
                continue
            ports = _ports(service, pod)
            group = wanted.setdefault(ports_key(ports), Wanted(ports))
            zone = self._zone(pod.spec.node_name)
            if zone is None and not service["spec"].get("publishNotReadyAddresses"):
                continue
            endpoint = endpoint_of(pod, service, zone or "", family)
            if endpoint["addresses"]:
                group.endpoints[endpoint_key(endpoint)] = endpoint
        return wanted

    def _zone(self, node: str) -> str | None:
        """The zone of a node; None where there is no such node."""
        stored = self.store.find(self._nodes, node)
        return str(stored.document()["metadata"].get("labels", {}).get(ZONE, "")) if stored is not None else None

    def _write(self, service: Document, planned: Plan, changed: str) -> None:
        namespace = service["metadata"]["namespace"]
        if "deletionTimestamp" not in service["metadata"]:
            for slice_ in planned.create:
                self.store.create(self.kind, _stamped(slice_, changed), namespace=namespace, writer=self.name)
        for slice_ in planned.update:
            self._update(_stamped(slice_, changed), namespace)
        for slice_ in planned.delete:
            self._delete(slice_)

    def _update(self, wanted: Document, namespace: str) -> None:
        def change(document: Document) -> None:
            meta = document["metadata"]
            for key in ("labels", "annotations"):
                meta.pop(key, None)
                if wanted["metadata"].get(key):
                    meta[key] = wanted["metadata"][key]
            document["endpoints"], document["ports"] = wanted["endpoints"], wanted.get("ports") or []

        self.store.modify(self.kind, wanted["metadata"]["name"], change, namespace=namespace, writer=self.name)

    def _delete(self, slice_: Document) -> None:
        meta = slice_["metadata"]
        try:
            self.store.delete(self.kind, meta["name"], namespace=meta["namespace"], writer=self.name)
        except NotFound:
            return

    def _slice_changed(self, change: Change) -> None:
        """A slice of ours that another program changes or deletes is brought back."""
        if change.writer == self.name:
            return
        labels = change.stored.document()["metadata"].get("labels", {})
        if labels.get(MANAGED_BY) == MANAGER and labels.get(SERVICE_NAME):
            self.enqueue((change.stored.namespace, labels[SERVICE_NAME]))


def _stamped(slice_: Document, changed: str) -> Document:
    """A slice with the time of the change that led to it."""
    meta = slice_["metadata"]
    notes = {key: value for key, value in meta.get("annotations", {}).items() if key != TRIGGER_TIME}
    return slice_ | {"metadata": meta | {"annotations": notes | ({TRIGGER_TIME: changed} if changed else {})}}


def _ports(service: Document, pod: ServicePod) -> list[Document]:
    """The ports of a Service as the pod has them; ports that it does not have are left out."""
    declared: list[Document] = service["spec"].get("ports") or []
    if not declared and is_headless(service):
        return []
    ports: list[Document] = []
    for entry in declared:
        number = pod.port(entry)
        if number is not None:
            port = {"name": entry.get("name", ""), "port": number, "protocol": entry.get("protocol", "TCP")}
            ports.append(port | ({"appProtocol": entry["appProtocol"]} if "appProtocol" in entry else {}))
    return ports
