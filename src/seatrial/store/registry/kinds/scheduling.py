"""Strategies of the kinds in resource.k8s.io, scheduling.k8s.io, node.k8s.io, coordination.k8s.io and events.k8s.io."""

from seatrial.model.field_selectors import EVENTS_K8S_IO_FIELDS, SelectableFields, paths
from seatrial.store.printers.cells import age, at, name, number, text
from seatrial.store.printers.cluster import EVENTS, claim_state_cells
from seatrial.store.printers.columns import Columns, columns, plain
from seatrial.store.registry.strategy import Strategy, Validation, on_every_write
from seatrial.store.validation.cluster import policies
from seatrial.store.validation.devices import devices, slices

STRATEGIES = {
    ("resource.k8s.io", "DeviceClass"): Strategy(
        has_generation=True,
        delete_returns_object=True,
        validation=on_every_write(devices.class_causes),
        columns=plain("Name Age", lambda o: []),
    ),
    ("resource.k8s.io", "DeviceTaintRule"): Strategy(has_generation=True, status_keeps_metadata=True),
    ("resource.k8s.io", "ResourceClaim"): Strategy(
        delete_returns_object=True,
        status_keeps_metadata=True,
        validation=Validation(devices.claim_causes, devices.claim_update_causes),
        columns=Columns(columns("Name State Age"), claim_state_cells),
    ),
    ("resource.k8s.io", "ResourceClaimTemplate"): Strategy(
        delete_returns_object=True,
        validation=Validation(devices.template_causes, devices.template_update_causes),
        columns=plain("Name Age", lambda o: []),
    ),
    ("resource.k8s.io", "ResourcePoolStatusRequest"): Strategy(needs_resource_version=True),
    ("resource.k8s.io", "ResourceSlice"): Strategy(
        has_generation=True,
        delete_returns_object=True,
        validation=Validation(slices.create_causes, slices.update_causes),
        selectable_fields=SelectableFields(
            paths("metadata.name", "spec.nodeName", "spec.driver"),
            refusal="field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {field}",
        ),
        columns=plain(
            "Name Node Driver Pool Age",
            lambda o: [text(o, "spec", "nodeName"), text(o, "spec", "driver"), text(o, "spec", "pool", "name")],
        ),
    ),
    ("scheduling.k8s.io", "PriorityClass"): Strategy(
        has_generation=True,
        validation=Validation(policies.priority_causes, policies.priority_update_causes),
        columns=Columns(
            columns("Name Value:integer Global-Default:boolean Age PreemptionPolicy"),
            lambda o, now: [
                name(o),
                number(o, "value"),
                bool(at(o, "globalDefault")),
                age(o, now),
                text(o, "preemptionPolicy"),
            ],
        ),
    ),
    ("node.k8s.io", "RuntimeClass"): Strategy(
        created_by_update=True,
        needs_resource_version=True,
        columns=plain("Name Handler Age", lambda o: [text(o, "handler")]),
    ),
    ("coordination.k8s.io", "Lease"): Strategy(
        created_by_update=True,
        needs_resource_version=True,
        validation=on_every_write(policies.lease_causes),
        columns=plain("Name Holder Age", lambda o: [text(o, "spec", "holderIdentity")]),
    ),
    ("coordination.k8s.io", "LeaseCandidate"): Strategy(created_by_update=True, needs_resource_version=True),
    ("events.k8s.io", "Event"): Strategy(
        created_by_update=True, garbage_collected=False, selectable_fields=EVENTS_K8S_IO_FIELDS, columns=EVENTS
    ),
}
