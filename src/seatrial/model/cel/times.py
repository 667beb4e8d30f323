"""Timestamps and durations of CEL: reading, writing, and their parts in a time zone."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seatrial.model.cel.errors import CelError
from seatrial.model.cel.values import Duration, Timestamp

_UNITS = {"h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "µs": 10**3, "ns": 1}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)")
_RFC3339 = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)")


def duration_of(text: str) -> Duration:
    """A Go duration, `1h30m`."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return Duration(0)
    nanos, at = 0, 0
    for match in _PART.finditer(rest):
        if match.start() != at:
            break
        whole, _, fraction = match.group(1).partition(".")
        unit = _UNITS[match.group(2)]
        nanos += int(whole or 0) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        at = match.end()
    if not rest or at != len(rest):
        raise CelError(f'time: invalid duration "{text}"')
    return Duration(sign * nanos)


def timestamp_of(text: str) -> Timestamp:
    """An RFC 3339 instant."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise CelError(f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse "{text}" as "2006"')
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=_offset(zone))
    except ValueError as problem:
        raise CelError(f'parsing time "{text}": {problem}') from problem
    span = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017
    nanos = int((fraction or "0").ljust(9, "0")[:9])
    return Timestamp((span.days * 86400 + span.seconds) * 10**9 + nanos)


def _offset(text: str) -> tzinfo:
    if text in "zZ":
        return timezone(timedelta())
    sign = -1 if text[0] == "-" else 1
    hours, minutes = text[1:].split(":")
    return timezone(sign * timedelta(hours=int(hours), minutes=int(minutes)))


def show_duration(value: Duration) -> str:
    """Seconds with their fraction, `5400s`."""
    seconds, nanos = divmod(abs(value.nanos), 10**9)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{'-' if value.nanos < 0 else ''}{seconds}{fraction}s"


def show_timestamp(value: Timestamp) -> str:
    """RFC 3339 in UTC."""
    nanos = value.nanos % 10**9
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return value.moment().strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"


def _zone(name: str) -> tzinfo:
    if re.fullmatch(r"[+-]?\d\d:\d\d", name):
        return _offset(name if name[0] in "+-" else "+" + name)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as problem:
        raise CelError(f"unknown time zone {name}") from problem


def moment_part(read: Callable[[datetime], int]) -> Callable[..., int]:
    """A getter of a timestamp's part, with an optional time zone."""

    def part(value: Timestamp, zone: str = "UTC") -> int:
        return read(value.moment().astimezone(_zone(zone)))

    return part


MOMENT_PARTS: dict[str, Callable[[datetime], int]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
    "getMilliseconds": lambda moment: moment.microsecond // 1000,
}
DURATION_PARTS = {
    "getHours": 3600 * 10**9,
    "getMinutes": 60 * 10**9,
    "getSeconds": 10**9,
    "getMilliseconds": 10**6,
}
