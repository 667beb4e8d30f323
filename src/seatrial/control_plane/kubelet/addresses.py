"""Allocation of addresses: internal addresses and pod ranges of nodes, and addresses of pods inside them.

Upstream: pkg/controller/nodeipam/ipam (range allocator), and the host-local plugin of CNI, which goes round a range.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from seatrial.model.documents import Document

NODES = IPv4Network("172.16.0.0/12")
PODS = IPv4Network("10.128.0.0/9")
RANGE_OF_A_NODE = 24
RESERVED = 2
"""The address of a network and that of its gateway."""


class Pool:
    """Numbers from a range, handed out in turn; a number that is free again is used when the others have been."""

    def __init__(self, first: int, end: int) -> None:
        self._first, self._end = first, end
        self._next = first
        self._taken: set[int] = set()

    def take(self) -> int | None:
        """A free number; None where all are taken."""
        if len(self._taken) >= self._end - self._first:
            return None
        while self._next in self._taken:
            self._next = self._next + 1 if self._next + 1 < self._end else self._first
        number = self._next
        self._taken.add(number)
        self._next = number + 1 if number + 1 < self._end else self._first
        return number

    def occupy(self, number: int) -> None:
        """Take a number that is in use already."""
        if self._first <= number < self._end:
            self._taken.add(number)

    def release(self, number: int) -> None:
        self._taken.discard(number)


class NodeAddresses:
    """Internal addresses and pod ranges, by the name of the node."""

    def __init__(self) -> None:
        self._internal = Pool(int(NODES[RESERVED]), int(NODES[-1]))
        self._ranges = Pool(0, PODS.num_addresses >> (32 - RANGE_OF_A_NODE))

    def occupy(self, node: Document) -> None:
        """Note what a node has."""
        for address in _internal(node):
            self._internal.occupy(int(address))
        for number in _range_numbers(node):
            self._ranges.occupy(number)

    def release(self, node: Document) -> None:
        """Note that a node is gone."""
        for address in _internal(node):
            self._internal.release(int(address))
        for number in _range_numbers(node):
            self._ranges.release(number)

    def internal_address(self) -> str:
        """A free address for a node; empty if all are taken."""
        number = self._internal.take()
        return str(IPv4Address(number)) if number is not None else ""

    def pod_range(self) -> str:
        """A free range for the pods of a node; empty if all are taken."""
        number = self._ranges.take()
        if number is None:
            return ""
        return f"{IPv4Address(int(PODS[0]) + (number << (32 - RANGE_OF_A_NODE)))}/{RANGE_OF_A_NODE}"


class PodAddresses:
    """Addresses of pods, from the ranges of their nodes."""

    def __init__(self) -> None:
        self._pools: dict[str, Pool] = {}

    def take(self, pod_range: str) -> str:
        """A free address of a range; empty if all are taken."""
        number = self._pool(pod_range).take()
        return str(IPv4Address(number)) if number is not None else ""

    def occupy(self, pod_range: str, address: str) -> None:
        self._pool(pod_range).occupy(int(IPv4Address(address)))

    def release(self, pod_range: str, address: str) -> None:
        self._pool(pod_range).release(int(IPv4Address(address)))

    def _pool(self, pod_range: str) -> Pool:
        pool = self._pools.get(pod_range)
        if pool is None:
            network = IPv4Network(pod_range, strict=False)
            last = int(network[-1])
            pool = self._pools[pod_range] = Pool(min(int(network[0]) + RESERVED, last), last)
        return pool


def address_of(node: Document, kind: str = "InternalIP") -> str:
    """The first address of a node of this type; empty if the node has no such address."""
    addresses: list[Document] = node.get("status", {}).get("addresses") or []
    return next((str(entry["address"]) for entry in addresses if entry["type"] == kind), "")


def _internal(node: Document) -> Iterator[IPv4Address]:
    for entry in node.get("status", {}).get("addresses") or []:
        if entry["type"] == "InternalIP" and _is_ipv4(entry["address"]):
            yield IPv4Address(entry["address"])


def _range_numbers(node: Document) -> Iterator[int]:
    """The places of a node's ranges in the range of the cluster; a larger range has several."""
    for text in node["spec"].get("podCIDRs") or []:
        if ":" in text:
            continue
        network = IPv4Network(text, strict=False)
        if network.overlaps(PODS):
            first = int(network[0]) - int(PODS[0]) >> (32 - RANGE_OF_A_NODE)
            yield from range(first, first + max(network.num_addresses >> (32 - RANGE_OF_A_NODE), 1))


def _is_ipv4(text: str) -> bool:
    return text.count(".") == 3 and ":" not in text
