"""What the extender plugin sends: upstream's TaskInfo, NodeInfo, JobInfo and QueueInfo as Go encodes them.

Numbers are written as Go writes them: a float without a fraction is an integer. Amounts of DRA devices, measured usage,
NUMA information of nodes and generations are not kept here and have their zero value.

Upstream: plugins/extender/argument.go, pkg/scheduler/api (job_info.go, node_info.go, queue_info.go, resource_info.go).
"""

from collections.abc import Iterable
from typing import Any

from seatrial.model.documents import Document, decode
from seatrial.model.times import to_time
from seatrial.volcano.apis.labels import NUMA_POLICY
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.node_info import NodeInfo, oversubscription
from seatrial.volcano.cache.queue_info import QueueInfo
from seatrial.volcano.cache.resource import Resource
from seatrial.volcano.cache.sub_job_info import NetworkTopology, SubJobInfo
from seatrial.volcano.cache.task_index import TaskIndex
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus, Transaction, parse_bool
from seatrial.volcano.framework.session import Session

TOPOLOGY_DECISION = "volcano.sh/topology-decision"
OVERSUBSCRIPTION = "volcano.sh/oversubscription"
OFFLINE_JOB_EVICTING = "volcano.sh/offline-job-evicting"
_CODES = {status: 1 << place for place, status in enumerate(TaskStatus)}
_PLACED = (TaskStatus.ALLOCATED, TaskStatus.BINDING)
_READY = 1
_NO_USAGE = {"MetricsTime": "0001-01-01T00:00:00Z", "CPUUsageAvg": {}, "MEMUsageAvg": {}}
_NANOSECONDS = 1000


def task_info(task: TaskInfo, status: TaskStatus | None = None) -> Document:
    """A task; `status` where it counts in another one than its present."""
    pod, amount = task.document, _resource(task.resreq)
    if task.status in _PLACED:  # upstream writes the node into the pod when it allocates
        pod = {**pod, "spec": {**pod["spec"], "nodeName": task.node_name}}
    initial = (pod.get("spec") or {}).get("initContainers") or ()
    return {
        "UID": task.uid,
        "Job": task.job,
        "Name": task.name,
        "Namespace": task.namespace,
        "TaskRole": task.role,
        "Resreq": amount,
        "InitResreq": amount,
        "DRAResreq": None,
        "ResourceClaimKeys": None,
        "ResourceClaimDRAResreq": None,
        "NodeName": task.node_name,
        "EvictionOccurred": task.eviction_occurred,
        "JobAllocatedHyperNode": task.job_allocated_hyper_node,
        "Status": _CODES[status or task.status],
        "LastTransaction": _transaction(task.last_transaction),
        "Priority": task.priority,
        "VolumeReady": False,
        "Preemptable": task.preemptable,
        "BestEffort": task.best_effort,
        "HasRestartableInitContainer": any(c.get("restartPolicy") == "Always" for c in initial),
        "SchGated": task.sch_gated,
        "RevocableZone": task.revocable_zone,
        "NumaInfo": _topology_info(task),
        "Pod": pod,
        "PodAnnotations": {**task.pod.annotations, **task.pod_annotations} or None,
        "CustomBindErrHandlerSucceeded": False,
    }


class NodeBodies:
    """The nodes of a session. How many nodes have an image is counted once."""

    def __init__(self, nodes: Iterable[NodeInfo]) -> None:
        self._image_nodes: dict[str, int] = {}
        for node in nodes:
            for name in {name: None for names, _ in node.kube.images for name in names}:
                self._image_nodes[name] = self._image_nodes.get(name, 0) + 1

    def node_info(self, node: NodeInfo) -> Document:
        columns, row = node.columns, node.row
        annotations, labels = node.kube.annotations, node.kube.labels
        return {
            "Name": node.name,
            "Node": node.facts.document,
            "State": {"Phase": _READY, "Reason": ""},
            "Releasing": _resource(_present(node.releasing)),
            "Pipelined": _resource(_present(columns.resource(columns.pipelined, row))),
            "Idle": _resource(_present(node.idle, node.allocatable)),
            "Used": _resource(_present(node.used)),
            "Allocatable": _resource(node.allocatable),
            "Capacity": _resource(node.capacity),
            "ResourceUsage": _NO_USAGE,
            "Tasks": {task.key: task_info(task, status) for task, status in node.listed()},
            "NumaInfo": None,
            "UnassignedNumaPods": None,
            "NumaSchedulerInfo": None,
            "RevocableZone": node.revocable_zone,
            "Others": {},
            "OversubscriptionNode": parse_bool(labels.get(OVERSUBSCRIPTION, "")) or False,
            "OfflineJobEvicting": parse_bool(annotations.get(OFFLINE_JOB_EVICTING, "")) or False,
            "OversubscriptionResource": _resource(oversubscription(annotations)),
            "ImageStates": {
                name: {"Size": size, "NumNodes": self._image_nodes[name], "Nodes": None}
                for names, size in node.kube.images
                for name in names
            },
            "Generation": 0,
            "BindGeneration": 0,
        }


