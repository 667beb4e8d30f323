"""Cron expressions.

Upstream: github.com/robfig/cron (ParseStandard), pkg/controller/cronjob/utils.go (v1.36).
"""

from datetime import datetime, timedelta

from seatrial.model.durations import parse_duration
from seatrial.model.times import SECOND

NAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], start=1
    )
}
DAYS = {name: number for number, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
FARTHEST = timedelta(days=366 * 5)


class Schedule:
    """A cron expression of five fields."""

    def __init__(self, text: str) -> None:
        self._every: timedelta | None = None
        if text.startswith("@every "):
            self._every = timedelta(seconds=max(1, parse_duration(text.removeprefix("@every ").strip()) // SECOND))
            text = "* * * * *"
        fields = NAMES.get(text.strip(), text).split()
        if len(fields) != 5:
            raise ValueError(f"{text!r} has {len(fields)} fields, expected 5")
        words: tuple[dict[str, int], ...] = ({}, {}, {}, MONTHS, DAYS)
        self._minutes, self._hours, self._days, self._months, self._weekdays = (
            _field(field, low, high, names) for field, (low, high), names in zip(fields, RANGES, words, strict=True)
        )
        self._any_day = fields[2][0] in "*?"
        self._any_weekday = fields[4][0] in "*?"

    def next_after(self, moment: datetime) -> datetime | None:
        """The first scheduled time after a moment."""
        if self._every is not None:
            return moment.replace(microsecond=0) + self._every
        found = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        last = moment + FARTHEST
        while found <= last:
            if found.month not in self._months:
                found = (found.replace(day=1, hour=0, minute=0) + timedelta(days=32)).replace(day=1)
            elif not self._is_day(found):
                found = found.replace(hour=0, minute=0) + timedelta(days=1)
            elif found.hour not in self._hours:
                found = found.replace(minute=0) + timedelta(hours=1)
            elif found.minute not in self._minutes:
                found += timedelta(minutes=1)
            else:
                return found
        return None

    def latest(self, earliest: datetime, now: datetime) -> datetime | None:
        """The last scheduled time after `earliest` that is not after `now`, looked for from `now` backwards."""
        if self._every is not None:
            times = (now - earliest.replace(microsecond=0)) // self._every
            return earliest.replace(microsecond=0) + times * self._every if times > 0 else None
        span = timedelta(minutes=1)
        while True:
            start = max(earliest, now - span)
            found, following = None, self.next_after(start)
            while following is not None and following <= now:
                found, following = following, self.next_after(following)
            if found is not None or start == earliest:
                return found
            span *= 2

    def _is_day(self, moment: datetime) -> bool:
        """Day of month and day of week: either is enough where both are given."""
        day = moment.day in self._days
        weekday = moment.isoweekday() % 7 in self._weekdays
        return (day and weekday) if self._any_day or self._any_weekday else (day or weekday)


def _field(text: str, low: int, high: int, names: dict[str, int]) -> frozenset[int]:
    values: set[int] = set()
    for part in text.lower().split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if first in ("*", "?"):
            start, end = low, high
        else:
            start = names.get(first, -1) if first in names else int(first)
            end = (names[last] if last in names else int(last)) if last else (high if step else start)
        if not low <= start <= end <= max(high, 7 if high == 6 else high):
            raise ValueError(f"{part!r} is out of {low}-{high}")
        values.update(value % 7 if high == 6 else value for value in range(start, end + 1, int(step or 1)))
    return frozenset(values)
