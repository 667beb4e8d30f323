"""Volcano's CronJob: creates Volcano Jobs on a schedule.

Upstream: pkg/controllers/cronjob. A schedule without a time and an unknown time zone are tried again there for ever;
here the CronJob waits for its next change.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import ClassVar, Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seatrial.controllers.cronjob import Schedule
from seatrial.controllers.framework import (
    Context,
    EventType,
    Key,
    Listener,
    QueueController,
    controller_of,
    controller_reference,
)
from seatrial.model.documents import Document
from seatrial.model.errors import AlreadyExists, StatusError
from seatrial.model.kinds import Kind
from seatrial.model.times import MILLISECOND, MINUTE, SECOND, parse_time, to_time
from seatrial.store import Change
from seatrial.volcano.apis import CRON_JOB, JOB

SCHEDULED_AT: Final = "volcano.sh/cronjob-scheduled-timestamp"
NEXT_SCHEDULE_DELTA: Final = 100 * MILLISECOND
MANY: Final = 100
NEVER: Final = "time difference between two schedules is less than 1 second"
FORBIDDEN: Final = "Skipping job creation because another job is already running"
REPLACED: Final = "Replacing active job for CronJob"
TOO_MANY: Final = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
Following = Callable[[int], int | None]
"""The first scheduled time after an instant; None if there is none."""


class Missed(Enum):
    NONE = 0
    FEW = 1
    MANY = 2


class Recent(NamedTuple):
    """The latest scheduled time that has passed, and how many passed since the one before."""

    earliest: int
    due: int | None
    missed: Missed


class VolcanoCronJob(QueueController):
    """Creates Jobs at their scheduled times."""

    name: ClassVar[str] = "volcano-cronjob"
    component: ClassVar[str] = "vc-controller-manager"
    reads_pods: ClassVar[bool] = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind, self._jobs = context.kind(*CRON_JOB), context.kind(*JOB)

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._cron_changed, self._jobs: self._job_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None or stored.is_deleting:
            return
        cron = stored.document()
        status: Document = cron.setdefault("status", {})
        before = {**status, "active": list(status.get("active") or ())}
        jobs = self._owned(cron)
        self._count_finished(cron, jobs)
        self._check_active(cron, jobs)
        delay = self._start_due(cron)
        if {**status, "active": status.get("active") or []} != before:
            self._write(key, status)
        if delay is not None:
            self.enqueue_after(key, delay)

    def _write(self, key: Key, status: Document) -> None:
        if not status.get("active"):
            status.pop("active", None)

        def change(document: Document) -> None:
            document["status"] = status

        self.store.modify(self.kind, key[1], change, namespace=key[0], subresource="status", writer=self.name)

    def _count_finished(self, cron: Document, jobs: list[Document]) -> None:
        """Take finished Jobs off the list of active ones, and delete those beyond the limits of the history."""
        spec, status = cron["spec"], cron["status"]
        ended: dict[str, list[Document]] = {"Completed": [], "Failed": [], "Terminated": []}
        for job in jobs:
            state = (job.get("status") or {}).get("state") or {}
            if state.get("phase") not in ended:
                continue
            if self._is_active(cron, job["metadata"]["uid"]):
                self._deactivate(cron, job["metadata"]["uid"])
                self._tell(cron, "SawCompletedJob", f"Saw completed job: {job['metadata']['name']} in active, remove")
            ended[state["phase"]].append(job)
            moment = state.get("lastTransitionTime")
            if state["phase"] == "Completed" and moment:
                status["lastSuccessfulTime"] = max(moment, status.get("lastSuccessfulTime", ""))
        for phase, limit in (("Completed", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
            if spec.get(limit) is None:
                continue
            oldest = sorted(
                ended[phase], key=lambda job: (job["metadata"]["creationTimestamp"], job["metadata"]["name"])
            )
            for job in oldest[: max(0, len(oldest) - spec[limit])]:
                self._delete(cron, job)

    def _check_active(self, cron: Document, jobs: list[Document]) -> None:
        """Tell of Jobs that are not on the list of active ones, and take those that are gone off it."""
        owned = {job["metadata"]["uid"] for job in jobs}
        for job in jobs:
            meta = job["metadata"]
            if not self._is_active(cron, meta["uid"]) and not _is_finished(job):
                text = (
                    f"Detected orphaned job forgotten or not managed by controller: {meta['name']} (UID: {meta['uid']})"
                )
                self._tell(cron, "OrphanedJob", text, "Warning")
        for active in list(cron["status"].get("active") or ()):
            name, uid = active["name"], active["uid"]
            if uid in owned:
                continue
            found = self.store.find(self._jobs, name, active["namespace"])
            if found is None:
                text = f'Active job "{name}" no longer exists (UID: {uid})'
            elif found.uid != uid:
                why = f"(expected: {uid}, actual: {found.uid})"
                text = f'Active job reference "{name}" points to a different UID {why}'
            else:
                continue
            self._tell(cron, "StaleReference", text, "Warning")
            self._deactivate(cron, uid)

    def _start_due(self, cron: Document) -> int | None:
        """Create the Job that is due; the microseconds until the next one is."""
        meta, spec, now = cron["metadata"], cron["spec"], self.clock.now()
        if spec.get("suspend"):
            return None
        following = self._following(cron)
        if following is None:
            return None
        try:
            recent = _most_recent(cron, now, following, with_deadline=True)
        except ValueError as error:
            self._tell(cron, "InvalidSchedule", f"Error getting schedule time: {error}", "Warning")
            return None
        due = recent.due
        if due is not None and recent.missed is Missed.MANY:
            self._tell(cron, "TooManyMissedTimes", TOO_MANY, "Warning")
        status = cron["status"]
        if due is not None and status.get("lastScheduleTime") != to_time(due):
            name = f"{meta['name']}-{due // MINUTE}"
            is_listed = any(active["name"] == name for active in status.get("active") or ())
            if not is_listed and self._may_start(cron):
                job = self._create(cron, name, due)
                if job is not None and not self._is_active(cron, job["metadata"]["uid"]):
                    status["active"] = [*(status.get("active") or ()), _reference(job)]
                    status["lastScheduleTime"] = to_time(due)
        return _next_delay(cron, now, following)

    def _following(self, cron: Document) -> Following | None:
        """None where the schedule or its time zone is not valid."""
        spec = cron["spec"]
        try:
            zone = ZoneInfo(spec["timeZone"]) if spec.get("timeZone") else UTC
        except (ValueError, ZoneInfoNotFoundError):
            text = f'Invalid time zone "{spec["timeZone"]}": unknown time zone {spec["timeZone"]}'
            self._tell(cron, "InvalidTimeZone", text, "Warning")
            return None
        try:
            schedule = Schedule(spec["schedule"])
        except ValueError:
            return None

        def following(instant: int) -> int | None:
            found = schedule.next_after(datetime.fromtimestamp(instant // SECOND, zone))
            return None if found is None else int(found.timestamp()) * SECOND

        return following

    def _may_start(self, cron: Document) -> bool:
        """Whether the concurrency policy lets another Job start; Replace deletes those that run."""
        active = list(cron["status"].get("active") or ())
        policy = cron["spec"].get("concurrencyPolicy")
        if not active or policy not in ("Forbid", "Replace"):
            return True
        self._tell(cron, f"{policy}Concurrent", FORBIDDEN if policy == "Forbid" else REPLACED, "Warning")
        if policy == "Forbid":
            return False
        for each in active:
            self._delete(cron, self.store.get(self._jobs, each["name"], each["namespace"]).document())
        return True

    def _create(self, cron: Document, name: str, due: int) -> Document | None:
        """The Job, also where it exists already; None where it is not the CronJob's or has ended."""
        meta, template = cron["metadata"], cron["spec"]["jobTemplate"]
        source = template.get("metadata") or {}
        annotations = {**(source.get("annotations") or {}), SCHEDULED_AT: _local(due, cron["spec"].get("timeZone"))}
        metadata: Document = {"name": name, "annotations": annotations}
        if source.get("labels"):
            metadata["labels"] = source["labels"]
        metadata["ownerReferences"] = [controller_reference(self.kind, cron)]
        job = {"apiVersion": JOB[0], "kind": JOB[1], "metadata": metadata, "spec": template.get("spec") or {}}
        try:
            created = self.store.create(self._jobs, job, namespace=meta["namespace"], writer=self.name)
        except AlreadyExists:
            return self._existing(cron, name)
        except StatusError as error:
            self._tell(cron, "FailedCreate", f"Failed to create job: {error}", "Warning")
            raise
        text = f"Created job {name} for CronJob {meta['namespace']}/{meta['name']}"
        self._tell(cron, "SuccessfulCreate", text)
        return created.document()

    def _existing(self, cron: Document, name: str) -> Document | None:
        job = self.store.get(self._jobs, name, cron["metadata"]["namespace"]).document()
        owner = controller_of(job)
        if owner is None or owner["uid"] != cron["metadata"]["uid"]:
            current = "none" if owner is None else owner["name"]
            text = f"Job {name} exists but is not owned by this CronJob (current owner: {current})"
            self._tell(cron, "ForeignJob", text, "Warning")
            return None
        return None if _is_finished(job) else job

    def _delete(self, cron: Document, job: Document) -> None:
        meta = job["metadata"]
        self.store.delete(self._jobs, meta["name"], namespace=meta["namespace"], writer=self.name)
        self._deactivate(cron, meta["uid"])
        self._tell(cron, "SuccessfulDelete", f'Deleted job "{meta["name"]}"')

    def _owned(self, cron: Document) -> list[Document]:
        meta = cron["metadata"]
        documents = (stored.document() for stored in self.store.list(self._jobs, meta["namespace"]))
        return [job for job in documents if (controller_of(job) or {}).get("uid") == meta["uid"]]

    def _is_active(self, cron: Document, uid: str) -> bool:
        return any(active["uid"] == uid for active in cron["status"].get("active") or ())

    def _deactivate(self, cron: Document, uid: str) -> None:
        active = cron["status"].get("active") or ()
        cron["status"]["active"] = [each for each in active if each["uid"] != uid]

    def _tell(self, cron: Document, reason: str, message: str, event_type: EventType = "Normal") -> None:
        self.record(self.kind, cron, reason, message, event_type)

    def _cron_changed(self, change: Change) -> None:
        """A changed schedule is looked at when it is next due, any other change at once."""
        if change.type == "MODIFIED" and change.previous is not None and change.subresource != "status":
            cron, old = change.stored.document(), change.previous.document()
            if any(cron["spec"].get(name) != old["spec"].get(name) for name in ("schedule", "timeZone")):
                following = self._following(cron)
                delay = None if following is None else _next_delay(cron, self.clock.now(), following)
                if delay is not None:
                    self.enqueue_after((change.stored.namespace, change.stored.name), delay)
                return
        self.enqueue_changed(change)

    def _job_changed(self, change: Change) -> None:
        if not self.store.writes(self.kind.group_kind):
            return
        owner = controller_of(change.stored.document())
        if owner is not None and (owner["apiVersion"], owner["kind"]) == CRON_JOB:
            self.enqueue((change.stored.namespace, owner["name"]))


