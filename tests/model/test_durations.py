"""Durations against Go's own, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.model.durations import (
    DurationError,
    format_duration,
    format_nanoseconds,
    parse_duration,
    parse_nanoseconds,
)
from tests.model.recorded import recorded


def test_durations_equal_the_recorded_ones() -> None:
    for text, *expected in recorded("values/durations"):
        try:
            nanoseconds = parse_nanoseconds(text)
            found: list[object] = [nanoseconds, format_nanoseconds(nanoseconds)]
        except DurationError as error:
            found = [str(error)]
        assert found == expected


@given(st.integers(-(10**18), 10**18))
def test_what_is_written_is_read_back(nanoseconds: int) -> None:
    assert parse_nanoseconds(format_nanoseconds(nanoseconds)) == nanoseconds


@pytest.mark.parametrize(("text", "microseconds"), [("1m30s", 90_000_000), ("1ns", 1), ("1500ns", 2), ("-1.5us", -1)])
def test_microseconds_never_fire_early(text: str, microseconds: int) -> None:
    assert parse_duration(text) == microseconds


def test_microseconds_are_written_as_go_does() -> None:
    assert format_duration(5_400_000_000) == "1h30m0s"
