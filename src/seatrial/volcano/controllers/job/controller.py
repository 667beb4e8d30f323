"""The Job controller: hears of Jobs, their pods, PodGroups and Commands, and carries out what policies ask for.

Upstream: pkg/controllers/job/job_controller.go and job_controller_handler.go. Requests of one Job that ask for no
more than a sync are one sync, since a sync goes by the state there is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from seatrial.controllers.framework import Context, Key, Listener, QueueController
from seatrial.model.errors import NotFound, StatusError
from seatrial.model.kinds import Kind
from seatrial.store import Change, Stored
from seatrial.volcano.apis import BATCH, COMMAND, JOB, POD_GROUP
from seatrial.volcano.controllers.job.actions import JobActions, Target
from seatrial.volcano.controllers.job.cache import JobPod, JobPods, read_group, read_pod
from seatrial.volcano.controllers.job.delays import DelayedActions
from seatrial.volcano.controllers.job.policies import Request, decide
from seatrial.volcano.controllers.job.state import SYNC, next_step
from seatrial.volcano.controllers.job.status import read_status

COMMANDS = "command:"
"""Keys of Commands carry this before the namespace, those of Jobs do not."""
OUT_OF_SYNC = Request(event="OutOfSync")
POLICIES = b'"policies":['
"""In the encoded form of every Job that has policies: events ask others for no more than a sync."""


class VolcanoJob(QueueController):
    """Runs the tasks of Volcano Jobs as pods."""

    name: ClassVar[str] = "volcano-job"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind(*JOB)
        self._pod_kind = context.kind("v1", "Pod")
        self._groups = context.kind(*POD_GROUP)
        self._commands = context.kind(*COMMAND)
        self._pods = JobPods()
        self._actions = JobActions(context, self._pods)
        self._requests: dict[Key, dict[Request, None]] = {}
        self._delayed = DelayedActions(self.clock, self._delay_over)

    def watches(self) -> Mapping[Kind, Listener]:
        return {
            self.kind: self._job_changed,
            self._pod_kind: self._pod_changed,
            self._groups: self._group_changed,
            self._commands: self._command_changed,
        }

    def owners(self) -> Iterable[Kind]:
        return []

    def start(self) -> None:
        for stored in self.store.list(self._pod_kind):
            if (pod := read_pod(stored)) is not None:
                self._pods.put(pod)
        super().start()
        for stored in self.store.list(self.kind):
            self._request((stored.namespace, stored.name), OUT_OF_SYNC)
        for stored in self.store.list(self._commands):
            self._hear_command(stored)

    def stop(self) -> None:
        super().stop()
        self._delayed.clear()
        self._requests.clear()
        self._pods.clear()

    def sync(self, key: Key) -> None:
        """Carry out the requests of a Job in the order in which they came."""
        if key[0].startswith(COMMANDS):
            self._take_command(key[0].removeprefix(COMMANDS), key[1])
            return
        requests = self._requests.pop(key, {})
        waits_for_sync = False
        while requests:
            request = next(iter(requests))
            try:
                waits_for_sync = self._serve(key, request) or waits_for_sync
            except StatusError:
                self._requests[key] = requests | self._requests.get(key, {})
                raise
            del requests[request]
        if waits_for_sync:
            try:
                self._execute(key, OUT_OF_SYNC, SYNC)
            except StatusError:
                self._requests.setdefault(key, {})[OUT_OF_SYNC] = None
                raise

    def _serve(self, key: Key, request: Request) -> bool:
        """Do what a request asks for; True where that is a sync, which may wait for the others."""
        self._delayed.heed(key, request)
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return False
        if not request.action and POLICIES not in stored.data:
            return True
        decision = decide(stored.document(), read_status(stored).version, request)
        if decision.delay:
            self._delayed.add(key, request, decision.action, decision.delay)
            return False
        if decision.action == SYNC:
            return True
        self._execute(key, request, decision.action)
        self._delayed.carried_out(key, request, decision.action)
        return False

    def _execute(self, key: Key, request: Request, action: str) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        step = next_step(read_status(stored).state.phase, action)
        if step.operation == "sync":
            self._actions.sync(stored, step.update)
            return
        target = Target(action, request.task, request.pod, request.partition)
        self._actions.kill(stored, step, target if step.operation == "kill-target" else None)

    def _delay_over(self, key: Key, request: Request, action: str) -> None:
        self._request(key, replace(request, action=action))

    # What is heard.

    def _request(self, key: Key, request: Request) -> None:
        self._requests.setdefault(key, {})[request] = None
        self.enqueue(key)

    def _job_changed(self, change: Change) -> None:
        key = change.stored.namespace, change.stored.name
        if change.type == "DELETED":
            self._delayed.clear(key)
            self._actions.forget(change.stored.document()["metadata"]["uid"])
            return
        before = change.previous
        if before is not None and change.subresource == "status":
            if read_status(before).state.phase == read_status(change.stored).state.phase:
                return
        elif before is not None and before.document().get("spec") == change.stored.document().get("spec"):
            return
        self._request(key, OUT_OF_SYNC)

    def _pod_changed(self, change: Change) -> None:
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
        self._request((pod.namespace, pod.job), _request_of(pod, event))

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
        if change.type != "MODIFIED" or change.previous is None:
            return
        phase = read_group(change.stored).status.phase
        if phase == read_group(change.previous).status.phase:
            return
        owners = read_group(change.stored).metadata.owner_references
        owner = next((owner for owner in owners if owner.kind == "Job" and owner.api_version == BATCH), None)
        if owner is not None:
            event = "Unknown" if phase == "Unknown" else ""
            self._request((change.stored.namespace, owner.name), Request(event=event))

    def _command_changed(self, change: Change) -> None:
        if change.type == "ADDED":
            self._hear_command(change.stored)

    def _hear_command(self, stored: Stored) -> None:
        target = stored.document().get("target") or {}
        if (target.get("apiVersion"), target.get("kind")) == JOB:
            self.enqueue((COMMANDS + stored.namespace, stored.name))

    def _take_command(self, namespace: str, name: str) -> None:
        """Delete a Command and request its action, so that it is carried out at most once."""
        stored = self.store.find(self._commands, name, namespace)
        if stored is None:
            return
        command = stored.document()
        try:
            self.store.delete(self._commands, name, namespace=namespace, writer=self.name)
        except NotFound:
            return
        request = Request(event="CommandIssued", action=command.get("action", ""))
        self._request((namespace, command["target"]["name"]), request)


def _request_of(pod: JobPod, event: str) -> Request:
    code = pod.exit_code if event == "PodFailed" else 0
    return Request(event, "", pod.task, pod.name, pod.uid, pod.partition, code, pod.job_uid, pod.version)
