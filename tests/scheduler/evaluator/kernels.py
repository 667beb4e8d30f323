"""Tests that need the compiled kernel: skipped by name where it is not installed, failed where it is demanded."""

import os

import pytest

from seatrial.scheduler.evaluator.kernel_choice import MODULE, VARIABLE, chosen_kernel

WHY = f"{MODULE} is not installed: `make kernel` builds it"


def is_installed() -> bool:
    """Whether there is a kernel; SEATRIAL_KERNEL=on makes its absence an error."""
    if os.environ.get(VARIABLE) == "off":
        return False
    return chosen_kernel() is not None


needs_kernel = pytest.mark.skipif(not is_installed(), reason=WHY)
