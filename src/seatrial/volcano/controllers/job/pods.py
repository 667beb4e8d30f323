"""A pod of a Job: its template with the names, annotations and labels that scheduler and controller read.

Upstream: createJobPod of pkg/controllers/job/job_controller_util.go. Names of volumes are numbered instead of random.
"""

import copy

from seatrial.controllers.framework import controller_reference
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.volcano.apis import labels
from seatrial.volcano.controllers.job.pod_group import pod_group_name

_INHERITED_ANNOTATIONS = (labels.PREEMPTABLE, labels.COOLDOWN_TIME, labels.REVOCABLE_ZONE)
_INHERITED_LABELS = (labels.PREEMPTABLE, labels.COOLDOWN_TIME)


def pod_name(job: str, task: str, index: int) -> str:
    """The name of a pod of a task."""
    return f"{job}-{task}-{index}"


def job_pod(job: Document, kind: Kind, task: Document, index: int, version: int, retries: int) -> Document:
    """The pod of a task with this index."""
    meta, spec = job["metadata"], job["spec"]
    # Plugins and volumes change the containers, which other pods of the Job must not share then.
    is_changed = spec.get("plugins") or spec.get("volumes")
    template = copy.deepcopy(task["template"]) if is_changed else task["template"]
    source = template.get("metadata") or {}
    pod: Document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name(meta["name"], task["name"], index),
            "namespace": meta["namespace"],
            "labels": dict(source.get("labels") or {}) | _labels(job, task, index),
            "annotations": dict(source.get("annotations") or {}) | _annotations(job, task, index, version, retries),
            "ownerReferences": [controller_reference(kind, job)],
        },
        "spec": dict(template.get("spec") or {}),
    }
    pod["spec"]["schedulerName"] = pod["spec"].get("schedulerName") or spec["schedulerName"]
    if spec.get("priorityClassName") and not pod["spec"].get("priorityClassName"):
        pod["spec"]["priorityClassName"] = spec["priorityClassName"]
    if spec.get("volumes"):
        _mount(pod["spec"], meta["name"], spec["volumes"])
    return pod


def _annotations(job: Document, task: Document, index: int, version: int, retries: int) -> dict[str, str]:
    meta, spec = job["metadata"], job["spec"]
    found = {
        labels.TASK_INDEX: str(index),
        labels.TASK_SPEC: task["name"],
        labels.GROUP_NAME: pod_group_name(job),
        labels.JOB_NAME: meta["name"],
        labels.JOB_QUEUE: spec["queue"],
        labels.JOB_VERSION: str(version),
        labels.POD_TEMPLATE: f"{meta['name']}-{task['name']}",
        labels.JOB_RETRY_COUNT: str(retries),
    }
    if task.get("topologyPolicy"):
        found[labels.NUMA_POLICY] = task["topologyPolicy"]
    own = meta.get("annotations") or {}
    found |= {key: own[key] for key in _INHERITED_ANNOTATIONS if key in own}
    budget = next((key for key in (labels.JDB_MIN_AVAILABLE, labels.JDB_MAX_UNAVAILABLE) if key in own), None)
    if budget is not None:
        found[budget] = own[budget]
    return found


def _labels(job: Document, task: Document, index: int) -> dict[str, str]:
    meta = job["metadata"]
    found = {
        labels.TASK_INDEX: str(index),
        labels.JOB_NAME: meta["name"],
        labels.TASK_SPEC: task["name"],
        labels.JOB_NAMESPACE: meta["namespace"],
        labels.JOB_QUEUE: job["spec"]["queue"],
    }
    own = meta.get("labels") or {}
    found |= {key: own[key] for key in _INHERITED_LABELS if key in own}
    policy = task.get("partitionPolicy")
    if policy is not None:
        size = policy.get("partitionSize", 0)
        found[labels.PARTITION_ID] = str(index // size if size > 0 else 0)
    return found


def _mount(spec: Document, job: str, volumes: list[Document]) -> None:
    """Mount each claim of the Job once into every container."""
    seen: set[str] = set()
    for number, volume in enumerate(volumes):
        claim, name = volume.get("volumeClaimName", ""), f"{job}-{number}"
        if claim in seen:
            continue
        seen.add(claim)
        spec.setdefault("volumes", []).append({"name": name, "persistentVolumeClaim": {"claimName": claim}})
        for container in spec["containers"]:
            container.setdefault("volumeMounts", []).append({"name": name, "mountPath": volume["mountPath"]})
