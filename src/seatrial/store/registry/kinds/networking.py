"""Strategies of the kinds in networking.k8s.io and discovery.k8s.io."""

from seatrial.store.object_meta import segment_faults
from seatrial.store.printers.cells import at, items, selector_text
from seatrial.store.printers.cluster import address_cells, endpoint_slice_cells, ingress_cells, ingress_class_cells
from seatrial.store.printers.columns import Columns, columns, plain
from seatrial.store.registry.strategy import Strategy

STRATEGIES = {
    ("networking.k8s.io", "IPAddress"): Strategy(
        name_faults=segment_faults, columns=Columns(columns("Name ParentRef Age"), address_cells)
    ),
    ("networking.k8s.io", "Ingress"): Strategy(
        has_generation=True,
        status_owns_metadata=True,
        columns=Columns(columns("Name Class Hosts Address Ports Age"), ingress_cells),
    ),
    ("networking.k8s.io", "IngressClass"): Strategy(
        has_generation=True, columns=Columns(columns("Name Controller Parameters Age"), ingress_class_cells)
    ),
    ("networking.k8s.io", "NetworkPolicy"): Strategy(
        has_generation=True,
        columns=plain("Name Pod-Selector Age", lambda o: [selector_text(at(o, "spec", "podSelector"))]),
    ),
    ("networking.k8s.io", "ServiceCIDR"): Strategy(
        status_keeps_metadata=True, columns=plain("Name CIDRs Age", lambda o: [",".join(items(o, "spec", "cidrs"))])
    ),
    ("discovery.k8s.io", "EndpointSlice"): Strategy(
        has_generation=True, columns=Columns(columns("Name AddressType Ports Endpoints Age"), endpoint_slice_cells)
    ),
}
