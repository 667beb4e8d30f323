"""Strategies of the kinds in networking.k8s.io and discovery.k8s.io."""

from seatrial.store.printers.cells import at, items, selector_text
from seatrial.store.printers.cluster import address_cells, endpoint_slice_cells, ingress_cells, ingress_class_cells
from seatrial.store.printers.columns import Columns, columns, plain
from seatrial.store.registry.strategy import Strategy, Validation, on_every_write
from seatrial.store.validation.cluster import networking

STRATEGIES = {
    ("networking.k8s.io", "IPAddress"): Strategy(
        name_faults=networking.address_name_faults,
        validation=Validation(networking.address_causes, networking.address_update_causes),
        columns=Columns(columns("Name ParentRef"), address_cells),
    ),
    ("networking.k8s.io", "Ingress"): Strategy(
        has_generation=True,
        status_owns_metadata=True,
        validation=on_every_write(networking.ingress_causes),
        columns=Columns(columns("Name Class Hosts Address Ports Age"), ingress_cells),
    ),
    ("networking.k8s.io", "IngressClass"): Strategy(
        has_generation=True,
        validation=Validation(networking.class_causes, networking.class_update_causes),
        columns=Columns(columns("Name Controller Parameters Age"), ingress_class_cells),
    ),
    ("networking.k8s.io", "NetworkPolicy"): Strategy(
        has_generation=True,
        columns=plain("Name Pod-Selector Age", lambda o: [selector_text(at(o, "spec", "podSelector"))]),
    ),
    ("networking.k8s.io", "ServiceCIDR"): Strategy(
        status_keeps_metadata=True,
        validation=Validation(networking.range_causes, networking.range_update_causes),
        columns=plain("Name CIDRs Age", lambda o: [",".join(items(o, "spec", "cidrs"))]),
    ),
    ("discovery.k8s.io", "EndpointSlice"): Strategy(
        has_generation=True,
        generation_counts=("labels",),
        columns=Columns(columns("Name AddressType Ports Endpoints Age"), endpoint_slice_cells),
    ),
}
