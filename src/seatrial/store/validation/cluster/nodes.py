"""Nodes: taints, addresses, and what a node has to give.

Upstream: ValidateNode and ValidateNodeUpdate of pkg/apis/core/validation/validation.go.
"""

import re
from collections.abc import Iterator, Sequence

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.label_selectors import label_value_faults
from seatrial.store.field_errors import duplicate, forbidden, invalid
from seatrial.store.validation.formats import network, parse_address, positive, qualified
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.pods.placement import effect
from seatrial.store.validation.quantities import amount

_FEATURE = re.compile("[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")
_FIXED = 'node updates may not change {} except from "" to valid'


def create_causes(node: Document) -> Iterator[Cause]:
    """Validation errors of a new node."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    if taints := spec.get("taints"):
        yield from _taints(taints)
    yield from _resources(status)
    capacity = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    if capacity is not None:
        yield from positive(capacity, "metadata.nodeSwapStatus.capacity")
    yield from _features(status.get("declaredFeatures") or ())
    networks = _networks(spec)
    for index, value in enumerate(networks):
        yield from network(value, f"spec.podCIDRs[{index}]")
    if len(networks) > 1:
        yield from _families(networks)


def update_causes(node: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a node."""
    spec, before, status = node.get("spec") or {}, old.get("spec") or {}, node.get("status") or {}
    if not subresource and spec != before:
        yield from create_causes(node)
    if status != old.get("status"):
        yield from _resources(status)
        yield from _features(status.get("declaredFeatures") or ())
        yield from _addresses(status.get("addresses") or ())
    if spec == before:
        return
    networks, earlier = _networks(spec), _networks(before)
    if earlier:
        differing = sum(a != b for a, b in zip(networks, earlier, strict=False)) if len(networks) == len(earlier) else 1
        for _ in range(differing):
            yield forbidden("spec.podCIDRs", _FIXED.format("podCIDR"))
    if before.get("providerID") and before["providerID"] != spec.get("providerID"):
        yield forbidden("spec.providerID", _FIXED.format("providerID"))
    if spec.get("externalID", "") != before.get("externalID", ""):
        yield forbidden("spec.externalID", "may not be updated")


def _networks(spec: Document) -> list[str]:
    """The blocks of a node; where the single one differs, it alone counts."""
    single, several = spec.get("podCIDR", ""), spec.get("podCIDRs") or []
    return [single] if single and single != "".join(several[:1]) else several


def _taints(taints: Sequence[Document]) -> Iterator[Cause]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        where, key, value = f"metadata.taints[{index}]", taint.get("key", ""), taint.get("value", "")
        yield from qualified(key, f"{where}.key")
        if faults := label_value_faults(value):
            yield invalid(f"{where}.value", value, ";".join(faults))
        yield from effect(taint.get("effect", ""), f"{where}.effect")
        pair = (key, taint.get("effect", ""))
        if pair in seen:
            shown = go_struct(taint, ("key", "value", "effect", "timeAdded"), {"key": "", "value": "", "effect": ""})
            cause = duplicate(where, shown)
            why = "taints must be unique by key and effect pair"
            yield Cause(where, f"{cause.message}: {why}", cause.reason)
        seen.add(pair)


def _resources(status: Document) -> Iterator[Cause]:
    for kind in ("capacity", "allocatable"):
        for name, value in (status.get(kind) or {}).items():
            yield from amount(name, value, f"status.{kind}.{name}")


def _features(features: Sequence[str]) -> Iterator[Cause]:
    for index, feature in enumerate(features):
        where = f"status.declaredFeatures[{index}]"
        if len(feature) > 253:
            yield invalid(where, feature, f'invalid feature name "{feature}": must be no more than 253 characters')
        elif not _FEATURE.fullmatch(feature):
            why = (
                "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature "
                "or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
            )
            yield invalid(where, feature, f'invalid feature name "{feature}": {why}')
        if index + 1 < len(features):
            following, place = features[index + 1], f"status.declaredFeatures[{index + 1}]"
            if feature == following:
                yield duplicate(place, following)
            elif feature > following:
                yield invalid(place, following, "list must be sorted alphabetically")


def _addresses(addresses: Sequence[Document]) -> Iterator[Cause]:
    seen: set[tuple[str, str]] = set()
    for index, address in enumerate(addresses):
        pair = (address.get("type", ""), address.get("address", ""))
        if pair in seen:
            shown = go_struct(address, ("type", "address"), {"type": "", "address": ""})
            yield duplicate(f"status.addresses[{index}]", shown)
        seen.add(pair)


def _families(networks: list[str]) -> Iterator[Cause]:
    parsed = [None if list(network(value, "")) else parse_address(value.partition("/")[0]) for value in networks]
    for index, address in enumerate(parsed):
        if address is None:
            why = "Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR"
            yield Cause(
                "spec.podCIDRs", f"{why}[{index}]: <nil> (invalid CIDR address: {networks[index]})", "InternalError"
            )
            break
    if len({each.version for each in parsed if each is not None}) != 2 or None in parsed or len(networks) > 2:
        yield invalid("spec.podCIDRs", networks, "may specify no more than one CIDR for each IP family")
