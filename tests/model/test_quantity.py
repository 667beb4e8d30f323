"""Quantities against apimachinery's own answers, and the laws they keep."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.model.quantity import (
    DECIMAL_SI,
    MAX_INT64,
    Quantity,
    QuantityError,
    canonical_quantity,
    quantity_milli,
    quantity_value,
)
from tests.model.recorded import recorded

SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "e3", "e-3", "E6"]
TEXTS = st.builds(
    lambda sign, whole, fraction, suffix: f"{sign}{whole}{fraction}{suffix}",
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**12),
    st.sampled_from(["", ".5", ".25", ".001", ".000000001"]),
    st.sampled_from(SUFFIXES),
)


def answer(text: str) -> list[object]:
    try:
        quantity = Quantity.parse(text)
    except QuantityError as error:
        return [text, str(error)]
    values = [quantity.scaled_value(scale) for scale in (0, -3, -9, 3)]
    return [text, str(quantity), *values, quantity.sign, quantity.as_float()]


def test_parsing_and_values_equal_the_recorded_ones() -> None:
    for row in recorded("values/quantities"):
        expected = [*row[:7], float(row[7])] if len(row) > 2 else row
        assert answer(row[0]) == expected


def test_arithmetic_equals_the_recorded_one() -> None:
    for row in recorded("values/quantity_pairs"):
        left, right = Quantity.parse(row[0]), Quantity.parse(row[1])
        total, rest = left + right, left - right
        found = [str(total), total.value(), str(rest), rest.milli_value(), str(left * 37), left.compare(right)]
        assert [*found, str(left.round_up(0))] == row[2:]


@given(TEXTS)
def test_canonical_text_is_the_same_number_and_stays(text: str) -> None:
    quantity = Quantity.parse(text)
    again = Quantity.parse(str(quantity))
    assert again == quantity
    assert str(again) == str(quantity)
    assert hash(again) == hash(quantity)


@given(TEXTS, TEXTS)
def test_addition_and_subtraction_are_exact(left: str, right: str) -> None:
    a, b = Quantity.parse(left), Quantity.parse(right)
    assert a + b == b + a
    assert (a + b) - b == a


@given(TEXTS, TEXTS)
def test_comparison_is_a_total_order(left: str, right: str) -> None:
    a, b = Quantity.parse(left), Quantity.parse(right)
    assert (a < b) + (a == b) + (a > b) == 1
    assert (a <= b) == (b >= a)


@pytest.mark.parametrize(
    ("value", "whole", "milli"),
    [
        ("100m", 1, 100),
        ("1.5Gi", 1610612736, 1610612736000),
        (2, 2, 2000),
        (0.1, 1, 100),
        ("1n", 1, 1),
        (" 2 ", 2, 2000),
    ],
)
def test_values_round_up(value: str | float, whole: int, milli: int) -> None:
    assert quantity_value(value) == whole
    assert quantity_milli(value) == milli


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0.5", "500m"),
        ("1024Ki", "1Mi"),
        ("1.5Gi", "1536Mi"),
        ("1000m", "1"),
        ("1.500", "1.500"),
        ("100Ei", f"{MAX_INT64}"),
    ],
)
def test_canonical_form(text: str, canonical: str) -> None:
    assert canonical_quantity(text) == canonical


@pytest.mark.parametrize("text", ["", "x", "1 Gi", "1.2.3", "1Gi1", True, "9" * 2000, "1234567890123456789e2000000000"])
def test_nonsense_is_refused(text: str | bool) -> None:
    with pytest.raises(QuantityError):
        Quantity.parse(text)


def test_huge_exponents_answer_at_once() -> None:
    huge, tiny = Quantity.parse("1e2147483647"), Quantity.parse("1e-2147483647")
    assert huge > tiny
    assert huge.value() == 0
    assert tiny == Quantity.parse("1n")
    assert str(Quantity.milli(1500, DECIMAL_SI)) == "1500m"
