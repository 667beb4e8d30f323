"""CronJob: creates Jobs on a schedule. Off by default, as KEP-140 requires of controllers that act on time alone.

Upstream: pkg/controller/cronjob (v1.36). Times are UTC or the CronJob's own time zone.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seatrial.controllers.cronjob.schedule import Schedule
from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.pod_control import controller_of, controller_reference
from seatrial.model.documents import Document
from seatrial.model.errors import AlreadyExists
from seatrial.model.kinds import Kind
from seatrial.model.times import MINUTE, SECOND, parse_time, to_time
from seatrial.store import Change, Stored
from seatrial.store.options import DeleteOptions

SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"


NEVER = "time difference between two schedules is less than 1 second"
"""Upstream's text for a schedule without a time, such as that of 31 February."""
ALREADY_ACTIVE = "Not starting job because prior execution is running and concurrency policy is Forbid"


class CronJob(QueueController):
    """Creates Jobs at their scheduled times."""

    name: ClassVar[str] = "cronjob"
    component: ClassVar[str] = "cronjob-controller"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("batch/v1", "CronJob")
        self._jobs = context.kind("batch/v1", "Job")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self.enqueue_changed, self._jobs: self._job_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0])
        if stored is None or "deletionTimestamp" in stored.document()["metadata"]:
            return
        cron = stored.document()
        jobs = self._owned(cron)
        self._forget_finished(cron, jobs)
        due, following = self._times(cron)
        started: Document | None = None
        if due is not None and not cron["spec"].get("suspend"):
            started = self._start_job(cron, due, [job for job in jobs if not _is_over(job)])
        if following is not None:
            self.enqueue_after(key, following - self.clock.now())
        self._write_status(stored, cron, due if started else None)

    def _times(self, cron: Document) -> tuple[int | None, int | None]:
        """The latest scheduled time that has passed and was not served, and the next one."""
        now, spec = self.clock.now(), cron["spec"]
        try:
            schedule = Schedule(spec["schedule"])
            zone = ZoneInfo(spec["timeZone"]) if spec.get("timeZone") else UTC
        except (ValueError, ZoneInfoNotFoundError):
            return None, None
        last = cron.get("status", {}).get("lastScheduleTime", cron["metadata"]["creationTimestamp"])
        earliest = parse_time(last)
        if spec.get("startingDeadlineSeconds") is not None:
            earliest = max(earliest, now - spec["startingDeadlineSeconds"] * SECOND)
        moment = datetime.fromtimestamp(now // SECOND, zone)
        due = schedule.latest(datetime.fromtimestamp(earliest // SECOND, zone), moment)
        following = schedule.next_after(moment)
        if following is None and not spec.get("suspend"):
            text = f"invalid schedule: {spec['schedule']} : {NEVER}"
            self.record(self.kind, cron, "InvalidSchedule", text, "Warning")
        return _instant(due), _instant(following)

    def _start_job(self, cron: Document, due: int, active: list[Document]) -> Document | None:
        meta, spec = cron["metadata"], cron["spec"]
        policy = spec.get("concurrencyPolicy", "Allow")
        if policy == "Forbid" and active:
            self.record(self.kind, cron, "JobAlreadyActive", ALREADY_ACTIVE)
            return None
        if policy == "Replace":
            for job in active:
                self._delete(cron, job)
        template = spec["jobTemplate"]
        source = template.get("metadata", {})
        annotations = source.get("annotations", {}) | {SCHEDULED_AT: _local(due, spec.get("timeZone"))}
        document = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": f"{meta['name']}-{due // MINUTE}",
                "labels": source.get("labels", {}),
                "annotations": annotations,
                "ownerReferences": [controller_reference(self.kind, cron)],
            },
            "spec": template["spec"],
        }
        try:
            created = self.store.create(self._jobs, document, namespace=meta["namespace"], writer=self.name)
        except AlreadyExists:
            return None
        self.record(self.kind, cron, "SuccessfulCreate", f"Created job {created.name}")
        return created.document()

    def _owned(self, cron: Document) -> list[Document]:
        meta = cron["metadata"]
        documents = (stored.document() for stored in self.store.list(self._jobs, meta["namespace"]))
        return [job for job in documents if (controller_of(job) or {}).get("uid") == meta["uid"]]

    def _forget_finished(self, cron: Document, jobs: list[Document]) -> None:
        spec = cron["spec"]
        for condition, limit in (
            ("Complete", spec.get("successfulJobsHistoryLimit", 3)),
            ("Failed", spec.get("failedJobsHistoryLimit", 1)),
        ):
            over = sorted(
                (job for job in jobs if _is_over(job, condition)),
                key=lambda job: (job.get("status", {}).get("startTime", ""), job["metadata"]["name"]),
            )
            for job in over[: max(0, len(over) - limit)]:
                self._delete(cron, job)

    def _delete(self, cron: Document, job: Document) -> None:
        meta = job["metadata"]
        self.store.delete(
            self._jobs,
            meta["name"],
            namespace=meta["namespace"],
            writer=self.name,
            options=DeleteOptions(propagation_policy="Background"),
        )
        self.record(self.kind, cron, "SuccessfulDelete", f"Deleted job {meta['name']}")

    def _write_status(self, stored: Stored, cron: Document, scheduled: int | None) -> None:
        jobs = self._owned(cron)
        self._tell_of_ended(cron, jobs)
        active = [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": job["metadata"]["name"],
                "namespace": job["metadata"]["namespace"],
                "resourceVersion": job["metadata"]["resourceVersion"],
                "uid": job["metadata"]["uid"],
            }
            for job in jobs
            if not _is_over(job)
        ]
        done = [job["status"]["completionTime"] for job in jobs if "completionTime" in job.get("status", {})]

        def change(document: Document) -> None:
            status = document.setdefault("status", {})
            known = {item["uid"]: item for item in status.pop("active", [])}
            if active:
                status["active"] = [known.get(item["uid"], item) for item in active]
            if scheduled is not None:
                status["lastScheduleTime"] = to_time(scheduled)
            if done:
                status["lastSuccessfulTime"] = max([*done, status.get("lastSuccessfulTime", "")])

        self.store.modify(
            self.kind, stored.name, change, namespace=stored.namespace, subresource="status", writer=self.name
        )

    def _tell_of_ended(self, cron: Document, jobs: list[Document]) -> None:
        """Write events about jobs that were active and are not any more."""
        known = {job["metadata"]["uid"]: job for job in jobs}
        for item in cron.get("status", {}).get("active", []):
            job = known.get(item["uid"])
            if job is None:
                self.record(self.kind, cron, "MissingJob", f"Active job went missing: {item['name']}")
            elif _is_over(job):
                condition = "Complete" if _is_over(job, "Complete") else "Failed"
                text = f"Saw completed job: {item['name']}, condition: {condition}"
                self.record(self.kind, cron, "SawCompletedJob", text)

    def _job_changed(self, change: Change) -> None:
        owner = controller_of(change.stored.document())
        if owner is not None and owner["kind"] == self.kind.kind:
            self.enqueue((change.stored.namespace, owner["name"]))


def _local(instant: int, zone: str | None) -> str:
    """RFC 3339 in the CronJob's time zone."""
    if not zone:
        return to_time(instant)
    return datetime.fromtimestamp(instant // SECOND, ZoneInfo(zone)).isoformat()


def _instant(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp()) * SECOND


def _is_over(job: Document, *conditions: str) -> bool:
    wanted = conditions or ("Complete", "Failed")
    present = job.get("status", {}).get("conditions", [])
    return any(condition["type"] in wanted and condition["status"] == "True" for condition in present)
