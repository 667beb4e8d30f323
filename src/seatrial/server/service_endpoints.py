"""Finds the endpoint of a Service that a program on this machine or beyond listens on.

Endpoints of pods are passed over: nothing runs in them, and their addresses may be those of real machines.

Upstream: k8s.io/apiserver/pkg/util/proxy (ResolveEndpoint; v1.36).
"""

from seatrial.store import Store


class NoEndpoint(Exception):
    """A Service without a port or an endpoint that can be reached."""


def service_endpoint(store: Store, namespace: str, name: str, port: int | str | None) -> tuple[str, int]:
    """A ready address of a Service, with the target of a port (by number or name; None where it has one only)."""
    services, slices = store.kinds.named("v1", "Service"), store.kinds.named("discovery.k8s.io/v1", "EndpointSlice")
    assert services is not None and slices is not None
    spec = store.get(services, name, namespace).document().get("spec") or {}
    declared = spec.get("ports") or []
    wanted = [each for each in declared if port is None or port in (each.get("port"), each.get("name", ""))]
    if len(wanted) != 1:
        raise NoEndpoint(f'no service port {port} found for service "{name}"')
    for stored in store.list(slices, namespace):
        document = stored.document()
        if (document["metadata"].get("labels") or {}).get("kubernetes.io/service-name") != name:
            continue
        ports = [
            each["port"] for each in document.get("ports") or () if each.get("name", "") == wanted[0].get("name", "")
        ]
        for endpoint in document.get("endpoints") or ():
            is_pod = (endpoint.get("targetRef") or {}).get("kind") == "Pod"
            if ports and not is_pod and (endpoint.get("conditions") or {}).get("ready", True):
                return str(endpoint["addresses"][0]), int(ports[0])
    raise NoEndpoint(f'no endpoints available for service "{name}"')
