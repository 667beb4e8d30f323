"""Validation of the status of a Job: it ends once, and its counters agree with its conditions.

Upstream: ValidateJobUpdateStatus of pkg/apis/batch/validation/validation.go, and getStatusValidationOptions of
pkg/registry/batch/job/strategy.go. A rule is applied when what it speaks of has changed.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import duplicate, invalid, required
from seatrial.store.validation.formats import not_negative
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.workloads import jobs
from seatrial.store.validation.workloads.job_policies import count_indexes, interval, omitted

_CONDITIONS = "status.conditions"


class _Status:
    """A status with the conditions that are true."""

    def __init__(self, document: Document) -> None:
        self.fields: Document = document.get("status") or {}
        conditions = self.fields.get("conditions") or ()
        self.true = {each.get("type") for each in conditions if each.get("status") == "True"}
        self.false = {each.get("type") for each in conditions if each.get("status") == "False"}
        self.complete, self.failed = "Complete" in self.true, "Failed" in self.true
        self.finished = self.complete or self.failed
        self.met, self.doomed = "SuccessCriteriaMet" in self.true, "FailureTarget" in self.true

    def get(self, key: str, default: Any = None) -> Any:
        return self.fields.get(key, default)


def status_causes(job: Document, old: Document) -> Iterator[Cause]:
    """Validation errors of the status of a Job, given the one before."""
    new, before, spec = _Status(job), _Status(old), job.get("spec") or {}
    for key in ("active", "succeeded", "failed", "ready", "terminating"):
        yield from not_negative(new.get(key), f"status.{key}")
    yield from _uncounted(new.get("uncountedTerminatedPods") or {})
    yield from _ends(new, before)
    yield from _times(new, before, spec)
    yield from _finished(new, before, spec)
    yield from _indexes(new, before, spec)
    yield from _criteria(new, before, spec)
    for kind in ("Failed", "Complete", "FailureTarget"):
        if kind in before.true and kind not in new.true:
            yield omitted(_CONDITIONS, f"cannot disable the terminal {kind}=True condition")
    scaled = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    for key, fixed in (("failed", True), ("succeeded", not scaled)):
        if fixed and new.get(key, 0) < before.get(key, 0):
            yield invalid(f"status.{key}", new.get(key, 0), f"cannot decrease the {key} counter")


def _uncounted(pods: Document) -> Iterator[Cause]:
    seen: set[str] = set()
    for key in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(key) or ()):
            where = f"status.uncountedTerminatedPods.{key}[{index}]"
            if not uid:
                yield invalid(where, uid, "must not be empty")
            elif uid in seen:
                yield duplicate(where, uid)
            seen.add(uid)


def _ends(new: _Status, old: _Status) -> Iterator[Cause]:
    completed, failed = new.complete != old.complete, new.failed != old.failed
    if (completed or failed) and new.complete and new.failed:
        yield omitted(_CONDITIONS, "cannot set Complete=True and Failed=true conditions")
    if (completed or new.doomed != old.doomed) and new.complete and new.doomed:
        yield omitted(_CONDITIONS, "cannot set Complete=True and FailureTarget=true conditions")
    indexes = new.get("failedIndexes") != old.get("failedIndexes")
    if (failed or indexes) and new.failed and not new.doomed:
        yield omitted(_CONDITIONS, "cannot set Failed=True condition without the FailureTarget=true condition")
    if (completed or new.met != old.met) and new.complete and not new.met:
        yield omitted(_CONDITIONS, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition")


def _times(new: _Status, old: _Status, spec: Document) -> Iterator[Cause]:
    end, start = new.get("completionTime"), new.get("startTime")
    ended, started = end != old.get("completionTime"), start != old.get("startTime")
    if ended or new.complete != old.complete:
        if end is not None and not new.complete:
            why = "cannot set completionTime when there is no Complete=True condition"
            yield invalid("status.completionTime", end, why)
        if end is None and new.complete:
            yield required("status.completionTime", "completionTime is required for Complete jobs")
    if (ended or started) and start is not None and end is not None and end < start:
        yield invalid("status.completionTime", end, "must be equal to or after `startTime`")
    if end is not None and old.get("completionTime") is not None and ended:
        yield invalid("status.completionTime", end, "field is immutable")
    resumed = "Suspended" in old.true and "Suspended" in new.false
    if started and not resumed and old.get("startTime") is not None and not spec.get("suspend"):
        yield invalid("status.startTime", start, "field is immutable for unsuspended job once set")


def _finished(new: _Status, old: _Status, spec: Document) -> Iterator[Cause]:
    over = new.finished != old.finished

    def concerns(key: str) -> bool:
        return new.finished and (over or new.get(key) != old.get(key))

    if concerns("active") and new.get("active", 0) > 0:
        yield invalid("status.active", new.get("active"), "active>0 is invalid for finished job")
    empty = spec.get("suspend") is True and spec.get("completions") == 0
    if concerns("startTime") and new.get("startTime") is None and not empty:
        yield required("status.startTime", "startTime is required for finished job")
    pods = new.get("uncountedTerminatedPods") or {}
    if concerns("uncountedTerminatedPods") and (pods.get("failed") or pods.get("succeeded")):
        shown = go_struct(pods, ("succeeded", "failed"))
        yield invalid("status.uncountedTerminatedPods", shown, "must be empty for finished job")
    if concerns("terminating") and (new.get("terminating") or 0) > 0:
        yield invalid("status.terminating", new.get("terminating"), "terminating>0 is invalid for finished job")
    moved = new.get("ready") != old.get("ready") or new.get("active") != old.get("active")
    if moved and (new.get("ready") or 0) > new.get("active", 0):
        yield invalid("status.ready", new.get("ready"), "cannot set more ready pods than active")


def _indexes(new: _Status, old: _Status, spec: Document) -> Iterator[Cause]:
    completed, failed = new.get("completedIndexes", ""), new.get("failedIndexes")
    moved, broke = completed != old.get("completedIndexes", ""), failed != old.get("failedIndexes")
    completions, per_index = spec.get("completions"), spec.get("backoffLimitPerIndex")
    if moved and completions is not None and (fault := count_indexes(completed, completions)[1]):
        yield invalid("status.completedIndexes", completed, f"error parsing completedIndexes: {fault}")
    known = failed if broke and per_index is not None else None
    if known is not None and completions is not None and (fault := count_indexes(known, completions)[1]):
        yield invalid("status.failedIndexes", failed, f"error parsing failedIndexes: {fault}")
    if moved and completed and spec.get("completionMode") != "Indexed":
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid("status.completedIndexes", completed, why)
    if broke and failed is not None and per_index is None:
        why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield invalid("status.failedIndexes", failed, why)
    if (moved or broke) and completions is not None and completed and failed:
        common = _overlap(completed, failed, completions)
        if common is not None:
            why = f"failedIndexes and completedIndexes overlap at index: {common}"
            yield invalid("status.failedIndexes", failed, why)


def _overlap(completed: str, failed: str, completions: int) -> int | None:
    good = [interval(part, completions) for part in completed.split(",")]
    bad = [interval(part, completions) for part in failed.split(",")]
    common = [
        max(first, start)
        for first, last, fault in good
        for start, end, wrong in bad
        if not fault and not wrong and first <= end and start <= last
    ]
    return min(common, default=None)


def _criteria(new: _Status, old: _Status, spec: Document) -> Iterator[Cause]:
    if new.met and new.failed:
        yield omitted(_CONDITIONS, "cannot set SuccessCriteriaMet=True and Failed=true conditions")
    if new.met and new.doomed:
        yield omitted(_CONDITIONS, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
    if spec.get("successPolicy") is not None and not new.met and new.complete:
        why = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        yield omitted(_CONDITIONS, why)
    if old.met and not new.met:
        yield omitted(_CONDITIONS, "cannot disable the SuccessCriteriaMet=True condition")
    if old.complete and not old.met and new.met:
        why = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        yield omitted(_CONDITIONS, why)


def change_causes(document: Document, old: Document, subresource: str) -> Iterable[Cause]:
    """Validation errors of an update of a Job, through its status or as a whole."""
    return status_causes(document, old) if subresource == "status" else jobs.update_causes(document, old)
