"""One reconciliation of a Job: its pods by state, and the counts and conditions that follow.

Pure: the Job's document, its pods and the time in; counts, conditions and the number of active pods out.
"""

from collections.abc import Callable
from functools import cached_property

from seatrial.controllers.framework.conditions import find_condition
from seatrial.controllers.framework.pod_index import NO_PODS, OwnedPods
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.controllers.job.indexes import failures_of, index_of, read_indexes
from seatrial.controllers.job.policies import Judgement, judge, success_rule
from seatrial.model.documents import Document
from seatrial.model.times import SECOND, parse_time, to_time

TRACKING = "batch.kubernetes.io/job-tracking"
BACKOFF_LIMIT = "Job has reached the specified backoff limit"
DEADLINE = "Job was active longer than specified deadline"
TOO_MANY_INDEXES = "Job has exceeded the specified maximal number of failed indexes"
REACHED = "Reached expected number of succeeded pods"


def job_condition(kind: str, reason: str, message: str, now: int, *, is_true: bool = True) -> Document:
    """A condition as Jobs have it."""
    return {
        "type": kind,
        "status": "True" if is_true else "False",
        "lastProbeTime": to_time(now),
        "lastTransitionTime": to_time(now),
        "reason": reason,
        "message": message,
    }


def is_finished(job: Document) -> bool:
    conditions = job.get("status", {}).get("conditions", [])
    return any(c["type"] in ("Complete", "Failed") and c["status"] == "True" for c in conditions)


def finished_at(pod: Document, now: int) -> int:
    """When the last container of a pod ended, as far as the pod says."""
    statuses = pod.get("status", {}).get("containerStatuses", [])
    times = [status.get("state", {}).get("terminated", {}).get("finishedAt") for status in statuses]
    known = [parse_time(time) for time in times if time]
    if known:
        return max(known)
    meta = pod["metadata"]
    return min(now, parse_time(meta.get("deletionTimestamp") or meta["creationTimestamp"]))


def deadline_of(spec: Document, status: Document) -> int | None:
    """When a Job will have been active too long."""
    seconds, started = spec.get("activeDeadlineSeconds"), status.get("startTime")
    if seconds is None or started is None or spec.get("suspend"):
        return None
    return parse_time(started) + int(seconds) * SECOND


