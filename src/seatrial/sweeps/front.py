"""Which settings of a sweep are worth a look: the best by each objective, and the trade-off front.

Runs that differ in their seed alone are one setting, with the median of each number. Settings are only compared within
a scenario: another scenario asks for other pods.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import polars as pl

from seatrial.model.errors import ConfigError
from seatrial.sweeps.dataset import AXIS, Dataset
from seatrial.sweeps.spec import Objective, SweepSpec
from seatrial.sweeps.worker import FAILED


@dataclass(frozen=True, slots=True)
class Candidate:
    """A setting with the medians of the objectives."""

    labels: tuple[Any, ...]
    values: tuple[float, ...]
    runs: int
    point: int = 0
    """The first of its points."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The settings of one scenario."""

    scenario: str
    names: tuple[str, ...]
    """What the labels of a candidate are: the configuration and the axes, where they vary."""
    objectives: tuple[Objective, ...]
    candidates: tuple[Candidate, ...]

    @property
    def front(self) -> list[Candidate]:
        """Candidates that no other is at least as good as in everything and better in something."""
        kept = [each for each in self.candidates if not any(self._beats(other, each) for other in self.candidates)]
        return sorted(kept, key=lambda each: self._costs(each))

    def best(self, objective: int) -> Candidate:
        """The best by one objective; among equals the one with the better other objectives, then the first."""
        return min(self.candidates, key=lambda each: (self._costs(each)[objective], self._costs(each)))

    def _beats(self, one: Candidate, other: Candidate) -> bool:
        costs, others = self._costs(one), self._costs(other)
        return costs != others and all(a <= b for a, b in zip(costs, others, strict=True))

    def _costs(self, candidate: Candidate) -> tuple[float, ...]:
        """The values with the sign that makes less better."""
        return tuple(
            -value if objective.better == "higher" else value
            for objective, value in zip(self.objectives, candidate.values, strict=True)
        )


def directed(objectives: Sequence[Objective], dataset: Dataset) -> list[Objective]:
    """Objectives, with the direction of their measure by default; ConfigError if a measure is not known."""
    found = []
    for place, objective in enumerate(objectives):
        number, field = dataset.number(objective.number), f"objectives[{place}]"
        if number is None:
            known = ", ".join(dataset.number_names())
            raise ConfigError("", field, f"{objective.number!r} is not a number of these runs; known are {known}")
        better = objective.better or number.better
        if better not in ("higher", "lower"):
            why = f"say what is better: {{number: {objective.number}, better: higher}} or lower"
            raise ConfigError("", field, why)
        found.append(Objective(objective.number, "higher" if better == "higher" else "lower"))
    return found


def standings(table: pl.DataFrame, spec: SweepSpec, objectives: Sequence[Objective]) -> list[Standing]:
    """The settings of each scenario that has a run with all objectives."""
    numbers = [objective.number for objective in objectives]
    labels = [f"{AXIS}{axis.name}" for axis in spec.axes]
    labels = [*(["schedulerConfig"] if len(spec.scheduler_configs) > 1 else []), *labels]
    found = []
    for scenario in spec.scenarios:
        rows = table.filter((pl.col("scenario") == scenario) & (pl.col("phase") != FAILED)).drop_nulls(numbers)
        settings: dict[tuple[Any, ...], list[tuple[float, ...]]] = {}
        points: dict[tuple[Any, ...], int] = {}
        for row in rows.iter_rows(named=True):
            key = tuple(row[label] for label in labels)
            points.setdefault(key, row["point"])
            settings.setdefault(key, []).append(tuple(row[number] for number in numbers))
        candidates = [
            Candidate(key, tuple(median(values) for values in zip(*runs, strict=True)), len(runs), points[key])
            for key, runs in settings.items()
        ]
        if candidates:
            names = tuple(label.removeprefix(AXIS) for label in labels)
            found.append(Standing(scenario, names, tuple(objectives), tuple(candidates)))
    return found
