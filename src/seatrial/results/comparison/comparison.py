"""Compares runs of one scenario: their numbers, and the pods that were placed differently.

The first run is the one the others are measured against.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from seatrial.model.errors import ConfigError
from seatrial.notebook import comparison_html
from seatrial.results.comparison.reasons import Attempts, reason
from seatrial.results.comparison.significance import Significance, signed_rank_p
from seatrial.results.comparison.switched_off import FreedPool, freed_nodes
from seatrial.results.lifecycles import Which
from seatrial.results.measure import Better, Measure, find_measures
from seatrial.results.run import Run

EXPLAINED = 1000
"""Differences for which a reason is worked out."""
WORK = frozenset({"pending", "preemptions", "scheduler_work", "scheduling_results", "throughput", "waiting"})
"""Measures of what a scheduler did, which a cluster as it is has none of."""
AT_ONCE = 250
"""Pods whose attempts are in memory at once: one attempt may have thousands of nodes."""


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a measure, for each run (None: not known)."""

    name: str
    measure: str
    unit: str
    better: Better
    values: tuple[float | None, ...]

    def delta(self, run: int) -> float | None:
        """The value of a run minus that of the first."""
        first, value = self.values[0], self.values[run]
        return None if first is None or value is None else value - first

    def is_better(self, run: int) -> bool:
        """Whether the value of a run that differs is better than that of the first."""
        return ((self.delta(run) or 0) > 0) == (self.better == "higher")

    @property
    def differs(self) -> bool:
        """Whether the runs have different values."""
        return len(set(self.values)) > 1

    def relative(self, run: int) -> float | None:
        """The delta in percent of the first run's value."""
        first, delta = self.values[0], self.delta(run)
        return None if delta is None or not first else 100.0 * delta / abs(first)


@dataclass(frozen=True, slots=True)
class Difference:
    """A pod that went elsewhere; None for nowhere."""

    pod: str
    nodes: tuple[str | None, ...]
    reason: str
    number: int = 0
    """Which of the pods that had this name in turn."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A number over seeds."""

    name: str
    run: int
    least: float
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `seatrial compare` knows."""

    runs: tuple[Run, ...]
    numbers: tuple[Number, ...]
    differences: tuple[Difference, ...]
    spread: tuple[Spread, ...] = ()
    significance: tuple[Significance, ...] = ()
    has_now: bool = False
    """Whether the first run is the cluster as it is, in which nothing was scheduled."""
    pool_label: str = ""
    """The label that names a node's pool; empty: the usual ones."""

    def _repr_html_(self) -> str:
        return comparison_html(self)

    def freed(self, run: int) -> list[FreedPool]:
        """The nodes that could be switched off at the end of a run, by pool."""
        return freed_nodes(self.runs[0], self.runs[run], self.pool_label)

    def significance_of(self, number: Number, run: int) -> Significance | None:
        """Whether the change of a number in a run is more than luck; None without several seeds."""
        return next((each for each in self.significance if (each.name, each.run) == (number.name, run)), None)

    @property
    def moved(self) -> tuple[Which, ...]:
        """The pods that went elsewhere."""
        return tuple((difference.pod, difference.number) for difference in self.differences)

    @property
    def failed(self) -> tuple[Run, ...]:
        """The runs that ended Failed: their numbers are of a part of the scenario, neither better nor worse."""
        return tuple(run for run in self.runs if run.phase == "Failed")

    def number(self, name: str) -> Number:
        found = next((number for number in self.numbers if number.name == name), None)
        if found is None:
            known = ", ".join(number.name for number in self.numbers)
            raise ConfigError("", "measure", f"no run has {name!r}; they have {known}")
        return found


def compare(
    runs: list[Run],
    measures: list[str] | None = None,
    seeds: list[list[Run]] | None = None,
    *,
    has_now: bool = False,
    pool_label: str = "",
) -> Comparison:
    """Compare runs of the same scenario; `seeds` has more runs of each, for the spread.

    `has_now`: the first run is the cluster as it is; measures of work say nothing of it.
    """
    _same_scenario(runs[has_now:])
    chosen = find_measures(measures or [])
    _end_together([*runs, *(run for of_side in seeds or () for run in of_side)])
    numbers = _numbers(runs, chosen)
    spread: list[Spread] = []
    significance: list[Significance] = []
    if seeds:
        by_run = [_numbers(each, chosen) for each in seeds]
        numbers, spread = _over_seeds(numbers, by_run)
        significance = list(_significance(by_run))
    if has_now:
        numbers = [_without_now(number) for number in numbers]
    # Rows that changed come first: most are equal where two configurations differ in one argument.
    numbers.sort(key=lambda number: not number.differs)
    return Comparison(
        tuple(runs),
        tuple(numbers),
        tuple(_differences(runs, has_now=has_now)),
        tuple(spread),
        tuple(significance),
        has_now,
        pool_label,
    )


