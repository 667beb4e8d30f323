"""Which action an event asks for, by the lifecycle policies of the task and of the Job.

Upstream: applyPolicies of pkg/controllers/job/job_controller_util.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.volcano.controllers.job.state import SYNC
from seatrial.volcano.webhooks.job_policies import policy_events

INTERNAL: Final = frozenset({"OutOfSync", "CommandIssued", "PodRunning"})
"""Events that never ask for more than a sync."""
POD_EVENTS: Final = frozenset({"PodPending", "PodRunning", "PodFailed", "PodEvicted"})


class JobRequest(msgspec.Struct, frozen=True, gc=False):
    """Why a Job is looked at; equal requests that wait are one."""

    event: str = ""
    action: str = ""
    task: str = ""
    pod: str = ""
    pod_uid: str = ""
    partition: str = ""
    exit_code: int = 0
    job_uid: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """The action that a request asks for, and after how many microseconds."""

    action: str
    delay: int = 0


_SYNC = Decision(SYNC)


def decide(job: Document, version: int, request: JobRequest) -> Decision:
    """What a request means for a Job at this version of its pods."""
    if request.action:
        return Decision(request.action)
    if request.event in INTERNAL:
        return _SYNC
    if request.job_uid and request.job_uid != job["metadata"]["uid"]:
        return _SYNC
    if request.version < version:
        return _SYNC
    spec = job["spec"]
    if request.task:
        for task in spec.get("tasks") or ():
            if task["name"] == request.task:
                found = _matching(task.get("policies"), request)
                if found is not None:
                    return found
                break
    return _matching(spec.get("policies"), request) or _SYNC


def _matching(policies: Sequence[Document] | None, request: JobRequest) -> Decision | None:
    for policy in policies or ():
        events = policy_events(policy)
        timeout = policy.get("timeout")
        named = bool(request.event) and (request.event in events or "*" in events)
        if named and request.event == "PodPending" and timeout is None:
            named = False
        code = policy.get("exitCode")
        if named or (code is not None and code == request.exit_code):
            return Decision(policy.get("action", SYNC), parse_duration(timeout) if timeout is not None else 0)
    return None


def scope_of(action: str) -> str:
    """What an action reaches: delayed actions of one scope replace each other."""
    return {"RestartTask": "task", "RestartPod": "pod", "RestartPartition": "partition"}.get(action, "job")
