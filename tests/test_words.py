"""Numbers with their noun."""

import pytest

from seatrial.words import counted


@pytest.mark.parametrize(("number", "text"), [(0, "0 pods"), (1, "1 pod"), (2, "2 pods"), (1000, "1,000 pods")])
def test_one_is_singular(number: int, text: str) -> None:
    assert counted(number, "pod") == text
