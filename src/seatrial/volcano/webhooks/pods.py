"""Validation of pods that Volcano schedules: the budget of a job that may be disrupted.

Upstream: pkg/webhooks/admission/pods/validate/admit_pod.go.
"""

from typing import Final

from seatrial.store import Request
from seatrial.store.admission import Reader
from seatrial.store.field_errors import quoted
from seatrial.volcano.apis import SCHEDULER_NAME
from seatrial.volcano.apis.labels import JDB_MAX_UNAVAILABLE, JDB_MIN_AVAILABLE
from seatrial.volcano.webhooks.denied import Denied

WEBHOOK: Final = "validatepod.volcano.sh"
KEYS: Final = (JDB_MIN_AVAILABLE, JDB_MAX_UNAVAILABLE)


def validate(request: Request, reader: Reader) -> None:
    """Refuse annotations that say no number and no share."""
    pod = request.document
    annotations = pod["metadata"].get("annotations")
    if not annotations or pod["spec"].get("schedulerName") != SCHEDULER_NAME:
        return
    found = [key for key in KEYS if key in annotations]
    for key in found:
        if fault := _fault(key, annotations[key]):
            raise Denied(WEBHOOK, fault)
    if len(found) > 1:
        raise Denied(WEBHOOK, f"not allow configure multiple annotations <[{' '.join(KEYS)}]> at same time")


def _fault(key: str, value: str) -> str:
    number = _integer(value)
    if number is not None:
        return "" if number > 0 else f"invalid value <{quoted(value)}> for {key}, it must be a positive integer"
    share = _integer(value.replace("%", ""))
    if share is None:
        text = quoted(value.replace("%", ""))
        return f"invalid value strconv.Atoi: parsing {text}: invalid syntax for {key}"
    if not 0 < share < 100:
        return f"invalid value <{quoted(value)}> for {key}, it must be a valid percentage which between 1% ~ 99%"
    return ""


def _integer(text: str) -> int | None:
    digits = text[1:] if text[:1] in ("+", "-") else text
    return int(text) if digits.isascii() and digits.isdigit() else None
