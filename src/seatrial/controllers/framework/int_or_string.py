"""Numbers that may be percentages, as Kubernetes' IntOrString writes them."""

import math

from seatrial.model.integers import int_of


def scaled(value: int | str, total: int, *, up: bool) -> int:
    """A number, or a percentage of `total` rounded up or down."""
    if isinstance(value, int):
        return value
    part = int_of(value.removesuffix("%")) * total / 100
    return math.ceil(part) if up else math.floor(part)
