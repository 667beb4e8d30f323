"""The arithmetic of a rollout: the size that each ReplicaSet may have now, and the Deployment's status.

Pure: documents in, numbers and documents out. Upstream: pkg/controller/deployment/util, rolling.go, sync.go (v1.36).
"""

import math
from collections.abc import Iterable

from seatrial.controllers.framework.conditions import find_condition, new_condition, remove_condition, set_condition
from seatrial.controllers.framework.int_or_string import scaled
from seatrial.model.documents import Document
from seatrial.model.integers import int64_of
from seatrial.model.times import SECOND, parse_time

REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"
NEVER = 2**31 - 1


def replicas(document: Document) -> int:
    wanted: int = document["spec"].get("replicas", 1)
    return wanted


def sum_of(replica_sets: Iterable[Document], field: str) -> int:
    return sum(replica_set.get("status", {}).get(field, 0) for replica_set in replica_sets)


def size_of(replica_sets: Iterable[Document]) -> int:
    return sum(map(replicas, replica_sets))


def is_rolling(deployment: Document) -> bool:
    return bool(deployment["spec"].get("strategy", {}).get("type", "RollingUpdate") == "RollingUpdate")


def fence_posts(deployment: Document) -> tuple[int, int]:
    """maxSurge and maxUnavailable in pods; where both are zero, one pod may be unavailable to allow progress."""
    if not is_rolling(deployment):
        return 0, 0
    rolling = deployment["spec"].get("strategy", {}).get("rollingUpdate", {})
    wanted = replicas(deployment)
    surge = scaled(rolling.get("maxSurge", 0), wanted, up=True)
    unavailable = scaled(rolling.get("maxUnavailable", 0), wanted, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return surge, min(unavailable, wanted)


def max_surge(deployment: Document) -> int:
    return fence_posts(deployment)[0]


def new_size(deployment: Document, all_sets: list[Document], newest: int) -> int:
    """How many replicas the new ReplicaSet, which has `newest`, may have now."""
    wanted = replicas(deployment)
    if not is_rolling(deployment):
        return wanted
    room = wanted + max_surge(deployment) - size_of(all_sets)
    return newest if room <= 0 else newest + min(room, wanted - newest)


def shrunk(deployment: Document, newest: Document, active: list[Document], total: int) -> dict[str, int]:
    """New sizes, by name, of the old ReplicaSets (oldest first): unhealthy pods go first; empty where none may go."""
    least = replicas(deployment) - fence_posts(deployment)[1]
    room = total - least - (replicas(newest) - sum_of([newest], "availableReplicas"))
    if room <= 0:
        return {}
    sizes = {}
    for replica_set in active:
        unhealthy = replicas(replica_set) - sum_of([replica_set], "availableReplicas")
        taken = max(0, min(room, unhealthy))
        sizes[replica_set["metadata"]["name"]] = replicas(replica_set) - taken
        room -= taken
    spare = sum_of([*active, newest], "availableReplicas") - least
    for name in sizes:
        taken = min(sizes[name], max(0, spare))
        sizes[name] -= taken
        spare -= taken
    return sizes


def is_saturated(deployment: Document, replica_set: Document | None) -> bool:
    """Whether the new ReplicaSet has all replicas in spec and status, and all are available."""
    if replica_set is None:
        return False
    wanted = replicas(deployment)
    desired = replica_set["metadata"].get("annotations", {}).get(DESIRED_REPLICAS, "")
    return (
        replicas(replica_set) == wanted
        and desired == str(wanted)
        and sum_of([replica_set], "availableReplicas") == wanted
    )


def proportions(deployment: Document, active: list[Document]) -> dict[str, int]:
    """New sizes, by name, when a Deployment is scaled in the middle of a rollout."""
    wanted = replicas(deployment)
    allowed = wanted + max_surge(deployment) if wanted > 0 else 0
    to_add = allowed - size_of(active)
    by_age = sorted(active, key=_age, reverse=to_add > 0)
    ordered = sorted(by_age, key=replicas, reverse=True)
    sizes = {rs["metadata"]["name"]: replicas(rs) for rs in ordered}
    added = 0
    if to_add == 0:
        return sizes
    for replica_set in ordered:
        share = _share(deployment, replica_set, to_add, added)
        sizes[replica_set["metadata"]["name"]] += share
        added += share
    largest = ordered[0]["metadata"]["name"]
    sizes[largest] = max(0, sizes[largest] + to_add - added)
    return sizes


def _age(replica_set: Document) -> tuple[str, str]:
    return replica_set["metadata"]["creationTimestamp"], replica_set["metadata"]["name"]


def _share(deployment: Document, replica_set: Document, to_add: int, added: int) -> int:
    size = replicas(replica_set)
    if size == 0 or to_add == added:
        return 0
    wanted = replicas(deployment)
    if wanted == 0:
        share = -size
    else:
        text = replica_set["metadata"].get("annotations", {}).get(MAX_REPLICAS, "")
        before = int64_of(text)
        before = before or deployment.get("status", {}).get("replicas", 0)
        if before == 0:
            return 0
        share = math.floor(size * (wanted + max_surge(deployment)) / before + 0.5) - size
    return min(share, to_add - added) if to_add > 0 else max(share, to_add - added)


def is_complete(deployment: Document, status: Document) -> bool:
    wanted = replicas(deployment)
    is_seen: bool = status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0)
    return is_seen and all(
        status.get(field, 0) == wanted for field in ("updatedReplicas", "replicas", "availableReplicas")
    )


