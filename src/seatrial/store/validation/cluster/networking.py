"""Ingresses, IngressClasses, IPAddresses and ServiceCIDRs.

Upstream: pkg/apis/networking/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, required
from seatrial.store.object_meta import IMMUTABLE, Faults, segment_faults
from seatrial.store.validation.formats import network, parse_address, subdomain
from seatrial.store.validation.rules import always, need, need_set, of_spec, present, rules, unchanged, valid

_MOST_CIDRS = 2


def _any_backend(spec: Document, path: str) -> Iterator[Cause]:
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        yield invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")


def _controller(controller: str, path: str) -> Iterator[Cause]:
    domain, slash, rest = controller.partition("/")
    if not slash or not domain or not rest:
        yield invalid(path, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from subdomain(domain, path)


ingress_causes = of_spec(rules(_any_backend, present("ingressClassName", subdomain)))
"""Validation errors of an Ingress."""
class_causes = of_spec(rules(need("controller", _controller)))
"""Validation errors of an IngressClass."""


def class_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of an IngressClass: its controller stays."""
    yield from unchanged(document.get("spec") or {}, old.get("spec") or {}, "controller", zero="")
    yield from class_causes(document)


def address_name_faults(name: str) -> Faults:
    """Errors for a name that is no IP address in its canonical form; none when it is one."""
    parsed = parse_address(name)
    if parsed is None:
        return ("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",)
    return () if str(parsed) == name else (f'must be in canonical form ("{parsed}")',)


_SEGMENT = valid(segment_faults)
_PARENT = rules(need("resource"), always("resource", _SEGMENT), need("name"), always("name", _SEGMENT))
address_causes = of_spec(rules(need_set("parentRef", _PARENT)))
"""Validation errors of an IPAddress."""


def address_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of an IPAddress: its parent stays."""
    return unchanged(document.get("spec") or {}, old.get("spec") or {}, "parentRef")


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
