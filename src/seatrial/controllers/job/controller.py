"""The Job controller: creates pods until enough have succeeded, counts them, and sets the final condition.

Pods carry a finalizer until they are counted, as upstream's do; since nothing can come between a count and the removal
of the finalizer here, `uncountedTerminatedPods` stays empty.
"""

from typing import ClassVar

from seatrial.controllers.framework.conditions import find_condition
from seatrial.controllers.framework.controller import Context, Key
from seatrial.controllers.framework.pod_control import PodOwner, least_wanted, pod_from_template, set_status
from seatrial.controllers.framework.pod_index import OwnedPods
from seatrial.controllers.framework.pod_row import COMPLETION_INDEX, FAILURE_COUNT, IGNORED_FAILURE_COUNT, PodRow
from seatrial.controllers.job.indexes import (
    failures_of,
    index_of,
    write_indexes,
)
from seatrial.controllers.job.pod_counts import (
    REACHED,
    TRACKING,
    Work,
    deadline_of,
    finished_at,
    is_finished,
    job_condition,
)
from seatrial.model.documents import Document
from seatrial.model.times import MINUTE, SECOND, to_time
from seatrial.store import Stored
from seatrial.store.registry import drop_finalizer, remove_finalizer

MOST_AT_ONCE = 500
FIRST_BACKOFF = 10 * SECOND
LAST_BACKOFF = 10 * MINUTE
OURS = "kubernetes.io/job-controller"
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"


