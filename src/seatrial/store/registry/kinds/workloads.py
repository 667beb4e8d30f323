"""Strategies of the kinds in apps, batch, autoscaling and policy."""

from seatrial.model.field_selectors import NAMED, SelectableFields, path_or, paths
from seatrial.store.object_meta import label_faults, segment_faults
from seatrial.store.printers.columns import Columns, columns
from seatrial.store.printers.workloads import (
    REPLICAS,
    autoscaler_cells,
    budget_cells,
    cron_job_cells,
    daemon_set_cells,
    deployment_cells,
    job_cells,
    replica_set_cells,
    revision_cells,
    stateful_set_cells,
)
from seatrial.store.registry import prepared_fields
from seatrial.store.registry.strategy import Strategy, Validation
from seatrial.store.validation.cluster import policies
from seatrial.store.validation.workloads import autoscalers, cronjobs, job_statuses, jobs, workloads
from seatrial.store.validation.workloads.spec_rules import of_spec

STRATEGIES = {
    ("apps", "ControllerRevision"): Strategy(columns=Columns(columns("Name Controller Revision Age"), revision_cells)),
    ("apps", "DaemonSet"): Strategy(
        has_generation=True,
        status_owns_metadata=True,
        prepare_create=prepared_fields.daemon_set_created,
        prepare_update={"": prepared_fields.daemon_set_updated},
        validation=of_spec("DaemonSet", workloads.daemon_set),
        columns=Columns(
            columns(
                "Name Desired:integer Current:integer Ready:integer Up-to-date:integer Available:integer Node_Selector "
                "Age +Containers +Images +Selector"
            ),
            daemon_set_cells,
        ),
    ),
    ("apps", "Deployment"): Strategy(
        has_generation=True,
        generation_counts=("annotations",),
        status_keeps_labels=True,
        reset_fields={"status": ("spec", "metadata.labels")},
        validation=of_spec("Deployment", workloads.deployment),
        columns=Columns(columns("Name Ready Up-to-date Available Age +Containers +Images +Selector"), deployment_cells),
    ),
    ("apps", "ReplicaSet"): Strategy(
        has_generation=True,
        status_owns_metadata=True,
        validation=of_spec("ReplicaSet", workloads.replica_set),
        columns=Columns(REPLICAS, replica_set_cells),
    ),
    ("apps", "StatefulSet"): Strategy(
        name_faults=label_faults,
        has_generation=True,
        status_owns_metadata=True,
        validation=of_spec("StatefulSet", workloads.stateful_set),
        columns=Columns(columns("Name Ready Age +Containers +Images"), stateful_set_cells),
    ),
    ("batch", "CronJob"): Strategy(
        created_by_update=True,
        has_generation=True,
        status_owns_metadata=True,
        validation=Validation(cronjobs.create_causes, cronjobs.update_causes),
        columns=Columns(
            columns(
                "Name Schedule Timezone Suspend:boolean Active:integer Last_Schedule Age +Containers +Images +Selector"
            ),
            cron_job_cells,
        ),
    ),
    ("batch", "Job"): Strategy(
        created_by_update=True,
        has_generation=True,
        orphans_dependents=True,
        status_owns_metadata=True,
        prepare_create=prepared_fields.job_created,
        validation=Validation(jobs.create_causes, job_statuses.change_causes),
        selectable_fields=SelectableFields(
            {**paths(*NAMED), "status.successful": path_or("status.succeeded", "0")},
            refusal='field label "{field}" not supported for Job',
        ),
        columns=Columns(columns("Name Status Completions Duration Age +Containers +Images +Selector"), job_cells),
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): Strategy(
        status_owns_metadata=True,
        validation=Validation(autoscalers.create_causes, autoscalers.update_causes),
        columns=Columns(columns("Name Reference Targets MinPods MaxPods Replicas Age"), autoscaler_cells),
    ),
    ("policy", "PodDisruptionBudget"): Strategy(
        name_faults=segment_faults,
        needs_resource_version=True,
        has_generation=True,
        status_owns_metadata=True,
        validation=Validation(policies.budget_causes, policies.budget_update_causes),
        columns=Columns(columns("Name Min_Available Max_Unavailable Allowed_Disruptions:integer Age"), budget_cells),
    ),
}