class Work:
    """A Job and its pods at one moment. A sync looks at the pods to be counted; the others are numbers."""

    def __init__(
        self, job: Document, now: int, read_pod: Callable[[PodRow], Document], owned: OwnedPods = NO_PODS
    ) -> None:
        self.job = job
        self.spec: Document = job["spec"]
        self.status: Document = job.get("status", {})
        self.is_indexed: bool = self.spec.get("completionMode") == "Indexed"
        self.completions: int | None = self.spec.get("completions")
        self.limit_per_index: int | None = self.spec.get("backoffLimitPerIndex")
        self.replaces_failed_only: bool = (
            self.spec.get("podReplacementPolicy") == "Failed" or self.spec.get("podFailurePolicy") is not None
        )
        self._owned = owned
        self.active_count, self.terminating = owned.active, owned.terminating
        self._restarts = owned.restarts
        self.now = now
        self.succeeded: list[PodRow] = []
        self.failed: list[PodRow] = []
        self.judgements: dict[str, Judgement] = {}
        policy = self.spec.get("podFailurePolicy")
        for row in owned.inactive():
            if TRACKING not in row.finalizers or not self._has_valid_index(row):
                continue
            if row.phase == "Succeeded":
                self.succeeded.append(row)
            elif self.is_failed(row):
                self.failed.append(row)
                self.judgements[row.uid] = judge(policy, read_pod(row)) if policy else Judgement()

    @property
    def is_suspended(self) -> bool:
        return bool(self.spec.get("suspend"))

    @cached_property
    def active(self) -> list[PodRow]:
        return [row for row in self._owned.unsettled.values() if row.is_active]

    @cached_property
    def terminating_rows(self) -> list[PodRow]:
        return [row for row in self._owned.inactive() if row.is_terminating]

    def is_failed(self, row: PodRow) -> bool:
        """Failed, or deleted before it could succeed (unless only failed pods are replaced)."""
        if row.phase == "Failed":
            return True
        return not self.replaces_failed_only and row.is_deleting and row.phase != "Succeeded"

    @cached_property
    def succeeded_indexes(self) -> frozenset[int]:
        known = read_indexes(self.status.get("completedIndexes", ""), self.completions or 0)
        return frozenset(known).union(index for row in self.succeeded if (index := index_of(row)) is not None)

    @cached_property
    def failed_indexes(self) -> frozenset[int]:
        known = read_indexes(self.status.get("failedIndexes", ""), self.completions or 0)
        limit = self.limit_per_index
        for row in self.failed:
            judgement, index = self.judgements[row.uid], index_of(row)
            is_over = limit is not None and judgement.counts and failures_of(row)[0] >= limit
            if index is not None and (judgement.fails_index or is_over):
                known.add(index)
        return frozenset(known)

    def succeeded_count(self) -> int:
        if self.is_indexed:
            return len(self.succeeded_indexes)
        return int(self.status.get("succeeded", 0)) + len(self.succeeded)

    def failed_count(self, rows: list[PodRow] | None = None) -> int:
        """Failures so far: those counted before, and these (or all new ones)."""
        counted = sum(self.judgements[row.uid].counts for row in (self.failed if rows is None else rows))
        return int(self.status.get("failed", 0)) + counted

    def verdict(self) -> Document | None:
        """The condition that ends the Job before its completions are reached, if one is met."""
        met = find_condition(self.status, "SuccessCriteriaMet") or find_condition(self.status, "FailureTarget")
        if met is not None and met["status"] == "True":
            return met
        failure = self._failure()
        if failure is not None:
            return job_condition("FailureTarget", *failure, self.now)
        if self.is_indexed:
            message = success_rule(self.spec.get("successPolicy"), self.completions or 0, self.succeeded_indexes)
            if message is not None:
                return job_condition("SuccessCriteriaMet", "SuccessPolicy", message, self.now)
        return None

    def is_complete(self, active: int) -> bool:
        if active:
            return False
        wanted = self.completions
        return self.succeeded_count() > 0 if wanted is None else self.succeeded_count() >= wanted

    def wanted_active(self) -> int:
        """How many pods should run now."""
        parallelism: int = self.spec.get("parallelism", 1)
        if self.completions is None:
            return self.active_count if self.succeeded_count() > 0 else parallelism
        return max(0, min(parallelism, self.completions - self.succeeded_count()))

    def _failure(self) -> tuple[str, str] | None:
        message = next((j.job_failure for j in self.judgements.values() if j.job_failure), None)
        if message is not None:
            return "PodFailurePolicy", message
        if self.failed_count() > self.spec.get("backoffLimit", 6) or self._restarts_too_often():
            return "BackoffLimitExceeded", BACKOFF_LIMIT
        deadline = deadline_of(self.spec, self.status)
        if deadline is not None and self.now >= deadline:
            return "DeadlineExceeded", DEADLINE
        if not self.is_indexed or self.limit_per_index is None:
            return None
        failed, most = self.failed_indexes, self.spec.get("maxFailedIndexes")
        if most is not None and len(failed) > most:
            return "MaxFailedIndexesExceeded", TOO_MANY_INDEXES
        if failed and len(failed) + len(self.succeeded_indexes) >= (self.completions or 0):
            return "FailedIndexes", "Job has failed indexes"
        return None

    def _restarts_too_often(self) -> bool:
        if self.spec["template"]["spec"].get("restartPolicy") != "OnFailure":
            return False
        restarts = self._restarts
        limit: int = self.spec.get("backoffLimit", 6)
        return restarts > 0 if limit == 0 else restarts >= limit

    def _has_valid_index(self, row: PodRow) -> bool:
        if not self.is_indexed:
            return True
        index = index_of(row)
        return index is not None and index < (self.completions or 0)
