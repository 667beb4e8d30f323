"""Allocates cluster IPs and node ports of Services: nothing routes to them, but clients read them.

An address follows from the name of the Service, so that the same run gives the same addresses in any order; one that
is taken moves on to the next. Upstream: pkg/registry/core/service (ipallocator, portallocator).
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid
from seatrial.store.views.view import View

if TYPE_CHECKING:
    from seatrial.store.store import Store

NETWORK = (10 << 24) | (96 << 16)
NETWORK_BITS = 12
RESERVED = 256
"""The first addresses are reserved for Services that name one."""

FIRST_PORT, LAST_PORT = 30000, 32767
WITH_NODE_PORTS = ("NodePort", "LoadBalancer")
UNCHANGEABLE = "may not change once set"


class _Port(msgspec.Struct, frozen=True, gc=False):
    nodePort: int = 0


class _Spec(msgspec.Struct, frozen=True, gc=False):
    clusterIP: str = ""
    ports: tuple[_Port, ...] = ()


class _Service(msgspec.Struct, frozen=True, gc=False):
    spec: _Spec = _Spec()


_SERVICE = View(_Service)


def allocate(store: "Store", document: Document) -> list[Cause]:
    """Allocate the address and ports of a new Service, in place; returns errors for requested ones that are taken."""
    spec, metadata = document.get("spec") or {}, document["metadata"]
    kind, asked = spec.get("type", "ClusterIP"), spec.get("clusterIP") or ""
    if kind == "ExternalName":
        return []
    taken = _others(store, metadata)
    addresses = {other.clusterIP for other in taken}
    if asked and asked != "None" and asked in addresses:
        why = f"failed to allocate IP {asked}: provided IP is already allocated"
        return [invalid("spec.clusterIPs", [asked], why)]
    if wrong := list(_port_causes(spec, taken)):
        return wrong
    digest = int.from_bytes(blake2b(f"{metadata['namespace']}/{metadata['name']}".encode(), digest_size=8).digest())
    address = asked or _free_address(digest, addresses)
    spec["clusterIP"], spec["clusterIPs"] = address, [address]
    # Without a selector a headless Service may have endpoints of both families.
    both = address == "None" and not spec.get("selector")
    spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if both else ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "RequireDualStack" if both else "SingleStack")
    document["spec"] = spec
    if kind in WITH_NODE_PORTS and spec.get("allocateLoadBalancerNodePorts", True):
        used = {port.nodePort for other in taken for port in other.ports}
        for number, port in enumerate(spec.get("ports") or ()):
            if not port.get("nodePort"):
                port["nodePort"] = _free_port(digest + number, used)
                used.add(port["nodePort"])
    return []


def keep_allocated(document: Document, old: Document) -> None:
    """Let a changed Service keep the address and ports that it leaves out, in place."""
    spec, before = document.get("spec") or {}, old.get("spec") or {}
    if spec.get("type") != "ExternalName" and before.get("type") != "ExternalName":
        if not spec.get("clusterIP") and before.get("clusterIP"):
            spec["clusterIP"] = before["clusterIP"]
        if not spec.get("clusterIPs") and spec.get("clusterIP") == before.get("clusterIP"):
            spec["clusterIPs"] = list(before.get("clusterIPs") or ())
        for key in ("ipFamilies", "ipFamilyPolicy"):
            if not spec.get(key) and before.get(key):
                spec[key] = before[key]
    if spec.get("type") in WITH_NODE_PORTS and before.get("type") in WITH_NODE_PORTS:
        used = {port.get("nodePort") for port in spec.get("ports") or ()}
        known = {(port.get("protocol"), port.get("port")): port.get("nodePort") for port in before.get("ports") or ()}
        for port in spec.get("ports") or ():
            earlier = known.get((port.get("protocol"), port.get("port")))
            if not port.get("nodePort") and earlier and earlier not in used:
                port["nodePort"] = earlier
                used.add(earlier)


def address_change_causes(document: Document, old: Document) -> list[Cause]:
    """The refusal of another address than the one that is set."""
    spec, before = document.get("spec") or {}, old.get("spec") or {}
    if "ExternalName" in (spec.get("type"), before.get("type")) or not before.get("clusterIP"):
        return []
    if spec.get("clusterIP") != before["clusterIP"]:
        return [invalid("spec.clusterIPs[0]", spec.get("clusterIPs") or [spec.get("clusterIP")], UNCHANGEABLE)]
    return []


def _others(store: "Store", metadata: Document) -> list[_Spec]:
    services = store.kinds.named("v1", "Service")
    if services is None:
        return []
    own = (metadata["namespace"], metadata["name"])
    index = store.index(services)
    return [_SERVICE.read(stored).spec for stored in index if (stored.namespace, stored.name) != own]


def _port_causes(spec: Document, taken: list[_Spec]) -> Iterator[Cause]:
    """Node ports that are asked for and cannot be had."""
    used = {port.nodePort for other in taken for port in other.ports}
    for number, port in enumerate(spec.get("ports") or ()):
        asked, path = port.get("nodePort"), f"spec.ports[{number}].nodePort"
        if not asked:
            continue
        if not FIRST_PORT <= asked <= LAST_PORT:
            why = f"provided port is not in the valid range. The range of valid ports is {FIRST_PORT}-{LAST_PORT}"
            yield invalid(path, asked, why)
        elif asked in used:
            yield invalid(path, asked, "provided port is already allocated")


def _free_address(digest: int, taken: set[str]) -> str:
    room = (1 << (32 - NETWORK_BITS)) - RESERVED - 1
    for step in range(room):
        number = NETWORK + RESERVED + (digest + step) % room
        address = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
        if address not in taken:
            return address
    return ""


def _free_port(digest: int, taken: set[int]) -> int:
    room = LAST_PORT - FIRST_PORT + 1
    ports = (FIRST_PORT + (digest + step) % room for step in range(room))
    return next((port for port in ports if port not in taken), 0)