def _end_together(runs: list[Run]) -> None:
    """Let jobs that never start wait equally long in all runs: a run in which nothing more happens ends early."""
    last = max(run.last_time for run in runs)
    for run in runs:
        run.until = last


def _without_now(number: Number) -> Number:
    if number.measure not in WORK:
        return number
    return Number(number.name, number.measure, number.unit, number.better, (None, *number.values[1:]))


def _same_scenario(runs: list[Run]) -> None:
    first = runs[0]
    for run in runs[1:]:
        if bytes(run.header.spec) != bytes(first.header.spec):
            raise ConfigError(
                run.name, "spec", f"is another scenario than that of {first.name}; compare runs of the same one"
            )


def _numbers(runs: list[Run], measures: Iterable[Measure]) -> list[Number]:
    numbers = []
    for measure in measures:
        summaries = [_summary(measure, run) for run in runs]
        names = list(dict.fromkeys(name for summary in summaries for name in summary))
        for name in names:
            values = tuple(summary.get(name) for summary in summaries)
            numbers.append(Number(name, measure.name, measure.unit, measure.better, values))
    return numbers


def _summary(measure: Measure, run: Run) -> Mapping[str, float | None]:
    if measure.lacking(run):
        return {}
    return measure.summary(measure.compute(run))


def _over_seeds(numbers: list[Number], by_run: list[list[Number]]) -> tuple[list[Number], list[Spread]]:
    """Medians in the place of single values, and how far apart the seeds are."""
    found = [{number.name: number.values for number in of_run} for of_run in by_run]
    medians, spread = [], []
    for number in numbers:
        values: list[float | None] = []
        for place, of_run in enumerate(found):
            known = [value for value in of_run.get(number.name, ()) if value is not None]
            values.append(median(known) if known else None)
            if known:
                spread.append(Spread(number.name, place, min(known), median(known), max(known)))
        medians.append(Number(number.name, number.measure, number.unit, number.better, tuple(values)))
    return medians, spread


def _significance(by_run: list[list[Number]]) -> Iterator[Significance]:
    """Test every number of every run but the first; runs of the same seed are a pair."""
    first, *others = ({number.name: number.values for number in of_run} for of_run in by_run)
    for place, of_run in enumerate(others, 1):
        for name, values in of_run.items():
            pairs = zip(first.get(name, ()), values, strict=False)
            differences = [there - here for here, there in pairs if here is not None and there is not None]
            if differences:
                yield Significance(name, place, len(differences), signed_rank_p(differences))


def _differences(runs: list[Run], *, has_now: bool = False) -> list[Difference]:
    """Pods of the first run that went elsewhere in another; names that recur are matched in order."""
    homes = [_homes(run) for run in runs]
    moved: list[tuple[Which, tuple[str | None, ...]]] = []
    for key in homes[0]:
        nodes = tuple(home.get(key) for home in homes)
        if len(set(nodes)) > 1 and all(key in home for home in homes):
            moved.append((key, nodes))
    # The cluster as it is has no attempt to hold others against.
    explained = 0 if has_now else min(len(moved), EXPLAINED)
    reasons = [why for start in range(0, explained, AT_ONCE)
               for why in _reasons(runs, moved[start : start + AT_ONCE])]  # fmt: skip
    reasons += [""] * (len(moved) - len(reasons))
    return [Difference(pod, nodes, why, at) for ((pod, at), nodes), why in zip(moved, reasons, strict=True)]


def _reasons(runs: list[Run], moved: list[tuple[Which, tuple[str | None, ...]]]) -> list[str]:
    pods = [pod for pod, _ in moved]
    attempts = [Attempts(run, pods) for run in runs]
    found = []
    for pod, nodes in moved:
        other = next(i for i, node in enumerate(nodes) if node != nodes[0])
        found.append(reason(pod, nodes[0], nodes[other], attempts[0], attempts[other]))
    return found


def _homes(run: Run) -> dict[Which, str | None]:
    homes: dict[Which, str | None] = {}
    seen: dict[str, int] = {}
    for pod in run.pods:
        number = seen.get(pod.key, 0)
        seen[pod.key] = number + 1
        homes[pod.key, number] = pod.node or None
    return homes
