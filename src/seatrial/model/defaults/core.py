"""Defaults of core/v1 but for the pod: pkg/apis/core/v1/defaults.go upstream."""

import base64

from seatrial.model.defaults.rules import constants, rule, when_absent, when_empty
from seatrial.model.documents import Document

CLIENT_IP_SECONDS = 10800
NAME_LABEL = "kubernetes.io/metadata.name"

constants("core.v1.Secret", type="Opaque")
constants("core.v1.NamespaceStatus", phase="Active")
constants("core.v1.PersistentVolumeClaimSpec", volumeMode="Filesystem")
constants("core.v1.EndpointPort", protocol="TCP")


@rule("core.v1.Secret")
def secret(document: Document) -> None:
    """Texts are merged into the data, which they win over, and are never stored (a conversion upstream)."""
    texts = document.pop("stringData", None)
    if texts:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in texts.items()}
        document["data"] = {**(document.get("data") or {}), **encoded}


@rule("core.v1.ReplicationController")
def replication_controller(document: Document) -> None:
    """Selector and labels come from the template; replicas are declared as a default of their field."""
    spec = document.setdefault("spec", {})
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        when_empty(spec, selector=dict(labels))
        when_empty(document.setdefault("metadata", {}), labels=dict(labels))


@rule("core.v1.Service")
def service(document: Document) -> None:
    """Type, ports and traffic policies; session affinity has a time only by client."""
    spec = document.setdefault("spec", {})
    when_empty(spec, sessionAffinity="None", type="ClusterIP")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if client.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": CLIENT_IP_SECONDS}}
    for port in spec.get("ports") or ():
        when_empty(port, protocol="TCP", targetPort=port.get("port", 0))
    is_cluster_ip, is_balanced = spec["type"] == "ClusterIP", spec["type"] == "LoadBalancer"
    if is_balanced or spec["type"] == "NodePort" or (is_cluster_ip and spec.get("externalIPs")):
        when_empty(spec, externalTrafficPolicy="Cluster")
    if is_balanced or is_cluster_ip or spec["type"] == "NodePort":
        when_absent(spec, internalTrafficPolicy="Cluster")
    if is_balanced:
        when_absent(spec, allocateLoadBalancerNodePorts=True)
        for ingress in ((document.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ():
            if ingress.get("ip"):
                when_absent(ingress, ipMode="VIP")


@rule("core.v1.PersistentVolume")
def persistent_volume(document: Document) -> None:
    when_empty(document.setdefault("status", {}), phase="Pending")
    spec = document.setdefault("spec", {})
    when_empty(spec, persistentVolumeReclaimPolicy="Retain")
    when_absent(spec, volumeMode="Filesystem")


@rule("core.v1.PersistentVolumeClaim")
def persistent_volume_claim(document: Document) -> None:
    when_empty(document.setdefault("status", {}), phase="Pending")


@rule("core.v1.Namespace")
def namespace(document: Document) -> None:
    """Every namespace carries its name as a label; one that is still to be named cannot."""
    metadata = document.setdefault("metadata", {})
    if name := metadata.get("name"):
        metadata["labels"] = {**(metadata.get("labels") or {}), NAME_LABEL: name}


@rule("core.v1.NodeStatus")
def node_status(document: Document) -> None:
    if document.get("capacity") and not document.get("allocatable"):
        document["allocatable"] = dict(document["capacity"])


@rule("core.v1.LimitRangeItem")
def limit_range_item(document: Document) -> None:
    """For containers max is the default limit, and the default limit or else min the default request."""
    if document.get("type") != "Container":
        return
    default = (document.get("max") or {}) | (document.get("default") or {})
    request = (document.get("min") or {}) | default | (document.get("defaultRequest") or {})
    for name, resources in (("default", default), ("defaultRequest", request)):
        if resources:
            document[name] = resources
