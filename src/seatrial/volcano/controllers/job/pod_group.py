"""The PodGroup of a Job: how many pods must run together, and what they need.

Upstream: createOrUpdatePodGroup and calcPGMinResources of pkg/controllers/job.
"""

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from seatrial.controllers.framework import controller_reference
from seatrial.model.documents import Document, decode, encode
from seatrial.model.kinds import Kind
from seatrial.model.pod_resources import Resources
from seatrial.model.quantity import Quantity
from seatrial.store import Store
from seatrial.store.admission import charge
from seatrial.volcano.apis import SCHEDULING
from seatrial.volcano.apis.labels import PARTITION_ID, TASK_SPEC

_REQUESTS = "requests."
SPECS_KEPT = 1024


def pod_group_name(job: Document) -> str:
    """The name of a Job's PodGroup."""
    return f"{job['metadata']['name']}-{job['metadata']['uid']}"


def new_pod_group(job: Document, kind: Kind, resources: dict[str, str]) -> Document:
    """The PodGroup of a Job that has none, and whose least pods need these resources."""
    meta, spec = job["metadata"], job["spec"]
    metadata: dict[str, Any] = {
        "name": pod_group_name(job),
        "namespace": meta["namespace"],
        "ownerReferences": [controller_reference(kind, job)],
    }
    metadata |= {key: meta[key] for key in ("annotations", "labels") if meta.get(key)}
    group: Document = {"apiVersion": SCHEDULING, "kind": "PodGroup", "metadata": metadata, "spec": {}}
    topology = spec.get("networkTopology")
    if topology is not None:
        group["spec"]["networkTopology"] = _topology(topology)
    group["spec"]["queue"] = spec["queue"]
    update_pod_group(group, job, resources)
    return group


def update_pod_group(group: Document, job: Document, resources: dict[str, str]) -> None:
    """Bring a PodGroup to what its Job says now."""
    spec, wanted = job["spec"], group["spec"]
    _set(wanted, "priorityClassName", spec.get("priorityClassName"))
    _set(wanted, "minMember", spec.get("minAvailable"))
    wanted["minResources"] = dict(resources)
    members = wanted.setdefault("minTaskMember", {})
    for task in spec["tasks"]:
        members[task["name"]] = _least(task)
    policies = [_sub_group(task) for task in spec["tasks"] if task.get("partitionPolicy") is not None]
    if policies or wanted.get("subGroupPolicy"):
        wanted["subGroupPolicy"] = policies


def _set(spec: Document, field: str, value: Any) -> None:
    if value:
        spec[field] = value
    else:
        spec.pop(field, None)


def _topology(topology: Document) -> Document:
    found = {key: topology[key] for key in ("mode", "highestTierAllowed") if topology.get(key) is not None}
    if "highestTierAllowed" not in found and topology.get("highestTierName"):
        found["highestTierName"] = topology["highestTierName"]
    return found


def _sub_group(task: Document) -> Document:
    policy = task["partitionPolicy"]
    found: Document = {
        "name": task["name"],
        "subGroupSize": policy["partitionSize"],
        "minSubGroups": policy.get("minPartitions", 0),
        "labelSelector": {"matchLabels": {TASK_SPEC: task["name"]}},
        "matchLabelKeys": [PARTITION_ID],
    }
    if policy.get("networkTopology") is not None:
        found["networkTopology"] = copy.deepcopy(policy["networkTopology"])
    return found


def latest_trouble(group: Document) -> Document | None:
    """The latest condition of a PodGroup that is true, unless that is the one of a scheduled group."""
    latest: Document | None = None
    for condition in (group.get("status") or {}).get("conditions") or ():
        is_true = condition.get("status") == "True"
        if is_true and (latest is None or condition["lastTransitionTime"] > latest["lastTransitionTime"]):
            latest = condition
    return latest if latest is not None and latest["type"] != "Scheduled" else None


def min_resources(spec: Document, store: Store) -> dict[str, str]:
    """What the pods that must run together need, tasks of a higher priority first."""
    tasks = sorted(spec["tasks"], key=lambda task: -_priority(task, store))
    least = spec.get("minAvailable", 0)
    total: Resources = {}
    for task, count in _shares(tasks, least):
        for name, amount in pod_usage(task["template"], store).items():
            found = amount * count
            total[name] = total[name] + found if name in total else found
    return {name: str(amount) for name, amount in total.items()}


def _shares(tasks: list[Document], least: int) -> list[tuple[Document, int]]:
    """How many pods of each task count towards the least number of a Job."""
    shares: list[tuple[Document, int]] = []
    left = least
    if least < sum(_least(task) for task in tasks):
        for task in tasks:
            count = min(left, task.get("replicas", 0))
            shares.append((task, count))
            left -= count
            if left <= 0:
                break
        return [share for share in shares if share[1] > 0]
    for task in tasks:
        count = min(left, _least(task))
        shares.append((task, count))
        left -= count
    for task in tasks:
        if left <= 0:
            break
        count = min(left, task.get("replicas", 0) - _least(task))
        shares.append((task, count))
        left -= count
    return [share for share in shares if share[1] > 0]


def _least(task: Document) -> int:
    """How many pods of a task must run."""
    least: int | None = task.get("minAvailable")
    return least if least is not None else int(task.get("replicas", 0))


def _priority(task: Document, store: Store) -> int:
    name = (task["template"].get("spec") or {}).get("priorityClassName")
    kind = store.kinds.named("scheduling.k8s.io/v1", "PriorityClass")
    found = store.find(kind, name) if name and kind is not None else None
    return int(found.document().get("value", 0)) if found is not None else 0


def pod_usage(template: Document, store: Store) -> Mapping[str, Quantity]:
    """What a pod costs of a quota; extended resources are named with and without `requests.`."""
    kind = store.kinds.served("v1", "Pod")
    return store.views.once(_usage, kind, encode(template.get("spec") or {}))


def _usage(kind: Kind, spec: bytes) -> Mapping[str, Quantity]:
    """The same by the encoded spec, which many Jobs have in common; a live pod costs the same at any time."""
    found = charge(kind, {"metadata": {}, "spec": decode(spec)}, 0)
    for name, amount in list(found.items()):
        plain = name.removeprefix(_REQUESTS)
        if plain != name and "/" in plain:
            found[plain] = amount
    return MappingProxyType(found)
