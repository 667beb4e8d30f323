"""Thresholds such as `allocation_cpu < -1%`: the changes between two runs that are not allowed."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from seatrial.model.errors import ConfigError
from seatrial.results.comparison import Comparison

_FORM = re.compile(r"\s*([\w./-]+)\s*(<=|>=|<|>)\s*([+-]?\d+(?:\.\d+)?)\s*(%?)\s*$")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Threshold:
    """A bound on the change of a number; with %, on the change relative to the first run."""

    text: str
    number: str
    operator: str
    bound: float
    is_relative: bool

    @classmethod
    def parse(cls, text: str) -> "Threshold":
        match = _FORM.match(text)
        if match is None:
            raise ConfigError(
                "",
                "--fail-if",
                f"{text!r} is not a threshold; expected NUMBER < VALUE[%], as in 'allocation_cpu < -1%'",
            )
        name, sign, bound, percent = match.groups()
        return cls(text, name, sign, float(bound), bool(percent))

    def crossings(self, comparison: Comparison) -> list[str]:
        """A sentence for each run whose change is over the line."""
        number = comparison.number(self.number)
        found = []
        for place, run in enumerate(comparison.runs[1:], start=1):
            change = number.relative(place) if self.is_relative else number.delta(place)
            if change is not None and _COMPARE[self.operator](change, self.bound):
                unit = "%" if self.is_relative else ""
                found.append(f"{run.name}: {self.number} changes by {change:+.4g}{unit} ({self.text})")
        return found
