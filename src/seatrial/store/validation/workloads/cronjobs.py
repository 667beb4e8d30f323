"""CronJobs: when a job is made, and from what.

Upstream: ValidateCronJobCreate of pkg/apis/batch/validation/validation.go, and github.com/robfig/cron for schedules.
"""

import re
import zoneinfo
from collections.abc import Iterator, Mapping

from seatrial.model.documents import Document
from seatrial.model.durations import DurationError, parse_duration
from seatrial.model.errors import Cause
from seatrial.model.integers import int_of
from seatrial.store.field_errors import invalid, quoted, unsupported
from seatrial.store.validation.formats import not_negative
from seatrial.store.validation.rules import among, need, present, rules
from seatrial.store.validation.workloads.jobs import job_spec
from seatrial.store.validation.workloads.workloads import selector_of

_NAMED = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")
_MONTHS = {
    name: n
    for n, name in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1)
}
_DAYS = {name: n for n, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_FIELDS: tuple[tuple[int, int, Mapping[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)


def create_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new CronJob."""
    yield from _spec(document.get("spec") or {}, None)
    name = document["metadata"].get("name", "")
    if len(name.encode()) > 52:
        yield invalid("metadata.name", name, "must be no more than 52 characters")


def update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a CronJob."""
    spec, before = document.get("spec") or {}, old.get("spec") or {}
    if subresource or spec == before:
        return
    yield from _spec(spec, before)


def _spec(spec: Document, old: Document | None) -> Iterator[Cause]:
    zone, was = spec.get("timeZone"), "TZ" in (old or {}).get("schedule", "")
    yield from rules(need("schedule", lambda schedule, path: _schedule(schedule, zone, was)))(spec, "spec")
    yield from not_negative(spec.get("startingDeadlineSeconds"), "spec.startingDeadlineSeconds")
    if zone is not None and (old is None or old.get("timeZone") != zone):
        yield from _time_zone(zone)
    yield from _POLICY(spec, "spec")
    yield from _job_template(spec.get("jobTemplate") or {}, (old or {}).get("jobTemplate") if old else None)
    yield from _LIMITS(spec, "spec")


_POLICY = rules(need("concurrencyPolicy", among("Allow", "Forbid", "Replace")))
_LIMITS = rules(*(present(f"{kind}JobsHistoryLimit", not_negative) for kind in ("successful", "failed")))


def _job_template(template: Document, old: Document | None) -> Iterator[Cause]:
    job, path = template.get("spec") or {}, "spec.jobTemplate.spec"
    yield from job_spec(job, (old.get("spec") or {}) if old is not None else None, path)
    if job.get("selector") is not None:
        yield invalid(f"{path}.selector", selector_of(job["selector"]), "`selector` will be auto-generated")
    if job.get("manualSelector"):
        yield unsupported(f"{path}.manualSelector", True, ("nil", "false"))


def _time_zone(zone: str) -> Iterator[Cause]:
    path = "spec.timeZone"
    if not zone:
        yield invalid(path, zone, "timeZone must be nil or non-empty string")
        return
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part):
            yield invalid(path, zone, f"unknown time zone {zone}")
            return
    if zone.lower() == "local":
        why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        yield invalid(path, zone, why)
    elif not _is_zone(zone):
        yield invalid(path, zone, f"unknown time zone {zone}")


def _is_zone(zone: str) -> bool:
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _schedule(schedule: str, zone: str | None, zone_allowed: bool) -> Iterator[Cause]:
    if fault := _schedule_fault(schedule):
        yield invalid("spec.schedule", schedule, fault)
    if "TZ" not in schedule:
        return
    if not zone_allowed:
        why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        yield invalid("spec.schedule", schedule, why)
    elif zone is not None:
        why = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        yield invalid("spec.schedule", schedule, why)


def _schedule_fault(schedule: str) -> str:
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        first, _, schedule = schedule.partition(" ")
        zone = first.partition("=")[2]
        if not _is_zone(zone):
            return f"provided bad location {zone}: unknown time zone {zone}"
        schedule = schedule.strip()
    if schedule.startswith("@"):
        return _descriptor_fault(schedule)
    fields = schedule.split()
    if len(fields) != 5:
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    for field, (low, high, names) in zip(fields, _FIELDS, strict=True):
        for part in filter(None, field.split(",")):
            if fault := _range_fault(part, low, high, names):
                return fault
    return ""


def _descriptor_fault(text: str) -> str:
    if text.startswith("@every "):
        try:
            parse_duration(text.removeprefix("@every "))
        except DurationError as error:
            return f"failed to parse duration {text}: {error}"
        return ""
    return "" if text in _NAMED else f"unrecognized descriptor: {text}"


def _range_fault(part: str, low: int, high: int, names: Mapping[str, int]) -> str:
    bounds, *steps = part.split("/")
    ends = bounds.split("-")
    if ends[0] in ("*", "?"):
        start, end = low, high
    else:
        numbers = []
        for text in ends[:2]:
            number, fault = _number(text, names)
            if fault:
                return fault
            numbers.append(number)
        if len(ends) > 2:
            return f"too many hyphens: {part}"
        start, end = numbers[0], numbers[-1]
    if len(steps) > 1:
        return f"too many slashes: {part}"
    step = 1
    if steps:
        step, fault = _number(steps[0], {})
        if fault:
            return fault
        end = high if len(ends) == 1 else end
    return _bounds_fault(part, (start, end, step), low, high)


def _bounds_fault(part: str, given: tuple[int, int, int], low: int, high: int) -> str:
    start, end, step = given
    if start < low:
        return f"beginning of range ({start}) below minimum ({low}): {part}"
    if end > high:
        return f"end of range ({end}) above maximum ({high}): {part}"
    if start > end:
        return f"beginning of range ({start}) beyond end of range ({end}): {part}"
    return f"step of range should be a positive number: {part}" if step == 0 else ""


def _number(text: str, names: Mapping[str, int]) -> tuple[int, str]:
    if text.lower() in names:
        return names[text.lower()], ""
    if not re.fullmatch("[+-]?[0-9]+", text):
        return 0, f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}: invalid syntax"
    number = int_of(text)
    if abs(number) >= 2**63:
        return 0, f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}: value out of range"
    return number, f"negative number ({number}) not allowed: {text}" if number < 0 else ""