class Job(PodOwner):
    """Runs pods to completion."""

    name: ClassVar[str] = "job"
    component: ClassVar[str] = "job-controller"
    owner: ClassVar[tuple[str, str]] = ("batch/v1", "Job")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._failures: dict[Key, tuple[int, int]] = {}

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1], key[0]) if key[1] else None
        if stored is None:
            self._failures.pop(key, None)
            self._release_orphans(key[0])
            return
        job = stored.document()
        if job["spec"].get("managedBy", OURS) != OURS:
            return
        if is_finished(job):
            for row in self._rows(job):
                self._count_off(row)
            return
        self.claim(job)
        self._bring_forward(
            stored, Work(job, self.clock.now(), self._read_pod, self.context.pods.owned_by(job["metadata"]["uid"]))
        )

    def _bring_forward(self, stored: Stored, work: Work) -> None:
        status: Document = dict(work.status)
        status.setdefault("uncountedTerminatedPods", {})
        if "startTime" not in status and not work.is_suspended:
            status["startTime"] = to_time(work.now)
        self._note_failures(work)
        verdict = work.verdict()
        if verdict is not None:
            self._delete(work.active)
        elif "deletionTimestamp" not in work.job["metadata"]:
            self._manage(work)
        self._watch_deadline(work, status)
        if verdict is None and work.is_complete(self._owned(work).active):
            verdict = job_condition("SuccessCriteriaMet", "CompletionsReached", REACHED, work.now)
        elif verdict is None:
            self._note_suspension(work, status)
        self._count(work, status, verdict)
        set_status(self.context, stored, status, self.name)

    # Creating and deleting pods.

    def _manage(self, work: Work) -> None:
        if work.is_suspended:
            self._delete(work.active, counted=True)
            return
        at_least = max(0, work.active_count - work.wanted_active())
        surplus = self._surplus(work, work.active, at_least) if at_least or work.is_indexed else []
        if surplus:
            self._delete(surplus[:MOST_AT_ONCE], counted=True)
            return
        waiting = work.terminating if work.replaces_failed_only else 0
        missing = min(work.wanted_active() - waiting - work.active_count, MOST_AT_ONCE)
        if missing <= 0:
            return
        key = work.job["metadata"]["namespace"], work.job["metadata"]["name"]
        remaining = 0 if work.limit_per_index is not None else _remaining(self._failures.get(key), work.now)
        if remaining > 0:
            self.enqueue_after(key, remaining)
            return
        if work.is_indexed:
            self._create_indexed(work, key, missing)
        else:
            for _ in range(missing):
                self._create(work, pod_from_template(work.spec["template"], self.kind, work.job))

    def _surplus(self, work: Work, active: list[PodRow], at_least: int) -> list[PodRow]:
        removed: list[PodRow] = []
        if work.is_indexed:
            by_index: dict[int | None, list[PodRow]] = {}
            for row in active:
                index = index_of(row)
                by_index.setdefault(index if index is None or index < (work.completions or 0) else None, []).append(row)
            for index, rows in by_index.items():
                if index is None:
                    removed += rows
                elif len(rows) > 1:
                    removed += least_wanted(rows, [], work.now, len(rows) - 1)
        if len(removed) < at_least:
            left = [row for row in active if row not in removed]
            removed += least_wanted(left, [], work.now, at_least - len(removed))
        return removed

    def _create_indexed(self, work: Work, key: Key, count: int) -> None:
        taken = {index_of(row) for row in work.active} | work.succeeded_indexes | work.failed_indexes
        if work.replaces_failed_only:
            taken |= {index_of(row) for row in work.terminating_rows}
        pending = [index for index in range(work.completions or 0) if index not in taken][:count]
        before = {index_of(row): row for row in work.failed}
        shortest = 0
        for index in pending:
            failed = before.get(index) if work.limit_per_index is not None else None
            wait = self._wait_for_index(failed, work.now) if failed is not None else 0
            if wait > 0:
                shortest = min(shortest or wait, wait)
                continue
            self._create(work, self._indexed_pod(work, index, failed))
        if shortest:
            self.enqueue_after(key, shortest)

    def _wait_for_index(self, failed: PodRow, now: int) -> int:
        """Microseconds until the index of a failed pod may be tried again."""
        return _remaining((sum(failures_of(failed)) + 1, finished_at(self._read_pod(failed), now)), now)

    def _indexed_pod(self, work: Work, index: int, replaced: PodRow | None) -> Document:
        pod = pod_from_template(work.spec["template"], self.kind, work.job)
        name = work.job["metadata"]["name"]
        meta = pod["metadata"]
        meta["generateName"] = f"{name[: 58 - len(str(index)) - 2]}-{index}-"
        meta["labels"] = meta.get("labels", {}) | {COMPLETION_INDEX: str(index)}
        meta["annotations"] = meta.get("annotations", {}) | {COMPLETION_INDEX: str(index)}
        if work.limit_per_index is not None:
            counted, ignored = failures_of(replaced) if replaced else (0, 0)
            if replaced is not None:
                counts = work.judgements[replaced.uid].counts
                counted, ignored = counted + counts, ignored + (not counts)
            meta["annotations"][FAILURE_COUNT] = str(counted)
            if ignored:
                meta["annotations"][IGNORED_FAILURE_COUNT] = str(ignored)
        source = {"fieldRef": {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
        spec = dict(pod["spec"]) | {"hostname": f"{name}-{index}"}
        for part in ("initContainers", "containers"):
            if spec.get(part):
                spec[part] = [_with_variable(container, source) for container in spec[part]]
        pod["spec"] = spec
        return pod

    def _create(self, work: Work, pod: Document) -> None:
        finalizers = pod["metadata"].get("finalizers", [])
        pod["metadata"]["finalizers"] = finalizers if TRACKING in finalizers else [*finalizers, TRACKING]
        self.create_pod(pod, work.job["metadata"]["namespace"])

    def _delete(self, rows: list[PodRow], *, counted: bool = False) -> None:
        for row in rows:
            if counted:
                self._count_off(row)
            self.delete_pod(row)

    def _count_off(self, row: PodRow) -> None:
        """Remove the tracking finalizer: the pod is counted, or never will be."""
        if TRACKING not in row.finalizers:
            return
        stored = self.store.find(self.pods, row.name, row.namespace)
        if stored is not None:
            remove_finalizer(self.store, stored, TRACKING, self.name)

    # Status.

    def _count(self, work: Work, status: Document, verdict: Document | None) -> None:
        is_failing = verdict is not None and verdict["type"] == "FailureTarget"
        failures = self._countable_failures(work)
        counted = [*work.succeeded, *failures]
        known = {row.uid for row in counted}
        unfinished = [row for row in self._rows(work.job) if row.uid not in known] if verdict is not None else []
        lost = [row for row in unfinished if row.phase not in ("Succeeded", "Failed") and TRACKING in row.finalizers]
        for row in [*counted, *unfinished]:
            self._count_off(row)
        status["failed"] = work.failed_count(failures) + (len(lost) if is_failing else 0)
        status["succeeded"] = work.succeeded_count()
        if work.is_indexed:
            if work.succeeded or "completedIndexes" not in status:
                status["completedIndexes"] = write_indexes(work.succeeded_indexes)
            if work.limit_per_index is not None:
                status["failedIndexes"] = write_indexes(work.failed_indexes)
        owned = self._owned(work)
        status["active"] = owned.active
        status["ready"] = owned.ready
        status["terminating"] = owned.terminating
        for field in ("failed", "succeeded", "active", "completedIndexes"):
            if not status.get(field):
                status.pop(field, None)
        if verdict is not None:
            self._conclude(work, status, verdict, owned.terminating)

    def _countable_failures(self, work: Work) -> list[PodRow]:
        """Failed pods whose finalizer may go; the last one of an index waits for its replacement."""
        if work.limit_per_index is None:
            return work.failed
        settled = {index_of(row) for row in work.active} | work.succeeded_indexes | work.failed_indexes
        return [row for row in work.failed if index_of(row) in settled]

    def _conclude(self, work: Work, status: Document, verdict: Document, terminating: int) -> None:
        conditions = [*status.get("conditions", [])]
        if find_condition(status, verdict["type"]) is None:
            conditions.append(verdict)
        if terminating == 0:
            final = "Complete" if verdict["type"] == "SuccessCriteriaMet" else "Failed"
            conditions.append(job_condition(final, verdict["reason"], verdict["message"], work.now))
            if final == "Complete":
                status["completionTime"] = to_time(work.now)
                self.record(self.kind, work.job, "Completed", "Job completed")
            else:
                self.record(self.kind, work.job, verdict["reason"], verdict["message"], "Warning")
        status["conditions"] = conditions

    def _note_suspension(self, work: Work, status: Document) -> None:
        current = find_condition(status, "Suspended")
        if work.is_suspended:
            reason, message = "JobSuspended", "Job suspended"
        else:
            reason, message = "JobResumed", "Job resumed"
        wanted = "True" if work.is_suspended else "False"
        if current is None and not work.is_suspended:
            return
        if current is not None and current["status"] == wanted:
            return
        condition = job_condition("Suspended", reason, message, work.now, is_true=work.is_suspended)
        others = [c for c in status.get("conditions", []) if c["type"] != "Suspended"]
        status["conditions"] = [*others, condition]
        self.record(self.kind, work.job, reason.removeprefix("Job"), message)
        if work.is_suspended:
            status.pop("startTime", None)
        else:
            status["startTime"] = to_time(work.now)

    def _note_failures(self, work: Work) -> None:
        """Record consecutive failures and the time of the last one, from which the back-off follows."""
        meta = work.job["metadata"]
        key = meta["namespace"], meta["name"]
        count, last = self._failures.get(key, (0, 0))
        if work.succeeded:
            count = 0
        if work.failed:
            count, last = count + len(work.failed), work.now
        self._failures[key] = count, last

    def _watch_deadline(self, work: Work, status: Document) -> None:
        deadline = deadline_of(work.spec, status)
        if deadline is not None and deadline > work.now:
            meta = work.job["metadata"]
            self.enqueue_after((meta["namespace"], meta["name"]), deadline - work.now)

    # Reading.

    def _rows(self, job: Document) -> list[PodRow]:
        """The pods that still matter: not over, or not yet counted."""
        return list(self.context.pods.owned_by(job["metadata"]["uid"]).unsettled.values())

    def _owned(self, work: Work) -> OwnedPods:
        """The Job's pods as they are now, after what this sync has done to them."""
        return self.context.pods.owned_by(work.job["metadata"]["uid"])

    def _read_pod(self, row: PodRow) -> Document:
        return self.store.get(self.pods, row.name, row.namespace).document()

    # Orphans.

    def adopt(self, pod: Document, reference: Document) -> None:
        super().adopt(pod, reference)
        finalizers = pod["metadata"].setdefault("finalizers", [])
        if TRACKING not in finalizers:
            finalizers.append(TRACKING)

    def release(self, pod: Document, owner: str) -> None:
        super().release(pod, owner)
        drop_finalizer(pod, TRACKING)

    def _release_orphans(self, namespace: str) -> None:
        """Remove the finalizer of pods whose Job is gone, and of those that have none."""
        for row in self.context.pods.in_namespace(namespace):
            if TRACKING in row.finalizers and self._is_orphan(row):
                self._count_off(row)

    def _is_orphan(self, row: PodRow) -> bool:
        if row.owner is None:
            return not self.selectors.matching(row.namespace, row.labels)
        return self._is_ours(row.owner) and self.store.find(self.kind, row.owner.name, row.namespace) is None

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        super()._pod_changed(old, new)
        if new is not None and new.owner is None and TRACKING in new.finalizers and self._is_orphan(new):
            self.enqueue((new.namespace, ""))


def _with_variable(container: Document, source: Document) -> Document:
    variables = container.get("env", [])
    if any(variable["name"] == INDEX_VARIABLE for variable in variables):
        return container
    return container | {"env": [*variables, {"name": INDEX_VARIABLE, "valueFrom": source}]}


def _remaining(failures: tuple[int, int] | None, now: int) -> int:
    """Microseconds of back-off left; `failures` is their number and the time of the last one."""
    count, last = failures or (0, 0)
    if count == 0:
        return 0
    wait = min(FIRST_BACKOFF << min(count - 1, 20), LAST_BACKOFF)
    return max(0, last + wait - now)