def _most_recent(cron: Document, now: int, following: Following, *, with_deadline: bool) -> Recent:
    """Upstream's mostRecentScheduleTime; ValueError for a schedule that has no time."""
    last = cron["status"].get("lastScheduleTime") or cron["metadata"]["creationTimestamp"]
    earliest, deadline = parse_time(last), cron["spec"].get("startingDeadlineSeconds")
    if with_deadline and deadline is not None:
        earliest = max(earliest, now - deadline * SECOND)
    first = following(earliest)
    if first is None:
        raise ValueError(NEVER)
    if now < first:
        return Recent(earliest, None, Missed.NONE)
    second = following(first)
    if second is None or now < second:
        return Recent(earliest, first, Missed.NONE)
    between = (second - first) // SECOND
    number = (now - first) // SECOND // between + 1
    latest, found = None, following(first + (number - 2) * between * SECOND)
    while found is not None and found <= now:
        latest, found = found, following(found)
    return Recent(earliest, latest, Missed.MANY if number > MANY else Missed.FEW)


def _next_delay(cron: Document, now: int, following: Following) -> int | None:
    """Upstream's nextScheduleTimeDuration."""
    cron.setdefault("status", {})
    try:
        recent = _most_recent(cron, now, following, with_deadline=False)
    except ValueError:
        return None
    base = recent.due
    if base is None:
        base = recent.earliest if recent.missed is Missed.NONE else now
    found = following(base)
    return None if found is None else found + NEXT_SCHEDULE_DELTA - now


def _reference(job: Document) -> Document:
    meta = job["metadata"]
    named = {name: meta[name] for name in ("name", "namespace", "uid", "resourceVersion")}
    return {"apiVersion": JOB[0], "kind": JOB[1], **named}


def _local(instant: int, zone: str | None) -> str:
    """RFC 3339 in the CronJob's time zone."""
    return datetime.fromtimestamp(instant // SECOND, ZoneInfo(zone)).isoformat() if zone else to_time(instant)


def _age(job: Document) -> tuple[str, str]:
    return job["metadata"]["creationTimestamp"], job["metadata"]["name"]


def _is_finished(job: Document) -> bool:
    state = (job.get("status") or {}).get("state") or {}
    return state.get("phase") in ("Completed", "Failed", "Terminated")
