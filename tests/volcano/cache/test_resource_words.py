"""Amounts of resources as users write them."""

import pytest

from seatrial.volcano.cache import quantity


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [
        ("cpu", 800, "800m"),
        ("cpu", 1000, "1"),
        ("cpu", 1_980_800, "1980.8"),
        ("cpu", 1_500.5, "1.501"),
        ("cpu", -2_400, "-2.4"),
        ("nvidia.com/gpu", 3000, "3"),
        ("pods", 1200, "1200"),
        ("memory", 4 << 30, "4Gi"),
    ],
)
def test_only_amounts_below_one_are_written_in_thousandths(name: str, amount: float, text: str) -> None:
    assert quantity(name, amount) == text
