"""Integers in text, as Go's strconv.ParseInt reads them.

`int` raises for more than 4,300 digits and takes digits of other scripts; a superscript is a digit, but no number.
"""

import re

BEYOND = 10**20
"""Every number with more digits than an int64 has is this one."""
_DECIMAL = re.compile(r"([+-]?)0*([0-9]+)")


def int_of(text: str, otherwise: int = 0) -> int:
    """The number that decimal digits name, `BEYOND` or its negative beyond int64; `otherwise` where they name none."""
    found = _DECIMAL.fullmatch(text)
    if found is None:
        return otherwise
    number = int(found[2]) if len(found[2]) < 20 else BEYOND
    return -number if found[1] == "-" else number


def int64_of(text: str, otherwise: int = 0) -> int:
    """The number that decimal digits name; `otherwise` where they name none, or one beyond int64."""
    number = int_of(text)
    return number if -(1 << 63) <= number < 1 << 63 and _DECIMAL.fullmatch(text) else otherwise
