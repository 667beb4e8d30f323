"""Ingresses, IngressClasses, IPAddresses and ServiceCIDRs.

Upstream: pkg/apis/networking/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, required
from seatrial.store.object_meta import Faults, segment_faults, subdomain_faults
from seatrial.store.validation.formats import network, parse_address

IMMUTABLE = "field is immutable"
_MOST_CIDRS = 2


def ingress_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of an Ingress."""
    spec = document.get("spec") or {}
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        yield invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")
    name = spec.get("ingressClassName")
    if name is not None:
        yield from (invalid("spec.ingressClassName", name, fault) for fault in subdomain_faults(name))


def ingress_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of an Ingress."""
    if not subresource:
        yield from ingress_causes(document)


def class_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of an IngressClass."""
    controller = (document.get("spec") or {}).get("controller", "")
    if not controller:
        yield required("spec.controller")
        return
    domain, slash, path = controller.partition("/")
    if not slash or not domain or not path:
        yield invalid("spec.controller", controller, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from (invalid("spec.controller", domain, fault) for fault in subdomain_faults(domain))


def class_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of an IngressClass: its controller stays."""
    controller = (document.get("spec") or {}).get("controller", "")
    if controller != (old.get("spec") or {}).get("controller", ""):
        yield invalid("spec.controller", controller, IMMUTABLE)
    yield from class_causes(document)


def address_name_faults(name: str) -> Faults:
    """Errors for a name that is no IP address in its canonical form; none when it is one."""
    parsed = parse_address(name)
    if parsed is None:
        return ("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",)
    return () if str(parsed) == name else (f'must be in canonical form ("{parsed}")',)


def address_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of an IPAddress."""
    parent = (document.get("spec") or {}).get("parentRef")
    if parent is None:
        yield required("spec.parentRef")
        return
    for key in ("resource", "name"):
        value = parent.get(key, "")
        if not value:
            yield required(f"spec.parentRef.{key}")
        yield from (invalid(f"spec.parentRef.{key}", value, fault) for fault in segment_faults(value))


def address_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of an IPAddress: its parent stays."""
    parent = (document.get("spec") or {}).get("parentRef")
    if parent != (old.get("spec") or {}).get("parentRef"):
        yield invalid("spec.parentRef", parent, IMMUTABLE)


def range_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a ServiceCIDR."""
    path, ranges = "spec.cidrs", (document.get("spec") or {}).get("cidrs") or []
    if not ranges:
        yield required(path, "at least one CIDR required")
    elif len(ranges) > _MOST_CIDRS:
        yield invalid(path, document["spec"], "may only hold up to 2 values")
    else:
        for number, cidr in enumerate(ranges):
            yield from network(cidr, f"{path}[{number}]")
        if len({":" in cidr for cidr in ranges}) < len(ranges):
            why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
            yield invalid(path, ranges, why)


def range_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a ServiceCIDR: its ranges stay."""
    ranges, before = (document.get("spec") or {}).get("cidrs") or [], (old.get("spec") or {}).get("cidrs") or []
    for number, (cidr, earlier) in enumerate(zip(ranges, before, strict=False)):
        if cidr != earlier:
            yield invalid(f"spec.cidrs[{number}]", cidr, IMMUTABLE)
