"""Defaults of apps, batch, autoscaling and scheduling: pkg/apis/<group>/<version>/defaults.go upstream."""

from typing import Any

from seatrial.model.defaults.rules import constants, rule, when_absent, when_empty
from seatrial.model.documents import Document

LARGEST_INT32 = (1 << 31) - 1

constants("apps.v1.DeploymentSpec", replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
constants("apps.v1.DaemonSetSpec", revisionHistoryLimit=10)
constants("apps.v1.StatefulSetSpec", podManagementPolicy="OrderedReady", replicas=1, revisionHistoryLimit=10)
constants("apps.v1.ReplicaSetSpec", replicas=1)
constants(
    "batch.v1.CronJobSpec",
    concurrencyPolicy="Allow",
    suspend=False,
    successfulJobsHistoryLimit=3,
    failedJobsHistoryLimit=1,
)
constants("batch.v1.PodFailurePolicyOnPodConditionsPattern", status="True")
constants("autoscaling.v1.HorizontalPodAutoscalerSpec", minReplicas=1)
constants("scheduling.v1.PriorityClass", preemptionPolicy="PreemptLowerPriority")


@rule("apps.v1.DeploymentStrategy")
def deployment_strategy(document: Document) -> None:
    _rolling_update(document, maxUnavailable="25%", maxSurge="25%")


@rule("apps.v1.DaemonSetUpdateStrategy")
def daemon_set_strategy(document: Document) -> None:
    _rolling_update(document, maxUnavailable=1, maxSurge=0)


def _rolling_update(strategy: Document, **values: Any) -> None:
    when_empty(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        when_absent(strategy, rollingUpdate={})
        when_absent(strategy["rollingUpdate"], **values)


@rule("apps.v1.StatefulSet")
def stateful_set(document: Document) -> None:
    """A strategy that names its type but no partition is left as it is."""
    spec = document.setdefault("spec", {})
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        when_absent(strategy, rollingUpdate={})
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        when_absent(strategy["rollingUpdate"], partition=0)
    when_absent(spec, persistentVolumeClaimRetentionPolicy={})
    when_empty(spec["persistentVolumeClaimRetentionPolicy"], whenDeleted="Retain", whenScaled="Retain")


@rule("batch.v1.Job")
def job(document: Document) -> None:
    """A Job without settings runs one pod once; its labels come from the template."""
    spec = document.setdefault("spec", {})
    if spec.get("parallelism") is None:
        when_absent(spec, completions=1)
    per_index = spec.get("backoffLimitPerIndex") is not None
    when_absent(spec, parallelism=1, backoffLimit=LARGEST_INT32 if per_index else 6)
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        # The same mapping and not a copy, as upstream: what a create adds to the template is added to the Job.
        when_empty(document.setdefault("metadata", {}), labels=labels)
    replacement = "Failed" if spec.get("podFailurePolicy") is not None else "TerminatingOrFailed"
    when_absent(
        spec, completionMode="NonIndexed", suspend=False, podReplacementPolicy=replacement, manualSelector=False
    )


@rule("autoscaling.v2.HorizontalPodAutoscaler")
def horizontal_pod_autoscaler(document: Document) -> None:
    spec = document.setdefault("spec", {})
    when_absent(spec, minReplicas=1)
    target = {"type": "Utilization", "averageUtilization": 80}
    when_empty(spec, metrics=[{"type": "Resource", "resource": {"name": "cpu", "target": target}}])
    if (behavior := spec.get("behavior")) is not None:
        pods = {"type": "Pods", "value": 4, "periodSeconds": 15}
        percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
        when_absent(behavior, scaleUp={}, scaleDown={})
        when_absent(
            behavior["scaleUp"], stabilizationWindowSeconds=0, selectPolicy="Max", policies=[pods, dict(percent)]
        )
        when_absent(behavior["scaleDown"], selectPolicy="Max", policies=[percent])
