"""The Service through which pods reach the API server, with its endpoints and the range of Service addresses.

Upstream: pkg/controlplane/controller/kubernetesservice, pkg/controlplane/reconcilers and
pkg/controlplane/controller/defaultservicecidr.
"""

from seatrial.control_plane.bootstrap import create_once
from seatrial.model.documents import Document
from seatrial.model.times import to_time
from seatrial.store import Store

NAME, NAMESPACE = "kubernetes", "default"
CIDR, FIRST_ADDRESS = "10.96.0.0/12", "10.96.0.1"
ENDPOINT = "192.0.2.1"
"""An address for documentation: endpoints may not be on loopback, and nothing in the cluster connects to them."""


def create_service(store: Store, port: int) -> None:
    """Create Service, Endpoints, EndpointSlice and ServiceCIDR of the API server."""
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": to_time(store.clock.now()), "reason": ""}
    message = "Kubernetes default Service CIDR is ready"
    create_once(
        store,
        _document("networking.k8s.io/v1", "ServiceCIDR", {"name": NAME})
        | {"spec": {"cidrs": [CIDR]}, "status": {"conditions": [{**ready, "message": message}]}},
    )
    labels = {"component": "apiserver", "provider": NAME}
    spec = {
        "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}],
        "clusterIP": FIRST_ADDRESS,
        "clusterIPs": [FIRST_ADDRESS],
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
    }
    create_once(store, _document("v1", "Service", _own(labels)) | {"spec": spec, "status": {"loadBalancer": {}}})
    target = {"name": "https", "port": port, "protocol": "TCP"}
    create_once(
        store,
        _document("v1", "Endpoints", _own({"endpointslice.kubernetes.io/skip-mirror": "true"}))
        | {"subsets": [{"addresses": [{"ip": ENDPOINT}], "ports": [target]}]},
    )
    create_once(
        store,
        _document("discovery.k8s.io/v1", "EndpointSlice", _own({"kubernetes.io/service-name": NAME}))
        | {
            "addressType": "IPv4",
            "endpoints": [{"addresses": [ENDPOINT], "conditions": {"ready": True}}],
            "ports": [target],
        },
    )


def create_authentication_info(store: Store, authority: str) -> None:
    """Create the ConfigMap from which other servers learn how clients authenticate."""
    metadata = {"name": "extension-apiserver-authentication", "namespace": "kube-system"}
    create_once(store, _document("v1", "ConfigMap", metadata) | {"data": {"client-ca-file": authority}})


def create_token_tracking(store: Store) -> None:
    """Create the ConfigMap that says since when the use of service account tokens in Secrets is recorded."""
    metadata = {"name": "kube-apiserver-legacy-service-account-token-tracking", "namespace": "kube-system"}
    since = to_time(store.clock.now()).partition("T")[0]
    create_once(store, _document("v1", "ConfigMap", metadata) | {"data": {"since": since}})


def _own(labels: Document) -> Document:
    return {"name": NAME, "namespace": NAMESPACE, "labels": labels}


def _document(api_version: str, kind: str, metadata: Document) -> Document:
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}
