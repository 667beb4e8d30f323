"""Go durations (`1h30m`, `1.5s`) as whole microseconds or nanoseconds, and back.

Follows time.ParseDuration and Duration.String; a duration is an int64 of nanoseconds there, so what does not fit is
refused here as well. The simulated clock counts microseconds: a finer duration is rounded up, so that a timer never
fires early and a positive one is never zero.
"""

from typing import Final

from seatrial.model.integers import int_of

_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_MOST: Final = (1 << 63) - 1
_DIGITS: Final = "0123456789"


class DurationError(ValueError):
    """A text that is no duration; the message is Go's."""


def parse_duration(text: str) -> int:
    """A duration's microseconds, rounded up."""
    return -(-parse_nanoseconds(text) // 1_000)


def format_duration(microseconds: int) -> str:
    """Microseconds as Go writes a duration."""
    return format_nanoseconds(microseconds * 1_000)


def parse_nanoseconds(text: str) -> int:
    """A duration's nanoseconds; DurationError if the text is no duration."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    sign = -1 if text[:1] == "-" else 1
    if rest == "0":
        return 0
    if not rest:
        raise DurationError(f"time: invalid duration {_quote(text)}")
    total = 0
    while rest:
        amount, rest = _next_amount(text, rest)
        total += amount
        if total > _MOST + 1:
            raise DurationError(f"time: invalid duration {_quote(text)}")
    if sign < 0:
        return -total
    if total > _MOST:
        raise DurationError(f"time: invalid duration {_quote(text)}")
    return total


def format_nanoseconds(nanoseconds: int) -> str:
    """Nanoseconds as Go writes a duration: 1h0m0s, 1.5s, 300ms, 0s."""
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest == 0:
        return "0s"
    if rest < 1_000_000_000:
        unit, size = next(pair for pair in (("ms", 1_000_000), ("µs", 1_000), ("ns", 1)) if rest >= pair[1])
        return f"{sign}{_decimal(rest, size)}{unit}"
    minutes, rest = divmod(rest, 60_000_000_000)
    seconds = f"{_decimal(rest, 1_000_000_000)}s"
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def _next_amount(text: str, rest: str) -> tuple[int, str]:
    """The nanoseconds of the first number with unit in `rest`, and what follows it."""
    if rest[0] != "." and rest[0] not in _DIGITS:
        raise DurationError(f"time: invalid duration {_quote(text)}")
    whole, rest = _digits(rest)
    fraction = ""
    if rest[:1] == ".":
        fraction, rest = _digits(rest[1:])
    if (not whole and not fraction) or int(whole[:40] or "0") > _MOST + 1 or len(whole.lstrip("0")) > 19:
        raise DurationError(f"time: invalid duration {_quote(text)}")
    end = next((i for i, letter in enumerate(rest) if letter == "." or letter in _DIGITS), len(rest))
    name, rest = rest[:end], rest[end:]
    if not name:
        raise DurationError(f"time: missing unit in duration {_quote(text)}")
    unit = _UNITS.get(name)
    if unit is None:
        raise DurationError(f"time: unknown unit {_quote(name)} in duration {_quote(text)}")
    amount = int_of(whole) * unit
    if amount > _MOST + 1:
        raise DurationError(f"time: invalid duration {_quote(text)}")
    return amount + _fraction(fraction, unit), rest


def _fraction(digits: str, unit: int) -> int:
    """The nanoseconds of `.digits` units; Go takes the digits that fit an int64 and multiplies floats."""
    number, scale = 0, 1.0
    for digit in digits:
        if number > _MOST // 10 or number * 10 + int(digit) > _MOST + 1:
            break
        number, scale = number * 10 + int(digit), scale * 10
    return int(float(number) * (float(unit) / scale)) if number else 0


def _digits(text: str) -> tuple[str, str]:
    end = next((i for i, letter in enumerate(text) if letter not in _DIGITS), len(text))
    return text[:end], text[end:]


def _decimal(value: int, size: int) -> str:
    whole, rest = divmod(value, size)
    if not rest:
        return str(whole)
    digits = str(rest).zfill(len(str(size)) - 1).rstrip("0")
    return f"{whole}.{digits}"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    letters = (
        letter if " " <= letter <= "~" else "".join(f"\\x{b:02x}" for b in letter.encode()) for letter in escaped
    )
    return f'"{"".join(letters)}"'