def deadline(deployment: Document) -> int | None:
    """Seconds a rollout may make no progress; None where it has no deadline."""
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return None if seconds is None or seconds == NEVER else seconds


def count_status(deployment: Document, all_sets: list[Document], newest: Document | None, now: int) -> Document:
    """The status computed from the ReplicaSets, with the Available condition."""
    available = sum_of(all_sets, "availableReplicas")
    counts = {
        "observedGeneration": deployment["metadata"].get("generation", 0),
        "replicas": sum_of(all_sets, "replicas"),
        "updatedReplicas": sum_of([newest] if newest else [], "replicas"),
        "readyReplicas": sum_of(all_sets, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, size_of(all_sets) - available),
    }
    status: Document = {name: count for name, count in counts.items() if count}
    before = deployment.get("status", {})
    if "collisionCount" in before:
        status["collisionCount"] = before["collisionCount"]
    synced = [rs["status"] for rs in all_sets if rs.get("status", {}).get("observedGeneration")]
    if all("terminatingReplicas" in rs for rs in synced):
        status["terminatingReplicas"] = sum(rs["terminatingReplicas"] for rs in synced)
    if before.get("conditions"):
        status["conditions"] = list(before["conditions"])
    enough = available >= replicas(deployment) - fence_posts(deployment)[1]
    reason, text = (
        ("MinimumReplicasAvailable", "Deployment has minimum availability.")
        if enough
        else ("MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    )
    set_condition(status, new_condition("Available", enough, reason, text, now))
    return status


def judge_progress(deployment: Document, status: Document, newest: Document | None, now: int) -> None:
    """Set the Progressing condition of a rollout under way."""
    seconds = deadline(deployment)
    if seconds is None:
        remove_condition(status, "Progressing")
        return
    before = deployment.get("status", {})
    current = find_condition(before, "Progressing")
    replicas_now, updated = status.get("replicas", 0), status.get("updatedReplicas", 0)
    if current is not None and current["reason"] == "NewReplicaSetAvailable" and replicas_now == updated:
        return
    subject = (
        f'ReplicaSet "{newest["metadata"]["name"]}"' if newest else f'Deployment "{deployment["metadata"]["name"]}"'
    )
    if is_complete(deployment, status):
        text = f"{subject} has successfully progressed."
        set_condition(status, new_condition("Progressing", True, "NewReplicaSetAvailable", text, now))
    elif _has_progressed(before, status):
        condition = new_condition("Progressing", True, "ReplicaSetUpdated", f"{subject} is progressing.", now)
        if current is not None and current["status"] == "True":
            condition["lastTransitionTime"] = current["lastTransitionTime"]
        remove_condition(status, "Progressing")
        set_condition(status, condition)
    elif _is_late(find_condition(status, "Progressing"), seconds, now):
        text = f"{subject} has timed out progressing."
        set_condition(status, new_condition("Progressing", False, "ProgressDeadlineExceeded", text, now))


def _has_progressed(before: Document, after: Document) -> bool:
    def old(status: Document) -> int:
        count: int = status.get("replicas", 0) - status.get("updatedReplicas", 0)
        return count

    return old(after) < old(before) or any(
        after.get(field, 0) > before.get(field, 0)
        for field in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )


def _is_late(condition: Document | None, seconds: int, now: int) -> bool:
    if condition is None or condition["reason"] == "NewReplicaSetAvailable":
        return False
    if condition["reason"] == "ProgressDeadlineExceeded":
        return True
    return parse_time(condition["lastUpdateTime"]) + seconds * SECOND < now


def carry_failure(status: Document, all_sets: list[Document], newest: Document | None) -> None:
    """A ReplicaFailure of a ReplicaSet, the newest first, is the Deployment's too."""
    for replica_set in ([newest] if newest else []) + all_sets:
        failure = find_condition(replica_set.get("status", {}), "ReplicaFailure")
        if failure is not None:
            set_condition(status, failure | {"lastUpdateTime": failure["lastTransitionTime"]})
            return
    remove_condition(status, "ReplicaFailure")
