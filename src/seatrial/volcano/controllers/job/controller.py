"""The Job controller: hears of Jobs, their pods, PodGroups and Commands, and carries out what policies ask for.

Upstream: pkg/controllers/job/job_controller.go and job_controller_handler.go. Requests of one Job that ask for no
more than a sync are one sync, since a sync goes by the state there is.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import ClassVar

import msgspec

from seatrial.controllers.framework import FIRST_RETRY, Context, EventType, Key, Listener
from seatrial.model.documents import Document
from seatrial.model.durations import format_duration
from seatrial.model.errors import StatusError
from seatrial.model.kinds import Kind
from seatrial.store import Change, Stored
from seatrial.volcano.apis import BATCH, JOB, POD_GROUP
from seatrial.volcano.controllers.job.actions import JobActions, Target
from seatrial.volcano.controllers.job.delays import DelayedActions
from seatrial.volcano.controllers.job.job_cache import JobCache
from seatrial.volcano.controllers.job.job_pods import JobPod, JobPods, read_pod
from seatrial.volcano.controllers.job.policies import JobRequest, decide
from seatrial.volcano.controllers.job.state import SYNC, next_step
from seatrial.volcano.controllers.requests import RequestController

OUT_OF_SYNC = JobRequest(event="OutOfSync")
EXECUTE = "ExecuteAction"
"""The reason of events about actions."""
MAX_REQUEUES = 15
PATIENCE = FIRST_RETRY * ((1 << MAX_REQUEUES) - 1)
"""How long the back-offs last, by the number of tries."""
ISSUED = "Start to execute command {}, and clean it up to make sure executed not more than once."
POLICIES = b'"policies":['
"""In the encoded form of every Job that has policies: events ask others for no more than a sync."""


class VolcanoJob(RequestController[JobRequest]):
    """Runs the tasks of Volcano Jobs as pods."""

    name: ClassVar[str] = "volcano-job"
    target: ClassVar[tuple[str, str]] = JOB

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._pod_kind = context.kind("v1", "Pod")
        self._groups = context.kind(*POD_GROUP)
        self._jobs, self._pods = JobCache(), JobPods()
        self._actions = JobActions(context, self._jobs, self._pods, self._record)
        self._delayed = DelayedActions(self.clock, self._delay_over)
        self._awaits_sync: set[Key] = set()
        """Jobs of which a request that was served asks for a sync, which is done once after the others."""
        self._refused_since: dict[Key, int] = {}
        """When the first of the refusals in a row came; kept until the Job is deleted."""

    def watches(self) -> Mapping[Kind, Listener]:
        return {
            self.kind: self._job_changed,
            self._pod_kind: self._pod_changed,
            self._groups: self._group_changed,
            self.commands: self.command_changed,
        }

    def start(self) -> None:
        for stored in self.store.list(self._pod_kind):
            if (pod := read_pod(stored)) is not None:
                self._pods.put(pod)
        for stored in self.store.list(self._groups):
            self._jobs.put_group(stored)
        for stored in self.store.list(self.kind):
            self.request(self._jobs.put_job(stored).key, OUT_OF_SYNC)
        super().start()

    def stop(self) -> None:
        super().stop()
        self._delayed.clear()
        self._awaits_sync.clear()
        self._refused_since.clear()
        self._jobs.clear()
        self._pods.clear()

    def sync(self, key: Key) -> None:
        """Serve the requests of a Job, then sync it where one of them asks for no more."""
        super().sync(key)
        if key not in self._awaits_sync:
            return
        self._awaits_sync.discard(key)
        try:
            self._execute(key, OUT_OF_SYNC, SYNC)
        except StatusError:
            self._awaits_sync.add(key)
            raise

    def serve(self, key: Key, request: JobRequest) -> None:
        self._delayed.heed(key, request)
        job = self._jobs.job(key)
        if job is None:
            return
        stored = job.stored
        if not request.action and POLICIES not in stored.data:
            self._awaits_sync.add(key)
            return
        decision = decide(stored.document(), job.view.status.version, request)
        if decision.delay:
            self._record(stored, EXECUTE, f"Execute action {decision.action} after {format_duration(decision.delay)}")
            self._delayed.add(key, request, decision.action, decision.delay)
        elif decision.action == SYNC:
            self._awaits_sync.add(key)
        else:
            self._record(stored, EXECUTE, f"Start to execute action {decision.action} ")
            self._execute(key, request, decision.action)
            self._delayed.carried_out(key, request, decision.action)

    def serve_command(self, key: Key, command: Document) -> None:
        action = command.get("action", "")
        job = self._jobs.job(key)
        if job is not None:
            self._record(job.stored, "CommandIssued", ISSUED.format(action))
        self.request(key, JobRequest(event="CommandIssued", action=action))

    def _execute(self, key: Key, request: JobRequest, action: str) -> None:
        job = self._jobs.job(key)
        if job is None:
            return
        step = next_step(job.view.status.state.phase, action)
        if step.operation == "sync":
            self._actions.sync(job, step.update)
            return
        target = Target(action, request.task, request.pod, request.partition)
        self._actions.kill(job, step, target if step.operation == "kill-target" else None)

    def _record(self, job: Stored, reason: str, message: str, event_type: EventType = "Normal") -> None:
        if self.context.events is not None:
            self.record(self.kind, job.document(), reason, message, event_type)

    def _refused(self, key: Key, refusal: StatusError) -> None:
        """Try again later; a Job that is still refused when upstream stops trying is terminated."""
        now = self.clock.now()
        if key not in self._refusals:
            self._refused_since[key] = now
        job = self._jobs.job(key)
        if job is None or now - self._refused_since[key] < PATIENCE:
            super()._refused(key, refusal)
            return
        self._record(job.stored, EXECUTE, f"Job failed on action {SYNC} for retry limit reached")
        self._requests.pop(key, None)
        self._awaits_sync.discard(key)
        self._refusals.pop(key, None)
        with suppress(StatusError):
            self._execute(key, OUT_OF_SYNC, "TerminateJob")

    def _delay_over(self, key: Key, request: JobRequest, action: str) -> None:
        self.request(key, msgspec.structs.replace(request, action=action))

    # What is heard.

    def _job_changed(self, change: Change) -> None:
        key = change.stored.namespace, change.stored.name
        if change.type == "DELETED":
            self._delayed.clear(key)
            self._refused_since.pop(key, None)
            gone = self._jobs.remove_job(key)
            if gone is not None:
                self._actions.forget(gone.view.uid)
            return
        before = self._jobs.job(key)
        job = self._jobs.put_job(change.stored)
        if before is not None and change.subresource == "status":
            # The sync that begins a Job goes on by itself.
            if (before.view.status.state.phase or "Pending") == job.view.status.state.phase:
                return
        elif before is not None and before.view.metadata.generation == job.view.metadata.generation:
            return
        self.request(key, OUT_OF_SYNC)

    def _pod_changed(self, change: Change) -> None:
        if change.subresource == "binding":
            return  # nothing that the controller reads
        pod = read_pod(change.stored)
        if pod is None:
            return
        if change.type == "DELETED":
            known = self._pods.find(pod) is not None
            self._pods.remove(pod)
            event = "OutOfSync" if pod.is_out_of_sync or not known else "PodEvicted"
        else:
            before = self._pods.find(pod)
            self._pods.put(pod)
            event = "PodPending" if before is None else self._event(before, pod)
            if pod.is_out_of_sync:
                event = "OutOfSync"
            if event == "OutOfSync" and before == pod:
                return
            if event == "PodPending" and change.writer == self.name and not self._has_policies(pod):
                return  # the sync that has created the pod counts it
        self.request((pod.namespace, pod.job), _request_of(pod, event))

    def _has_policies(self, pod: JobPod) -> bool:
        job = self._jobs.job((pod.namespace, pod.job))
        return job is None or POLICIES in job.stored.data

    def _event(self, before: JobPod, pod: JobPod) -> str:
        """What a change of a pod means for its Job."""
        changed = before.phase != pod.phase
        match pod.phase:
            case "Failed" if changed:
                return "PodFailed"
            case "Succeeded" if changed and self._actions.task_completed(pod):
                return "TaskCompleted"
            case "Running" | "Pending" if changed:
                return f"Pod{pod.phase}"
            case "Running" | "Pending" if self._actions.task_failed(pod):
                return "TaskFailed"
        return "OutOfSync"

    def _group_changed(self, change: Change) -> None:
        key = change.stored.namespace, change.stored.name
        if change.type == "DELETED":
            self._jobs.remove_group(key)
            return
        before = self._jobs.group(key)
        group = self._jobs.put_group(change.stored)
        if before is None or before[1].phase == group.phase:
            return
        if job := group.owner(BATCH):
            event = "Unknown" if group.phase == "Unknown" else ""
            self.request((change.stored.namespace, job), JobRequest(event=event))


def _request_of(pod: JobPod, event: str) -> JobRequest:
    code = pod.exit_code if event == "PodFailed" else 0
    return JobRequest(event, "", pod.task, pod.name, pod.uid, pod.partition, code, pod.job_uid, pod.version)
