"""Integers in text, of any length and script."""

import pytest

from seatrial.model.integers import BEYOND, int64_of, int_of

NINES = "9" * 5_000


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("-7", -7), ("+07", 7), ("0", 0), ("0" * 5_000 + "1", 1), (NINES, BEYOND), ("-" + NINES, -BEYOND)],
)
def test_any_number_of_digits_is_read(text: str, number: int) -> None:
    assert int_of(text, 5) == number


@pytest.mark.parametrize("text", ["", "-", "+-1", "1_0", " 1", "1 ", "\u00b2", "\u0661", "0x1", "1.0"])
def test_what_strconv_takes_for_no_number_is_none(text: str) -> None:
    assert (int_of(text, 5), int64_of(text, 5)) == (5, 5)


@pytest.mark.parametrize(
    ("text", "number"),
    [(str(2**63 - 1), 2**63 - 1), (str(2**63), 5), (str(-(2**63)), -(2**63)), (str(-(2**63) - 1), 5), (NINES, 5)],
)
def test_a_number_beyond_int64_is_none(text: str, number: int) -> None:
    assert int64_of(text, 5) == number
