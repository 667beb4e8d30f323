"""Measured figures with what they must be and what we want them to be."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number; `more_is_better` says which way the limits are meant."""

    name: str
    value: float
    unit: str
    must: float | None = None
    goal: float | None = None
    more_is_better: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the number is as it must be."""
        return self.must is None or self._reaches(self.must)

    def text(self) -> str:
        """The figure with its limits on one line."""
        limits = [
            f"{word} {limit:g}" for word, limit in (("must", self.must), ("goal", self.goal)) if limit is not None
        ]
        verdict = "" if self.must is None and self.goal is None else f"  ({', '.join(limits)}: {self.verdict})"
        return f"{self.name}: {self.value:,.{1 if self.value >= 100 else 2}f} {self.unit}{verdict}"

    @property
    def verdict(self) -> str:
        """How the number compares with its limits."""
        if not self.is_met:
            return "MISSED"
        return "ok" if self.goal is None or self._reaches(self.goal) else "ok, goal not reached"

    def _reaches(self, limit: float) -> bool:
        return self.value >= limit if self.more_is_better else self.value <= limit


def all_met(figures: Sequence[Figure]) -> bool:
    """Whether every figure is as it must be."""
    return all(figure.is_met for figure in figures)
