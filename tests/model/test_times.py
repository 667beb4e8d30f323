"""Instants as Kubernetes writes them."""

import pytest

from seatrial.model.times import parse_time, to_micro_time, to_time


@pytest.mark.parametrize("text", ["0001-01-01T00:00:02Z", "1969-12-31T23:59:59Z", "2030-01-01T00:00:00Z"])
def test_a_time_reads_as_it_was_written(text: str) -> None:
    assert to_time(parse_time(text)) == text


def test_a_micro_time_has_six_digits_and_a_year_of_four() -> None:
    assert to_micro_time(parse_time("0001-01-01T00:00:02Z")) == "0001-01-01T00:00:02.000000Z"
