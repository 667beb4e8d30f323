"""Strategies of the kinds in the core group."""

from seatrial.model.field_selectors import EMPTY, EVENT_FIELDS, NAMED, POD_IP, SelectableFields, path_or, paths
from seatrial.store.object_meta import label_1035_faults, label_faults, segment_faults
from seatrial.store.printers.cells import at, text
from seatrial.store.printers.cluster import (
    CREATED_AT,
    EVENTS,
    claim_cells,
    endpoints_cells,
    quota_cells,
    service_cells,
    volume_cells,
)
from seatrial.store.printers.columns import Columns, columns, plain
from seatrial.store.printers.pods import node_cells, pod_cells, pod_conditions
from seatrial.store.printers.workloads import REPLICAS, pod_template_cells, replication_controller_cells
from seatrial.store.registry import prepared_fields
from seatrial.store.registry.kinds import variable_fields
from seatrial.store.registry.strategy import Strategy, Validation, on_every_write
from seatrial.store.validation.cluster import data, events, nodes, policies, quotas, services
from seatrial.store.validation.pods import pods, templates
from seatrial.store.validation.storage import persistent
from seatrial.store.validation.workloads import workloads
from seatrial.store.validation.workloads.spec_rules import of_spec

STRATEGIES = {
    ("", "ConfigMap"): Strategy(
        validation=Validation(data.config_causes, data.config_update_causes),
        columns=plain("Name Data Age", lambda o: [len(at(o, "data") or {}) + len(at(o, "binaryData") or {})]),
    ),
    ("", "Endpoints"): Strategy(
        created_by_update=True, columns=Columns(columns("Name Endpoints Age"), endpoints_cells)
    ),
    ("", "Event"): Strategy(
        created_by_update=True,
        name_faults=segment_faults,
        garbage_collected=False,
        variable_fields=variable_fields.EVENT,
        validation=on_every_write(events.create_causes),
        selectable_fields=EVENT_FIELDS,
        columns=EVENTS,
    ),
    ("", "LimitRange"): Strategy(
        created_by_update=True,
        validation=on_every_write(quotas.limit_causes),
        columns=CREATED_AT,
    ),
    ("", "Namespace"): Strategy(
        name_faults=label_faults,
        delete_returns_object=True,
        status_owns_metadata=True,
        reset_fields={"finalize": ("status",)},
        prepare_create=prepared_fields.namespace_created,
        prepare_update={"": prepared_fields.namespace_updated},
        validation=Validation(policies.namespace_causes, policies.namespace_update_causes),
        selectable_fields=SelectableFields(paths("metadata.name", "status.phase")),
        columns=plain("Name Status Age", lambda o: [text(o, "status", "phase")]),
    ),
    ("", "Node"): Strategy(
        keeps_status_on_create=True,
        status_owns_metadata=True,
        variable_fields=variable_fields.NODE,
        validation=Validation(nodes.create_causes, nodes.update_causes),
        selectable_fields=SelectableFields(
            {**paths("metadata.name"), "spec.unschedulable": path_or("spec.unschedulable", "false")}
        ),
        columns=Columns(
            columns(
                "Name Status Roles Age Version +Internal-IP +External-IP +OS-Image +Kernel-Version +Container-Runtime"
            ),
            node_cells,
        ),
    ),
    ("", "PersistentVolume"): Strategy(
        delete_returns_object=True,
        status_owns_metadata=True,
        prepare_create=prepared_fields.volume_created,
        prepare_update={"status": prepared_fields.volume_status_updated},
        validation=Validation(persistent.volume_causes, persistent.volume_update_causes),
        columns=Columns(
            columns(
                "Name Capacity Access_Modes Reclaim_Policy Status Claim StorageClass VolumeAttributesClass Reason Age "
                "+VolumeMode"
            ),
            volume_cells,
        ),
    ),
    ("", "PersistentVolumeClaim"): Strategy(
        delete_returns_object=True,
        status_owns_metadata=True,
        prepare_create=prepared_fields.claim_created,
        prepare_update={"": prepared_fields.claim_sources},
        validation=Validation(persistent.claim_causes, persistent.claim_update_causes),
        columns=Columns(
            columns("Name Status Volume Capacity Access_Modes StorageClass VolumeAttributesClass Age +VolumeMode"),
            claim_cells,
        ),
    ),
    ("", "Pod"): Strategy(
        has_generation=True,
        deletes_gracefully=True,
        delete_returns_object=True,
        reset_fields={"status": ("spec", "metadata.deletionTimestamp", "metadata.ownerReferences")},
        prepare_create=prepared_fields.pod_created,
        prepare_update={"status": prepared_fields.pod_status_updated},
        variable_fields=variable_fields.POD,
        validation=Validation(pods.create_causes, pods.update_causes),
        selectable_fields=SelectableFields(
            {
                **paths(*NAMED, "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
                "spec.hostNetwork": path_or("spec.hostNetwork", "false"),
                **paths("status.phase", "status.nominatedNodeName"),
                "status.podIP": POD_IP,
                "status.podIPs": EMPTY,
            },
            spellings={"spec.host": "spec.nodeName"},
        ),
        columns=Columns(
            columns("Name Ready Status Restarts Age +IP +Node +Nominated_Node +Readiness_Gates"),
            pod_cells,
            pod_conditions,
        ),
    ),
    ("", "PodTemplate"): Strategy(
        has_generation=True,
        delete_returns_object=True,
        validation=Validation(templates.create_causes, templates.update_causes),
        columns=Columns(columns("Name Containers Images Pod_Labels"), pod_template_cells),
    ),
    ("", "ReplicationController"): Strategy(
        has_generation=True,
        orphans_dependents=True,
        status_owns_metadata=True,
        validation=of_spec("ReplicationController", workloads.replication_controller),
        selectable_fields=SelectableFields({**paths(*NAMED), "status.replicas": path_or("status.replicas", "0")}),
        columns=Columns(REPLICAS, replication_controller_cells),
    ),
    ("", "ResourceQuota"): Strategy(
        delete_returns_object=True,
        status_owns_metadata=True,
        validation=Validation(quotas.quota_causes, quotas.quota_update_causes),
        columns=Columns(columns("Name Request Limit Age"), quota_cells),
    ),
    ("", "Secret"): Strategy(
        validation=Validation(data.secret_causes, data.secret_update_causes),
        selectable_fields=SelectableFields(paths(*NAMED, "type")),
        columns=plain("Name Type Data Age", lambda o: [text(o, "type"), len(at(o, "data") or {})]),
    ),
    ("", "Service"): Strategy(
        created_by_update=True,
        name_faults=label_1035_faults,
        delete_returns_object=True,
        status_owns_metadata=True,
        validation=Validation(services.create_causes, services.update_causes),
        selectable_fields=SelectableFields(paths(*NAMED, "spec.clusterIP", "spec.type")),
        columns=Columns(columns("Name Type Cluster-IP External-IP Port(s) Age +Selector"), service_cells),
    ),
    ("", "ServiceAccount"): Strategy(delete_returns_object=True, columns=plain("Name Age", lambda o: [])),
}
