"""A measure: a name, a definition, a table, and a few numbers to compare runs by.

A measure is declared once, with `@measure`, over a function from a Run to a polars DataFrame. Seatrial's own live in
`results/measures`, one file each; a user's come by the entry point group `seatrial.measures`, whose entries are modules
that declare measures in the same way.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Literal

import polars as pl

from seatrial.model.errors import ConfigError
from seatrial.results.facts import sentence
from seatrial.results.run import Run
from seatrial.scheduler.plugins import load_module

Better = Literal["higher", "lower", ""]
Table = Callable[[Run], pl.DataFrame]
Summary = Callable[[pl.DataFrame], Mapping[str, float | None]]


def no_summary(frame: pl.DataFrame) -> Mapping[str, float | None]:
    """The summary of a measure that has only a table."""
    return {}


_declared: dict[str, "Measure"] = {}


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure; its definition is the docstring of its table."""

    name: str
    table: Table
    unit: str
    better: Better
    summary: Summary
    needs: tuple[str, ...] = ()
    """Facts without which there is no table at all (`results/facts.py`)."""
    needed_by: Mapping[str, str] = field(default_factory=dict)
    """Facts without which single columns are null, by column."""
    numbers: tuple[str, ...] = ()
    """The names of the summary's numbers; `*` stands for a part that depends on the run, such as a resource."""

    def may_have(self, number: str) -> bool:
        """Whether the summary of a run may have a number of this name."""
        if not self.numbers and self.summary is not no_summary:
            return True  # a measure of a user that does not say
        return any(fnmatchcase(number, name) for name in self.numbers)

    @property
    def definition(self) -> str:
        return inspect.getdoc(self.table) or ""

    def compute(self, run: Run) -> pl.DataFrame:
        """The table of a run; ConfigError where the result does not hold what the measure needs."""
        if lacking := self.lacking(run):
            raise ConfigError(run.name, self.name, f"needs {lacking}")
        frame = self.table(run)
        nulls = [name for name, fact in self.needed_by.items() if fact in run.lacking and name in frame.columns]
        return frame.with_columns(pl.lit(None, dtype=frame.schema[name]).alias(name) for name in nulls)

    def lacking(self, run: Run) -> str:
        """What a run does not hold and this measure needs; empty where it has all."""
        return sentence({fact: run.lacking[fact] for fact in self.needs if fact in run.lacking})

    def missing(self, run: Run) -> list[str]:
        """The names of what this measure cannot tell of a run: its own, or MEASURE.COLUMN for each such column."""
        if self.lacking(run):
            return [self.name]
        return [f"{self.name}.{name}" for name, fact in self.needed_by.items() if fact in run.lacking]


def measure(
    name: str,
    *,
    unit: str = "",
    better: Better = "",
    needs: tuple[str, ...] = (),
    needed_by: Mapping[str, str] | None = None,
    summary: Summary | None = None,
    numbers: tuple[str, ...] = (),
) -> Callable[[Table], Table]:
    """Declare a measure; `needs` and `needed_by` name facts of `results.facts` that a result may lack.

    `numbers` names what the summary has, so that a wrong name in `--fail-if` is refused before anything runs.
    """

    def declare(table: Table) -> Table:
        _declared[name] = Measure(name, table, unit, better, summary or no_summary, needs, needed_by or {}, numbers)
        return table

    return declare


def total(frame: pl.DataFrame, column: str) -> float | None:
    """The sum of a column; None where it is missing."""
    return None if frame[column].null_count() else float(frame[column].sum())


def at_the_end(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of the last step."""
    return frame.filter(pl.col("step") == pl.col("step").max())


@lru_cache(maxsize=1)
def _load_all() -> None:
    """Import our measures and those that installed packages name, which declares them."""
    from seatrial.results import measures

    for module in pkgutil.iter_modules(measures.__path__):
        importlib.import_module(f"{measures.__name__}.{module.name}")
    for point in entry_points(group="seatrial.measures"):
        point.load()


def all_measures() -> Mapping[str, Measure]:
    """Every measure by name: ours, then those of users."""
    _load_all()
    return dict(sorted(_declared.items()))


def own_measure(name: str) -> Measure:
    """A measure of ours, which lives in the module of its name; the others are not loaded."""
    importlib.import_module(f"seatrial.results.measures.{name}")
    return _declared[name]


def load_measures(modules: Iterable[str]) -> None:
    """Declare the measures of modules or .py files; ConfigError if a module declares no measure."""
    for name in modules:
        before = dict(_declared)
        load_module(name)
        if _declared == before:
            raise ConfigError(name, "", "no function in it is declared with seatrial.results.measure.measure")


def find_measures(names: list[str]) -> list[Measure]:
    """The measures of these names; all measures if the list is empty."""
    known = all_measures()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError("", "measure", f"{unknown[0]!r} is not known; known are {', '.join(known)}")
    return [known[name] for name in names or known]
