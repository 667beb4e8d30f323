"""Validation of a Job's lifecycle policies, volumes and dependencies.

Upstream: pkg/webhooks/admission/jobs/validate/util.go. Go prints the valid events and actions in the order of a map;
here they are sorted.
"""

from collections.abc import Sequence
from typing import Final

from seatrial.model.documents import Document
from seatrial.store import subdomain_faults
from seatrial.store.field_errors import quoted

EVENTS: Final = (
    "*", "JobUpdated", "PodEvicted", "PodFailed", "PodPending", "TaskCompleted", "TaskFailed", "Unknown",
)  # fmt: skip
"""Events that a policy may name; OutOfSync, CommandIssued and PodRunning are internal."""
ACTIONS: Final = (
    "AbortJob", "CompleteJob", "RestartJob", "RestartPartition", "RestartPod", "RestartTask", "ResumeJob",
    "TerminateJob",
)  # fmt: skip
VALID: Final = f" valid events are [{' '.join(EVENTS)}], valid actions are [{' '.join(ACTIONS)}];"


def policy_faults(policies: Sequence[Document] | None, path: str) -> str:
    """What is wrong with a list of policies, as one text; empty when nothing is."""
    faults: list[str] = []
    events: set[str] = set()
    codes: set[int] = set()
    for policy in policies or ():
        fault = _policy_fault(policy, path, events, codes)
        if fault:
            faults.append(fault)
            break
    if "*" in events and len(events) > 1:
        faults.append("if there's * here, no other policy should be here")
    return _multierror(faults) + VALID if faults else ""


def _policy_fault(policy: Document, path: str, events: set[str], codes: set[int]) -> str:
    named = policy_events(policy)
    code = policy.get("exitCode")
    if named and code is not None:
        return "must not specify event and exitCode simultaneously"
    if not named and code is None:
        return "either event and exitCode should be specified"
    if code is not None:
        if code == 0:
            return "0 is not a valid error code"
        if code in codes:
            return f"duplicate exitCode {code}"
        codes.add(code)
        return ""
    for event in dict.fromkeys(named):
        if event not in EVENTS:
            return f"{path}: Invalid value: {quoted(event)}: invalid policy event"
        if policy.get("action", "") not in ACTIONS:
            return f"{path}: Invalid value: {quoted(policy.get('action', ''))}: invalid policy action"
        if event in events:
            return f"duplicate event {event}  across different policy"
        events.add(event)
    return ""


def policy_events(policy: Document) -> list[str]:
    """The events that a policy answers."""
    return [*(policy.get("events") or ()), *([policy["event"]] if policy.get("event") else ())]


def _multierror(faults: list[str]) -> str:
    """How hashicorp's multierror prints."""
    head = "1 error occurred:" if len(faults) == 1 else f"{len(faults)} errors occurred:"
    return head + "\n\t" + "\n\t".join(f"* {fault}" for fault in faults) + "\n\n"


def volume_fault(volumes: Sequence[Document] | None) -> str:
    """The first thing that is wrong with a Job's volumes; empty when nothing is."""
    seen: set[str] = set()
    for volume in volumes or ():
        path, name = volume.get("mountPath", ""), volume.get("volumeClaimName", "")
        claim = volume.get("volumeClaim")
        if not path:
            return " mountPath is required;"
        if path in seen:
            return f" duplicated mountPath: {path};"
        if claim is None and not name:
            return " either VolumeClaim or VolumeClaimName must be specified;"
        if name and claim is not None:
            return (
                "conflict: If you want to use an existing PVC, just specify VolumeClaimName."
                "If you want to create a new PVC, you do not need to specify VolumeClaimName"
            )
        if name and (faults := subdomain_faults(name)):
            return f"invalid VolumeClaimName {name} : [{' '.join(faults)}]"
        seen.add(path)
    return ""


def is_acyclic(tasks: Sequence[Document]) -> bool:
    """Whether the dependencies between tasks form a directed acyclic graph."""
    waits_for = {task["name"]: set((task.get("dependsOn") or {}).get("name") or ()) for task in tasks}
    while ready := [name for name, others in waits_for.items() if not others]:
        for name in ready:
            del waits_for[name]
        for others in waits_for.values():
            others.difference_update(ready)
    return not waits_for
