"""Allocates cluster IPs and node ports of Services: nothing routes to them, but clients read them.

An address follows from the name of the Service, so that the same run gives the same addresses in any order; one that
is taken moves on to the next. Upstream: pkg/registry/core/service (ipallocator, portallocator).
"""

from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid

if TYPE_CHECKING:
    from seatrial.store.store import Store

NETWORK = (10 << 24) | (96 << 16)
NETWORK_BITS = 12
RESERVED = 256
"""The first addresses are reserved for Services that name one."""

FIRST_PORT, LAST_PORT = 30000, 32767


class _Port(msgspec.Struct, frozen=True, gc=False):
    nodePort: int = 0


class _Spec(msgspec.Struct, frozen=True, gc=False):
    clusterIP: str = ""
    ports: tuple[_Port, ...] = ()


class _Service(msgspec.Struct, frozen=True, gc=False):
    spec: _Spec = _Spec()


def allocate(store: "Store", document: Document) -> list[Cause]:
    """Allocate the address and ports of a new Service, in place; returns errors for requested ones that are taken."""
    spec, metadata = document.get("spec") or {}, document["metadata"]
    kind, asked = spec.get("type", "ClusterIP"), spec.get("clusterIP") or ""
    if kind == "ExternalName":
        return []
    services = store.kinds.named("v1", "Service")
    taken = [stored.view(_Service).spec for stored in store.index(services)] if services is not None else []
    addresses = {other.clusterIP for other in taken}
    if asked and asked != "None" and asked in addresses:
        why = f"failed to allocate IP {asked}: provided IP is already allocated"
        return [invalid("spec.clusterIPs", [asked], why)]
    digest = int.from_bytes(blake2b(f"{metadata['namespace']}/{metadata['name']}".encode(), digest_size=8).digest())
    address = asked or _free_address(digest, addresses)
    spec["clusterIP"], spec["clusterIPs"] = address, [address]
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    document["spec"] = spec
    if kind in ("NodePort", "LoadBalancer") and spec.get("allocateLoadBalancerNodePorts", True):
        used = {port.nodePort for other in taken for port in other.ports}
        for number, port in enumerate(spec.get("ports") or ()):
            if not port.get("nodePort"):
                port["nodePort"] = _free_port(digest + number, used)
                used.add(port["nodePort"])
    return []


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
