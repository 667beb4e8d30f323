"""Services: type, ports, session affinity and traffic policies.

What an update leaves behind when the type of a service changes is upstream's to clean up, so the rules that tie fields
to a type are checked for new services only. Cluster addresses are checked where they are allocated.

Upstream: validateService of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import Struct, duplicate, forbidden, invalid, required
from seatrial.store.object_meta import label_causes
from seatrial.store.validation.formats import address, label, port, port_number, qualified, subdomain
from seatrial.store.validation.pods.containers import PROTOCOL
from seatrial.store.validation.rules import always, among, each, given, need, need_set, present, ranged, rules

_LONGEST_AFFINITY = 86400
_WITH_CLIENT_IP = "when session affinity type is ClientIP"
_SECONDS = ranged(1, _LONGEST_AFFINITY, f"must be greater than 0 and less than {_LONGEST_AFFINITY}")
_POLICIES = among("Cluster", "Local")
_PORT = rules(
    always("port", port_number, zero=0),
    need("protocol", PROTOCOL),
    always("targetPort", port, zero=0),
    present("appProtocol", qualified),
)
_CLIENT_IP = rules(need_set("clientIP.timeoutSeconds", _SECONDS, text=_WITH_CLIENT_IP))
_OUTSIDE = rules(given("externalTrafficPolicy", _POLICIES))
_TRAFFIC = rules(
    present("internalTrafficPolicy", _POLICIES),
    present("trafficDistribution", among("PreferClose", "PreferSameZone", "PreferSameNode")),
)


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
    yield from _REST(spec, "spec")
    yield from _doubled(ports)
    if _is_outside(spec):
        yield from _OUTSIDE(spec, "spec")
    yield from _TRAFFIC(spec, "spec")


def _ports(ports: Sequence[Document]) -> Iterator[Cause]:
    names: set[str] = set()
    for index, one in enumerate(ports):
        path, name = f"spec.ports[{index}]", one.get("name", "")
        if name:
            yield from label(name, f"{path}.name")
            if name in names:
                yield duplicate(f"{path}.name", name)
            names.add(name)
        elif len(ports) > 1:
            yield required(f"{path}.name")
        yield from _PORT(one, path)


def _doubled(ports: Sequence[Document]) -> Iterator[Cause]:
    outer: set[tuple[str, int]] = set()
    inner: set[tuple[str, int]] = set()
    for index, one in enumerate(ports):
        protocol, number = one.get("protocol", ""), one.get("nodePort", 0)
        if number and (protocol, number) in outer:
            yield duplicate(f"spec.ports[{index}].nodePort", number)
        outer.add((protocol, number))
    for index, one in enumerate(ports):
        pair = (one.get("protocol", ""), one.get("port", 0))
        if pair in inner:
            fields = {"Name": "", "Protocol": pair[0], "AppProtocol": None, "Port": pair[1]}
            yield duplicate(f"spec.ports[{index}]", Struct({**fields, "TargetPort": 0, "NodePort": 0}))
        inner.add(pair)


def _client_ip(spec: Document, path: str) -> Iterator[Cause]:
    if spec.get("sessionAffinity") != "ClientIP":
        return
    config, path, why = spec.get("sessionAffinityConfig"), f"{path}.sessionAffinityConfig", _WITH_CLIENT_IP
    if config is None:
        yield required(path, why)
    elif config.get("clientIP") is None:
        yield required(f"{path}.clientIP", why)
    else:
        yield from _CLIENT_IP(config, path)


_REST = rules(
    given("selector", label_causes),
    need("sessionAffinity", among("ClientIP", "None")),
    _client_ip,
    each("externalIPs", address),
    need("type", among("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")),
)


def _is_outside(spec: Document) -> bool:
    kind = spec.get("type")
    return kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def _by_type(spec: Document) -> Iterator[Cause]:
    """Fields that only services of one type have."""
    kind, outer = spec.get("type"), spec.get("externalTrafficPolicy", "")
    if kind in ("LoadBalancer", "NodePort") and _is_headless(spec):
        yield invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    if kind == "ClusterIP":
        for index, one in enumerate(spec.get("ports") or ()):
            if one.get("nodePort"):
                yield forbidden(f"spec.ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
    if spec.get("sessionAffinity") == "None" and spec.get("sessionAffinityConfig") is not None:
        yield forbidden("spec.sessionAffinityConfig", "must not be set when session affinity is None")
    only = "may only be used when `type` is 'LoadBalancer'"
    for key in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
        if kind != "LoadBalancer" and spec.get(key) is not None:
            yield forbidden(f"spec.{key}", only)
    if outer and not _is_outside(spec):
        yield invalid("spec.externalTrafficPolicy", outer, "may only be set for externally-accessible services")
