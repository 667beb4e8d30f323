"""Strategies of the kinds in the groups of administration: admission, extensions, certificates, flow control, RBAC."""

from seatrial.model.field_selectors import SelectableFields, paths
from seatrial.store.crd.names import definition_name_faults
from seatrial.store.object_meta import segment_faults
from seatrial.store.printers.cluster import (
    BINDINGS,
    CREATED_AT,
    POLICY_BINDINGS,
    WEBHOOKS,
    api_service_cells,
    flow_schema_cells,
    policy_cells,
    priority_level_cells,
    signing_request_cells,
)
from seatrial.store.printers.columns import Columns, columns, plain
from seatrial.store.registry import prepared_fields
from seatrial.store.registry.strategy import Strategy, Validation, on_every_write
from seatrial.store.validation.cluster import (
    admission_policies,
    api_services,
    certificates,
    roles,
    webhook_configurations,
)

STRATEGIES = {
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): Strategy(
        needs_resource_version=True,
        has_generation=True,
        status_keeps_metadata=True,
        validation=on_every_write(admission_policies.mutating_causes),
        columns=Columns(columns("Name Mutations:integer ParamKind Age"), policy_cells("mutations")),
    ),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): Strategy(
        needs_resource_version=True,
        has_generation=True,
        validation=on_every_write(admission_policies.mutating_binding_causes),
        columns=POLICY_BINDINGS,
    ),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): Strategy(
        needs_resource_version=True,
        has_generation=True,
        validation=Validation(webhook_configurations.create_causes, webhook_configurations.update_causes),
        columns=WEBHOOKS,
    ),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): Strategy(
        needs_resource_version=True,
        has_generation=True,
        status_keeps_metadata=True,
        validation=on_every_write(admission_policies.validating_causes),
        columns=Columns(columns("Name Validations:integer ParamKind Age"), policy_cells("validations")),
    ),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): Strategy(
        needs_resource_version=True,
        has_generation=True,
        validation=on_every_write(admission_policies.validating_binding_causes),
        columns=POLICY_BINDINGS,
    ),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): Strategy(
        needs_resource_version=True,
        has_generation=True,
        validation=Validation(webhook_configurations.create_causes, webhook_configurations.update_causes),
        columns=WEBHOOKS,
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): Strategy(
        needs_resource_version=True,
        has_generation=True,
        name_faults_of=definition_name_faults,
        columns=CREATED_AT,
    ),
    ("apiregistration.k8s.io", "APIService"): Strategy(
        needs_resource_version=True,
        name_faults_of=api_services.name_faults,
        status_keeps_metadata=True,
        validation=on_every_write(api_services.create_causes),
        columns=plain("Name Service Available Age", api_service_cells),
    ),
    ("certificates.k8s.io", "CertificateSigningRequest"): Strategy(
        name_faults=segment_faults,
        reset_fields={
            "": ("spec", "status"),
            "status": ("spec", "status.conditions"),
            "approval": ("spec", "status.certificate"),
        },
        prepare_update={
            "": prepared_fields.certificate_request_updated,
            "approval": prepared_fields.certificate_request_decided,
            "status": prepared_fields.certificate_request_decided,
        },
        validation=Validation(certificates.create_causes, certificates.update_causes),
        selectable_fields=SelectableFields(paths("metadata.name", "spec.signerName")),
        columns=Columns(columns("Name Age SignerName Requestor RequestedDuration Condition"), signing_request_cells),
    ),
    ("certificates.k8s.io", "ClusterTrustBundle"): Strategy(
        needs_resource_version=True,
        name_faults=segment_faults,
        selectable_fields=SelectableFields(paths("metadata.name", "spec.signerName")),
    ),
    ("certificates.k8s.io", "PodCertificateRequest"): Strategy(
        needs_resource_version=True,
        status_keeps_metadata=True,
        status_owns_metadata=True,
        selectable_fields=SelectableFields(paths("metadata.name", "spec.signerName", "spec.podName", "spec.nodeName")),
    ),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): Strategy(
        created_by_update=True,
        has_generation=True,
        status_keeps_metadata=True,
        columns=Columns(
            columns("Name PriorityLevel MatchingPrecedence DistinguisherMethod Age MissingPL"), flow_schema_cells
        ),
    ),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): Strategy(
        created_by_update=True,
        has_generation=True,
        status_keeps_metadata=True,
        columns=Columns(
            columns("Name Type NominalConcurrencyShares Queues HandSize QueueLengthLimit Age"), priority_level_cells
        ),
    ),
    ("internal.apiserver.k8s.io", "StorageVersion"): Strategy(needs_resource_version=True),
    ("rbac.authorization.k8s.io", "ClusterRole"): Strategy(
        created_by_update=True,
        name_faults=segment_faults,
        validation=on_every_write(roles.role_causes),
        columns=CREATED_AT,
    ),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): Strategy(
        created_by_update=True,
        name_faults=segment_faults,
        validation=Validation(roles.binding_causes, roles.binding_update_causes),
        columns=BINDINGS,
    ),
    ("rbac.authorization.k8s.io", "Role"): Strategy(
        created_by_update=True,
        name_faults=segment_faults,
        validation=on_every_write(roles.role_causes),
        columns=CREATED_AT,
    ),
    ("rbac.authorization.k8s.io", "RoleBinding"): Strategy(
        created_by_update=True,
        name_faults=segment_faults,
        validation=Validation(roles.binding_causes, roles.binding_update_causes),
        columns=BINDINGS,
    ),
    ("storagemigration.k8s.io", "StorageVersionMigration"): Strategy(
        needs_resource_version=True, status_keeps_metadata=True
    ),
}
