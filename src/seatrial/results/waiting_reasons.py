"""Why pods have no node, and which of them for the same reason."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.results.lifecycles import PodLife, unscheduled_message

DEFAULT_SCHEDULER = "default-scheduler"
_AVAILABLE = re.compile(r"^\d+/\d+ nodes are available: ")
_COUNT = re.compile(r"(?:^|(?<=, ))\d+ ")
_CLAIM = re.compile(r'persistentvolumeclaim "([^"]+)" not found')
_RESOURCE_CLAIM = re.compile(r'resourceclaim(?:template)? "([^"]+)" not found', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PendingPod:
    """One pod without a node, and why."""

    pod: str
    reason: str


@dataclass(frozen=True, slots=True)
class Group:
    """Pods that wait for the same reason."""

    reason: str
    pods: tuple[str, ...]


def reason(message: str, gates: Iterable[str], scheduler: str) -> str:
    """The reason of one pod in a few words, without the numbers of nodes in which equal reasons differ."""
    if gates := list(gates):
        return f"gated by {', '.join(gates)}"
    if not message:
        if scheduler and scheduler != DEFAULT_SCHEDULER:
            return f"no scheduler of this run takes pods for {scheduler} (spec.schedulerName)"
        return "not tried by a scheduler"
    if claim := _CLAIM.search(message):
        return f"its PersistentVolumeClaim {claim[1]} does not exist"
    if claim := _RESOURCE_CLAIM.search(message):
        return f"its ResourceClaim {claim[1]} does not exist"
    if not _AVAILABLE.match(message):
        return message
    reasons = _AVAILABLE.sub("", message).partition(". ")[0].rstrip(".")
    return ", ".join(sorted(_COUNT.sub("", reasons).split(", ")))


def waiting_of(life: PodLife) -> PendingPod:
    """A pod of a finished run that has no node."""
    return PendingPod(life.key, reason(life.message, life.gates, life.scheduler))


def waiting_document(pod: Document) -> PendingPod:
    """A pod that has no node, as the store has it."""
    meta, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    gates = [gate.get("name", "") for gate in spec.get("schedulingGates") or ()]
    key = f"{meta.get('namespace', '')}/{meta['name']}"
    return PendingPod(key, reason(unscheduled_message(status), gates, spec.get("schedulerName") or ""))


def groups_of(waiting: Iterable[PendingPod]) -> list[Group]:
    """Pods by reason, the largest group first."""
    found: dict[str, list[str]] = {}
    for each in waiting:
        found.setdefault(each.reason, []).append(each.pod)
    groups = [Group(reason, tuple(pods)) for reason, pods in found.items()]
    return sorted(groups, key=lambda group: (-len(group.pods), group.reason))
