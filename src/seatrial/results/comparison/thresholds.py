"""Thresholds of `--fail-if`: changes and values that are not allowed.

`nodes_used > 5%` and `nodes_used > 2` are about the change from the first run, in percent and in the measure's unit
(`change(nodes_used) > 2` says so); `value(nodes_used) > 20` is about the value itself, in every run.
"""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from seatrial.model.errors import ConfigError
from seatrial.results.comparison.comparison import Comparison, Number
from seatrial.results.measure import find_measures

_FORM = re.compile(
    r"\s*(?:(change|value)\s*\(\s*([\w./-]+)\s*\)|([\w./-]+))\s*(<=|>=|<|>)\s*([+-]?\d+(?:\.\d+)?)\s*(%?)\s*$"
)
EXPECTED = (
    "expected a change from the first run, as in 'nodes_used > 5%' or 'nodes_used > 2', "
    "or a value, as in 'value(nodes_used) > 20'"
)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def read_thresholds(texts: Iterable[str], measures: Iterable[str] = (), *, one_run: bool = False) -> "list[Threshold]":
    """The thresholds of `--fail-if`; ConfigError where one names a number that none of the measures has.

    `measures` are the chosen ones (default: all). `one_run`: bounds are on values, since there is no change.
    """
    found = [Threshold.of_value(text) if one_run else Threshold.parse(text) for text in texts]
    chosen = find_measures(list(measures)) if found else []
    for threshold in found:
        if not any(measure.may_have(threshold.number) for measure in chosen):
            known = ", ".join(name for measure in chosen for name in measure.numbers)
            raise ConfigError("", "--fail-if", f"{threshold.number!r} is not known; known are {known}")
    return found


@dataclass(frozen=True, slots=True)
class Threshold:
    """A bound on the change of a number from the first run, in its unit or in percent, or on its value."""

    text: str
    number: str
    operator: str
    bound: float
    is_relative: bool
    is_value: bool = False

    @classmethod
    def parse(cls, text: str) -> "Threshold":
        match = _FORM.match(text)
        if match is None:
            raise ConfigError("", "--fail-if", f"{text!r} is not a threshold; {EXPECTED}")
        kind, named, bare, sign, bound, percent = match.groups()
        if kind == "value" and percent:
            raise ConfigError("", "--fail-if", f"{text!r}: a value is compared with a number, without %; {EXPECTED}")
        return cls(text, named or bare, sign, float(bound), bool(percent), kind == "value")

    @classmethod
    def of_value(cls, text: str) -> "Threshold":
        """A threshold for one run, which has no change: the bound is on the value."""
        found = cls.parse(text)
        if found.is_relative or re.match(r"\s*change\s*\(", text):
            raise ConfigError("", "--fail-if", f"{text!r}: one run has no change, so write 'workloads_not_ready > 0'")
        return replace(found, is_value=True)

    @property
    def meaning(self) -> str:
        """Whether the bound is on a change or on a value."""
        if self.is_value:
            return "value"
        return "change from the first run in percent" if self.is_relative else "change from the first run"

    def crossings(self, comparison: Comparison) -> list[str]:
        """A sentence for each run that is over the line, or whose number is missing."""
        number = comparison.number(self.number)
        found = []
        for place, run in enumerate(comparison.runs):
            if not place and not self.is_value:
                continue
            found += [f"{run.name}: {said} ({self.text}: {self.meaning})" for said in self._judged(number, place)]
        return found

    def _judged(self, number: Number, place: int) -> list[str]:
        values = number.values[place] if self.is_value else number.delta(place)
        if values is None:
            return [f"{self.number} is missing, so it cannot be judged"]
        judged = number.relative(place) if self.is_relative else values
        if judged is None or not _COMPARE[self.operator](judged, self.bound):
            return []
        if self.is_value:
            return [f"{self.number} is {judged:.4g}"]
        return [f"{self.number} changes by {judged:+.4g}{'%' if self.is_relative else ''}"]
