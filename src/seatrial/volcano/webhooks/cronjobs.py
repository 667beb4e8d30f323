"""Validation of a Volcano CronJob.

Upstream: pkg/webhooks/admission/cronjobs/validate/admit_cronjob.go. The template of the Job is not looked at.
"""

import re
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seatrial.controllers.cronjob import Schedule
from seatrial.model.documents import Document
from seatrial.model.label_selectors import label_key_faults
from seatrial.store import Request
from seatrial.store.admission import Reader
from seatrial.volcano.webhooks.denied import Denied

WEBHOOK: Final = "validatecronjob.volcano.sh"
LONGEST_NAME, LONGEST_JOB_NAME = 52, 63
_ZONE_PART: Final = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")


def validate(request: Request, reader: Reader) -> None:
    """Refuse a CronJob whose schedule, time zone or name the controller could not use."""
    spec: Document = request.document.get("spec") or {}
    faults = [_spec_faults(spec).strip(), _name_fault(request.document["metadata"]["name"])]
    text = "; ".join(fault for fault in faults if fault)
    if text:
        raise Denied(WEBHOOK, text)


def _spec_faults(spec: Document) -> str:
    schedule, text = spec.get("schedule") or "", ""
    if not schedule:
        text = " schedule is required, but got empty"
    elif "TZ" in schedule:
        text = " schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field"
    else:
        try:
            Schedule(schedule)
        except ValueError:
            text = "schedule is not a valid cron expression"
    return text if spec.get("timeZone") is None else text + _zone_faults(spec["timeZone"])


def _zone_faults(zone: str) -> str:
    if not zone:
        return " timeZone must be nil or non-empty string, got empty string"
    text = ""
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part):
            text += " unknown timeZone"
    if zone.lower() == "local":
        return text + " timeZone can't be Local, and must be defined in https://www.iana.org/time-zones"
    try:
        ZoneInfo(zone)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        text += " invalid timeZone"
    return text


def _name_fault(name: str) -> str:
    if len(name) > LONGEST_NAME:
        room = f"to accommodate job name suffix (max {LONGEST_JOB_NAME} total)"
        return f"cronJob name must be no more than {LONGEST_NAME} characters {room}"
    faults = label_key_faults(name)
    return f'invalid cronJob name "{name}": {"; ".join(faults)}' if faults else ""
