"""JobFlow and JobTemplate: Volcano Jobs that are created one after the other, each from a template.

Upstream: pkg/controllers/jobflow and pkg/controllers/jobtemplate. Jobs are listed in the order of their names; upstream
lists them in the order of a Go map. The patch and the probes of a flow have no effect there either.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from seatrial.controllers.framework import (
    FIRST_RETRY,
    Context,
    Key,
    Listener,
    QueueController,
    controller_of,
    controller_reference,
)
from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.errors import AlreadyExists, StatusError
from seatrial.model.kinds import Kind
from seatrial.model.times import parse_time, to_time
from seatrial.store import Change
from seatrial.volcano.apis import JOB, JOB_FLOW, JOB_TEMPLATE

MAX_REQUEUES: Final = 15
ACTION: Final = "SyncJobFlow"
BY_TEMPLATE: Final = "volcano.sh/createdByJobTemplate"
BY_FLOW: Final = "volcano.sh/createdByJobFlow"
_LISTED: Final = {
    "Pending": "pendingJobs",
    "Running": "runningJobs",
    "Failed": "failedJobs",
    "Completed": "completedJobs",
    "Terminated": "terminatedJobs",
}
_PASSING: Final = ("Completing", "Terminating")
"""Phases of Jobs that no list of the status has."""


class VolcanoJobTemplate(QueueController):
    """Lists the Jobs of each JobTemplate in its status."""

    name: ClassVar[str] = "volcano-jobtemplate"
    component: ClassVar[str] = "vc-controller-manager"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind, self._jobs = context.kind(*JOB_TEMPLATE), context.kind(*JOB)

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._template_changed, self._jobs: self._job_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def sync(self, key: Key) -> None:
        namespace, name = key
        if self.store.find(self.kind, name, namespace) is None:
            return
        jobs = labelled_jobs(self, self._jobs, namespace, BY_TEMPLATE, name)
        if not jobs:
            return

        def change(document: Document) -> None:
            document["status"] = {"jobDependsOnList": [job["metadata"]["name"] for job in jobs]}

        self.store.modify(self.kind, name, change, namespace=namespace, subresource="status", writer=self.name)

    def _template_changed(self, change: Change) -> None:
        if change.type == "ADDED":
            self.enqueue_changed(change)

    def _job_changed(self, change: Change) -> None:
        if change.type != "ADDED" or not self.store.writes(self.kind.group_kind):
            return
        labels = change.stored.document()["metadata"].get("labels") or {}
        parts = labels.get(BY_TEMPLATE, "").split(".")
        if len(parts) == 2:
            self.enqueue((parts[0], parts[1]))


class VolcanoJobFlow(QueueController):
    """Creates the Jobs of a JobFlow once those that they depend on have completed."""

    name: ClassVar[str] = "volcano-jobflow"
    component: ClassVar[str] = "vc-controller-manager"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind, self._jobs = context.kind(*JOB_FLOW), context.kind(*JOB)
        self._templates = context.kind(*JOB_TEMPLATE)

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._flow_changed, self._jobs: self._job_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None:
            return
        flow = stored.document()
        phase = _phase_of(flow)
        if phase in ("Failed", "Terminating"):
            return
        if phase == "Succeed" and flow["spec"].get("jobRetainPolicy") == "delete":
            for job in labelled_jobs(self, self._jobs, key[0], BY_FLOW, key[1]):
                self.store.delete(self._jobs, job["metadata"]["name"], namespace=key[0], writer=self.name)
            return
        self._deploy(flow)
        status = self._status(flow)
        if next_phase := _next_phase(phase, status, len(flow["spec"].get("flows") or ())):
            status["state"] = {"phase": next_phase}

        def change(document: Document) -> None:
            document["status"] = status

        self.store.modify(self.kind, key[1], change, namespace=key[0], subresource="status", writer=self.name)

    def _deploy(self, flow: Document) -> None:
        namespace, name = flow["metadata"]["namespace"], flow["metadata"]["name"]
        for step in flow["spec"].get("flows") or ():
            if self.store.find(self._jobs, f"{name}-{step['name']}", namespace) is not None:
                continue
            targets = (step.get("dependsOn") or {}).get("targets") or ()
            if all(self._has_completed(namespace, f"{name}-{target}") for target in targets):
                self._create(flow, step["name"])

    def _has_completed(self, namespace: str, name: str) -> bool:
        job = self.store.find(self._jobs, name, namespace)
        return job is not None and _phase_of(job.document()) == "Completed"

    def _create(self, flow: Document, template_name: str) -> None:
        namespace, name = flow["metadata"]["namespace"], flow["metadata"]["name"]
        template = self.store.find(self._templates, template_name, namespace)
        if template is None:
            raise StatusError(f'jobtemplate.flow.volcano.sh "{template_name}" not found')
        origin = {BY_TEMPLATE: f"{namespace}.{template_name}", BY_FLOW: f"{namespace}.{name}"}
        job: Document = {
            "apiVersion": JOB[0],
            "kind": JOB[1],
            "metadata": {
                "name": f"{name}-{template_name}",
                "labels": origin,
                "annotations": dict(origin),
                "ownerReferences": [controller_reference(self.kind, flow)],
            },
            "spec": template.document().get("spec") or {},
        }
        try:
            self.store.create(self._jobs, job, namespace=namespace, writer=self.name)
        except AlreadyExists:
            return
        self.record(self.kind, flow, "Created", f"create a job named {job['metadata']['name']}!")

    def _status(self, flow: Document) -> Document:
        """What the Jobs of a flow have come to; empty lists are left out, as in Go."""
        before: Document = flow.get("status") or {}
        jobs = labelled_jobs(self, self._jobs, flow["metadata"]["namespace"], BY_FLOW, flow["metadata"]["name"])
        lists: dict[str, list[str]] = {}
        for job in jobs:
            phase = _phase_of(job)
            if phase not in _PASSING:
                lists.setdefault(_LISTED.get(phase, "unKnowJobs"), []).append(job["metadata"]["name"])
        statuses = {status["name"]: status for status in before.get("jobStatusList") or ()}
        for job in jobs:
            name = job["metadata"]["name"]
            statuses[name] = self._job_status(job, (statuses.get(name) or {}).get("runningHistories") or [])
        status: Document = {**lists, "state": before.get("state") or {}}
        if statuses:
            status["jobStatusList"] = list(statuses.values())
        if jobs:
            status["conditions"] = {job["metadata"]["name"]: _condition(job) for job in jobs}
        return status

    def _job_status(self, job: Document, histories: list[Document]) -> Document:
        created, phase, now = job["metadata"]["creationTimestamp"], _phase_of(job), to_time(self.clock.now())
        if histories and histories[-1].get("state", "") != phase:
            histories = [
                *histories[:-1],
                {**histories[-1], "endTimestamp": now},
                _given(startTimestamp=now, state=phase),
            ]
        elif not histories and phase:
            histories = [{"startTimestamp": now, "state": phase}]
        lasted = (job.get("status") or {}).get("runningDuration")
        return _given(
            name=job["metadata"]["name"],
            state=phase,
            startTimestamp=created,
            endTimestamp=to_time(parse_time(created) + parse_duration(lasted)) if lasted is not None else "",
            restartCount=(job.get("status") or {}).get("retryCount", 0),
            runningHistories=histories,
        )

    def _refused(self, key: Key, refusal: StatusError) -> None:
        """Try again later, and stop after as many tries as upstream."""
        tries = self._refusals.get(key, 0)
        if tries < MAX_REQUEUES:
            self._refusals[key] = tries + 1
            self.enqueue_after(key, FIRST_RETRY << tries)
            return
        del self._refusals[key]
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is not None:
            why = f"sync jobflow {key[1]} failed for {refusal}, event is OutOfSync, action is {ACTION}"
            self.record(self.kind, stored.document(), ACTION, f"{ACTION} JobFlow failed for {why}", "Warning")

    def _flow_changed(self, change: Change) -> None:
        if change.type == "ADDED":
            self.enqueue_changed(change)
        elif change.type == "MODIFIED":
            flow = change.stored.document()
            if _phase_of(flow) == "Succeed" and flow["spec"].get("jobRetainPolicy") == "delete":
                self.enqueue_changed(change)

    def _job_changed(self, change: Change) -> None:
        if change.type != "MODIFIED" or not self.store.writes(self.kind.group_kind):
            return
        owner = controller_of(change.stored.document())
        if owner is not None and (owner["apiVersion"], owner["kind"]) == JOB_FLOW:
            self.enqueue((change.stored.namespace, owner["name"]))


def labelled_jobs(controller: QueueController, kind: Kind, namespace: str, label: str, name: str) -> list[Document]:
    """The Jobs of a namespace that carry the name of what they were created by."""
    documents = (stored.document() for stored in controller.store.list(kind, namespace))
    wanted = f"{namespace}.{name}"
    return [job for job in documents if (job["metadata"].get("labels") or {}).get(label) == wanted]


def _next_phase(phase: str, status: Document, flows: int) -> str:
    """The phase that follows from the Jobs; empty where it stays."""
    has_failed = bool(status.get("failedJobs") or status.get("terminatedJobs"))
    if phase in ("", "Pending"):
        if (status.get("runningJobs") or status.get("completedJobs")) and not status.get("failedJobs"):
            return "Running"
        return "Failed" if has_failed else "Pending"
    if phase == "Running":
        if len(status.get("completedJobs") or ()) == flows:
            return "Succeed"
        return "Failed" if has_failed else ""
    return ""


def _phase_of(document: Document) -> str:
    phase: str = ((document.get("status") or {}).get("state") or {}).get("phase", "")
    return phase


def _condition(job: Document) -> Document:
    status = job.get("status") or {}
    return _given(
        phase=_phase_of(job),
        createTime=job["metadata"]["creationTimestamp"],
        runningDuration=status.get("runningDuration"),
        taskStatusCount=status.get("taskStatusCount"),
    )


def _given(**fields: Any) -> Document:
    """The fields that are not zero."""
    return {name: value for name, value in fields.items() if value}
