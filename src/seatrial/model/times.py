"""Points in time: whole microseconds since 1970 UTC, and the two forms Kubernetes writes them in.

metav1.Time has whole seconds, metav1.MicroTime six digits. Microseconds as an int never round and sort as they are.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

MILLISECOND = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_time(instant: int) -> str:
    """The instant as metav1.Time writes it: 2030-01-01T00:00:00Z (a part of a second is dropped)."""
    return _to_time(instant // SECOND)


@lru_cache(1024)
def _to_time(seconds: int) -> str:
    moment = _EPOCH + timedelta(seconds=seconds)
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"  # strftime does not pad early years


def to_micro_time(instant: int) -> str:
    """The instant as metav1.MicroTime writes it: 2030-01-01T00:00:00.000000Z."""
    return f"{to_time(instant)[:-1]}.{instant % SECOND:06d}Z"


def parse_time(text: str) -> int:
    """Read RFC 3339 with any number of fraction digits; ValueError where it is not."""
    if "T" not in text.upper():
        raise ValueError(f"{text!r} is not an RFC 3339 time")
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return (moment - _EPOCH) // timedelta(microseconds=1)
