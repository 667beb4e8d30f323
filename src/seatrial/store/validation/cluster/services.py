"""Services: type, ports, session affinity and traffic policies.

What an update leaves behind when the type of a service changes is upstream's to clean up, so the rules that tie fields
to a type are checked for new services only. Cluster addresses are checked where they are allocated.

Upstream: validateService of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import Struct, duplicate, forbidden, invalid, required, unsupported
from seatrial.store.object_meta import label_causes
from seatrial.store.validation.formats import address, label, port, port_number, qualified, subdomain
from seatrial.store.validation.pods.containers import PROTOCOLS

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES, _POLICIES = ("ClientIP", "None"), ("Cluster", "Local")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_LONGEST_AFFINITY = 86400


def create_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new Service."""
    spec = document.get("spec") or {}
    yield from _always(spec)
    yield from _by_type(spec)


def update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a Service."""
    spec = document.get("spec") or {}
    if not subresource and spec != old.get("spec"):
        yield from _always(spec)


def _is_headless(spec: Document) -> bool:
    return (spec.get("clusterIPs") or [spec.get("clusterIP")]) == ["None"]


def _always(spec: Document) -> Iterator[Cause]:
    kind, ports = spec.get("type", ""), spec.get("ports") or ()
    if not ports and not _is_headless(spec) and kind != "ExternalName":
        yield required("spec.ports")
    if kind == "ExternalName":
        name = spec.get("externalName", "").removesuffix(".")
        if not name:
            yield required("spec.externalName")
        else:
            yield from subdomain(name, "spec.externalName")
    yield from _ports(ports)
    yield from label_causes(spec.get("selector") or {}, "spec.selector")
    yield from _affinity(spec)
    for index, value in enumerate(spec.get("externalIPs") or ()):
        yield from address(value, f"spec.externalIPs[{index}]")
    if not kind:
        yield required("spec.type")
    elif kind not in _TYPES:
        yield unsupported("spec.type", kind, _TYPES)
    yield from _doubled(ports)
    yield from _traffic(spec)


def _ports(ports: Sequence[Document]) -> Iterator[Cause]:
    names: set[str] = set()
    for index, each in enumerate(ports):
        path, name, protocol = f"spec.ports[{index}]", each.get("name", ""), each.get("protocol", "")
        if name:
            yield from label(name, f"{path}.name")
            if name in names:
                yield duplicate(f"{path}.name", name)
            names.add(name)
        elif len(ports) > 1:
            yield required(f"{path}.name")
        yield from port_number(each.get("port", 0), f"{path}.port")
        if not protocol:
            yield required(f"{path}.protocol")
        elif protocol not in PROTOCOLS:
            yield unsupported(f"{path}.protocol", protocol, PROTOCOLS)
        yield from port(each.get("targetPort", 0), f"{path}.targetPort")
        if each.get("appProtocol") is not None:
            yield from qualified(each["appProtocol"], f"{path}.appProtocol")


def _doubled(ports: Sequence[Document]) -> Iterator[Cause]:
    outer: set[tuple[str, int]] = set()
    inner: set[tuple[str, int]] = set()
    for index, each in enumerate(ports):
        protocol, number = each.get("protocol", ""), each.get("nodePort", 0)
        if number and (protocol, number) in outer:
            yield duplicate(f"spec.ports[{index}].nodePort", number)
        outer.add((protocol, number))
    for index, each in enumerate(ports):
        pair = (each.get("protocol", ""), each.get("port", 0))
        if pair in inner:
            fields = {"Name": "", "Protocol": pair[0], "AppProtocol": None, "Port": pair[1]}
            yield duplicate(f"spec.ports[{index}]", Struct({**fields, "TargetPort": 0, "NodePort": 0}))
        inner.add(pair)


def _affinity(spec: Document) -> Iterator[Cause]:
    kind, config, path = (
        spec.get("sessionAffinity", ""),
        spec.get("sessionAffinityConfig"),
        "spec.sessionAffinityConfig",
    )
    if not kind:
        yield required("spec.sessionAffinity")
    elif kind not in _AFFINITIES:
        yield unsupported("spec.sessionAffinity", kind, _AFFINITIES)
    if kind != "ClientIP":
        return
    why = "when session affinity type is ClientIP"
    if config is None:
        yield required(path, why)
    elif config.get("clientIP") is None:
        yield required(f"{path}.clientIP", why)
    elif (seconds := config["clientIP"].get("timeoutSeconds")) is None:
        yield required(f"{path}.clientIP.timeoutSeconds", why)
    elif not 0 < seconds <= _LONGEST_AFFINITY:
        why = f"must be greater than 0 and less than {_LONGEST_AFFINITY}"
        yield invalid(f"{path}.clientIP.timeoutSeconds", seconds, why)


def _traffic(spec: Document) -> Iterator[Cause]:
    outer, inner = spec.get("externalTrafficPolicy", ""), spec.get("internalTrafficPolicy")
    if _is_outside(spec) and outer and outer not in _POLICIES:
        yield unsupported("spec.externalTrafficPolicy", outer, _POLICIES)
    if inner is not None and inner not in _POLICIES:
        yield unsupported("spec.internalTrafficPolicy", inner, _POLICIES)
    spread = spec.get("trafficDistribution")
    if spread is not None and spread not in _DISTRIBUTIONS:
        yield unsupported("spec.trafficDistribution", spread, _DISTRIBUTIONS)


def _is_outside(spec: Document) -> bool:
    kind = spec.get("type")
    return kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def _by_type(spec: Document) -> Iterator[Cause]:
    """Fields that only services of one type have."""
    kind, outer = spec.get("type"), spec.get("externalTrafficPolicy", "")
    if kind in ("LoadBalancer", "NodePort") and _is_headless(spec):
        yield invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    if kind == "ClusterIP":
        for index, each in enumerate(spec.get("ports") or ()):
            if each.get("nodePort"):
                yield forbidden(f"spec.ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
    if spec.get("sessionAffinity") == "None" and spec.get("sessionAffinityConfig") is not None:
        yield forbidden("spec.sessionAffinityConfig", "must not be set when session affinity is None")
    only = "may only be used when `type` is 'LoadBalancer'"
    for key in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
        if kind != "LoadBalancer" and spec.get(key) is not None:
            yield forbidden(f"spec.{key}", only)
    if outer and not _is_outside(spec):
        yield invalid("spec.externalTrafficPolicy", outer, "may only be set for externally-accessible services")