def job_info(job: JobInfo) -> Document:
    group = job.pod_group
    total = Resource()
    for task in job.index:
        total.add(task.resreq)
    least, most = job.budget
    status = {"phase": group.phase, "conditions": group.conditions, **group.counts}
    return {
        "UID": job.uid,
        "PgUID": group.metadata.get("uid") or "",
        "Name": job.name,
        "Namespace": job.namespace,
        "Queue": job.queue,
        "Priority": job.priority,
        "MinAvailable": job.min_available,
        "WaitingTime": None if job.waiting_time is None else job.waiting_time * _NANOSECONDS,
        "JobFitErrors": job.job_fit_errors,
        "NodesFitErrors": {uid: {} for uid in sorted(job.nodes_fit_errors)},
        "AllocatedHyperNode": job.allocated_hyper_node,
        "NetworkTopology": _network_topology(job.network_topology),
        "SubJobs": {uid: _sub_job_info(sub_job) for uid, sub_job in sorted(job.sub_jobs.items())},
        "TaskToSubJob": dict(sorted(job.sub_job_of.items())),
        "MinSubJobs": dict(sorted(job.min_sub_jobs.items())),
        **_tasks(job.index),
        "TaskMinAvailable": dict(sorted(job.task_min_available.items())),
        "TaskMinAvailableTotal": job.task_min_total,
        "Allocated": _resource(job.allocated),
        "TotalRequest": _resource(total),
        "CreationTimestamp": to_time(job.created) if job.created else None,
        "PodGroup": {
            **_without_type(group.document),
            "status": {name: value for name, value in status.items() if value},
            "Version": "v1beta1",
        },
        "ScheduleStartTimestamp": None,
        "Preemptable": job.preemptable,
        "RevocableZone": job.revocable_zone,
        "Budget": {"MinAvailable": least, "MaxUnavailable": most},
    }


def queue_info(queue: QueueInfo) -> Document:
    document = _without_type(queue.document)
    return {
        "UID": queue.name,
        "Name": queue.name,
        "Weight": queue.weight,
        "Weights": queue.weights,
        "Hierarchy": queue.hierarchy,
        "Queue": {
            **document,
            "spec": {"guarantee": {}, **(document.get("spec") or {})},
            "status": {"reservation": {}, **(document.get("status") or {})},
        },
    }


def open_request(session: Session, bodies: NodeBodies) -> Document:
    """The whole session, as it is sent when it opens."""
    nodes = {name: bodies.node_info(node) for name, node in sorted(session.nodes.items())}
    namespaces: dict[str, Document] = {}
    for quota in session.cluster.objects.list("ResourceQuota", None):
        name = quota["metadata"].get("namespace") or ""
        entry = namespaces.setdefault(name, {"Name": name, "QuotaStatus": {}})
        entry["QuotaStatus"][quota["metadata"]["name"]] = quota.get("status") or {}
    return {
        "Jobs": {uid: job_info(job) for uid, job in session.jobs.items()},
        "Nodes": nodes,
        "Queues": {name: queue_info(queue) for name, queue in session.queues.items()},
        "NamespaceInfo": namespaces,
        "RevocableNodes": {name: body for name, body in nodes.items() if body["RevocableZone"]},
        "NodeList": None,
    }


def _sub_job_info(sub_job: SubJobInfo) -> Document:
    return {
        "GID": sub_job.gid,
        "UID": sub_job.uid,
        "Job": sub_job.job,
        "MinAvailable": sub_job.min_available,
        "Priority": sub_job.priority,
        "MatchIndex": sub_job.match_index,
        **_tasks(sub_job.index),
        "AllocatedHyperNode": sub_job.allocated_hyper_node,
        "NominatedHyperNode": sub_job.nominated_hyper_node,
        "NetworkTopology": _network_topology(sub_job.network_topology),
    }


def _tasks(index: TaskIndex) -> Document:
    bodies = {uid: task_info(task) for uid, task in sorted(index.tasks.items())}
    by_status: dict[str, Document] = {}
    for uid, body in bodies.items():
        by_status.setdefault(str(body["Status"]), {})[uid] = body
    return {"TaskStatusIndex": dict(sorted(by_status.items())), "Tasks": bodies}


def _transaction(transaction: Transaction | None) -> Document | None:
    if transaction is None:
        return None
    return {
        "NodeName": transaction.node_name,
        "EvictionOccurred": transaction.eviction_occurred,
        "JobAllocatedHyperNode": "",
        "Status": _CODES[transaction.status],
    }


def _topology_info(task: TaskInfo) -> Document:
    annotations = task.pod.annotations
    resources: Any = {}
    if TOPOLOGY_DECISION in annotations:
        try:
            decision = decode(annotations[TOPOLOGY_DECISION])
            resources = decision.get("numa") if isinstance(decision, dict) else {}
        except ValueError:
            resources = {}
    return {"Policy": annotations.get(NUMA_POLICY, ""), "ResMap": resources}


def _network_topology(topology: NetworkTopology | None) -> Document | None:
    if topology is None:
        return None
    fields = {"mode": topology.mode, "highestTierName": topology.highest_tier_name}
    tier = {} if topology.highest_tier_allowed is None else {"highestTierAllowed": topology.highest_tier_allowed}
    return {name: value for name, value in fields.items() if value} | tier


def _without_type(document: Document) -> Document:
    """A document of Volcano's kinds: conversion to the internal version drops kind and version."""
    return {name: value for name, value in document.items() if name not in ("kind", "apiVersion")}


def _present(amount: Resource, offered: Resource | None = None) -> Resource:
    """An amount of the columns without the scalars that only other nodes have."""
    kept = (offered.scalars if offered is not None else None) or {}
    scalars = {name: value for name, value in (amount.scalars or {}).items() if value or name in kept}
    present = Resource(amount.cpu, amount.memory, scalars)
    present.max_tasks = offered.max_tasks if offered is not None else 0
    return present


def _resource(amount: Resource) -> Document:
    scalars = amount.scalars
    return {
        "MilliCPU": _number(amount.cpu),
        "Memory": _number(amount.memory),
        "ScalarResources": None if not scalars else {name: _number(scalars[name]) for name in sorted(scalars)},
        "MaxTaskNum": amount.max_tasks,
    }


def _number(amount: float) -> int | float:
    return int(amount) if amount.is_integer() else amount
