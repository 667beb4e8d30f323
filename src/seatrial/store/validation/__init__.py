"""The semantic rules of built-in kinds: what types and required fields cannot say, and what may never change.

Each kind has a module with its functions; the two tables name them. What is wrong with a kind that is not there is
what the data file alone says.
"""

from collections.abc import Callable, Iterable

from seatrial.model.constraints import violations
from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.kinds import Kind
from seatrial.model.schema import schema_of
from seatrial.store.validation.cluster import data, nodes, policies, quotas, services
from seatrial.store.validation.devices import devices, slices
from seatrial.store.validation.pods import pods, templates
from seatrial.store.validation.storage import persistent, storage
from seatrial.store.validation.workloads import autoscalers, cronjobs, job_statuses, jobs, workload_statuses, workloads

OnCreate = Callable[[Document], Iterable[Cause]]
OnUpdate = Callable[[Document, Document, str], Iterable[Cause]]
OfSpec = Callable[[Document, Document | None], Iterable[Cause]]

WORKLOADS: dict[tuple[str, str], OfSpec] = {
    ("", "ReplicationController"): workloads.replication_controller,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
}


def _new(rules: OfSpec) -> OnCreate:
    return lambda document: rules(document.get("spec") or {}, None)


def _changed(kind: str, rules: OfSpec) -> OnUpdate:
    def causes(document: Document, old: Document, subresource: str) -> Iterable[Cause]:
        if subresource == "status":
            return workload_statuses.status_causes(kind, document, old)
        spec, before = document.get("spec") or {}, old.get("spec") or {}
        return rules(spec, before) if spec != before else ()

    return causes


def _job_changed(document: Document, old: Document, subresource: str) -> Iterable[Cause]:
    change = job_statuses.status_causes if subresource == "status" else jobs.update_causes
    return change(document, old)


RULES: dict[tuple[str, str], tuple[OnCreate, OnUpdate]] = {
    ("", "ConfigMap"): (data.config_causes, data.config_update_causes),
    ("", "LimitRange"): (quotas.limit_causes, quotas.limit_update_causes),
    ("", "Namespace"): (policies.namespace_causes, policies.namespace_update_causes),
    ("", "Node"): (nodes.create_causes, nodes.update_causes),
    ("", "PersistentVolume"): (persistent.volume_causes, persistent.volume_update_causes),
    ("", "PersistentVolumeClaim"): (persistent.claim_causes, persistent.claim_update_causes),
    ("", "Pod"): (pods.create_causes, pods.update_causes),
    ("", "PodTemplate"): (templates.create_causes, templates.update_causes),
    ("", "ResourceQuota"): (quotas.quota_causes, quotas.quota_update_causes),
    ("", "Secret"): (data.secret_causes, data.secret_update_causes),
    ("", "Service"): (services.create_causes, services.update_causes),
    ("autoscaling", "HorizontalPodAutoscaler"): (autoscalers.create_causes, autoscalers.update_causes),
    ("batch", "CronJob"): (cronjobs.create_causes, cronjobs.update_causes),
    ("batch", "Job"): (jobs.create_causes, _job_changed),
    ("coordination.k8s.io", "Lease"): (policies.lease_causes, policies.lease_update_causes),
    ("policy", "PodDisruptionBudget"): (policies.budget_causes, policies.budget_update_causes),
    ("resource.k8s.io", "DeviceClass"): (devices.class_causes, devices.class_update_causes),
    ("resource.k8s.io", "ResourceClaim"): (devices.claim_causes, devices.claim_update_causes),
    ("resource.k8s.io", "ResourceClaimTemplate"): (devices.template_causes, devices.template_update_causes),
    ("resource.k8s.io", "ResourceSlice"): (slices.create_causes, slices.update_causes),
    ("scheduling.k8s.io", "PriorityClass"): (policies.priority_causes, policies.priority_update_causes),
    ("storage.k8s.io", "CSINode"): (storage.node_causes, storage.node_update_causes),
    ("storage.k8s.io", "StorageClass"): (storage.class_causes, storage.class_update_causes),
    **{kind: (_new(rules), _changed(kind[1], rules)) for kind, rules in WORKLOADS.items()},
}
"""By group and kind: what is wrong with a new object, and with one (given the old one and the door) after a change."""


def validate_create(kind: Kind, document: Document, *, restored: bool = False) -> list[Cause]:
    """What is wrong with a new object, or with one that lived before and may have what only grows in life."""
    rules = RULES.get(kind.group_kind)
    found = list(rules[0](document)) if rules is not None else _plain(kind, document)
    return [cause for cause in found if cause != pods.GROWN] if restored and found else found


def validate_update(kind: Kind, document: Document, old: Document, subresource: str = "") -> list[Cause]:
    """What is wrong with an object that replaces `old` through this subresource."""
    rules = RULES.get(kind.group_kind)
    if rules is not None:
        return list(rules[1](document, old, subresource))
    return [] if subresource else _plain(kind, document)


def _plain(kind: Kind, document: Document) -> list[Cause]:
    schema = None if kind.custom else schema_of(kind)
    return violations(schema, document) if schema is not None else []
