"""A measure: a name, a definition, a table, and a few numbers to compare runs by.

A measure is declared once, with `@measure`, over a function from a Run to a polars DataFrame. Seatrial's own live in
`results/measures`, one file each; a user's come by the entry point group `seatrial.measures`, whose entries are modules
that declare measures in the same way.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Literal

import polars as pl

from seatrial.model.errors import ConfigError
from seatrial.results.run import Run

Better = Literal["higher", "lower", ""]
Table = Callable[[Run], pl.DataFrame]
Summary = Callable[[pl.DataFrame], Mapping[str, float | None]]

_declared: dict[str, "Measure"] = {}


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure; its definition is the docstring of its table."""

    name: str
    table: Table
    unit: str
    better: Better
    summary: Summary
    needs_timeline: bool = False
    needs_attempts: bool = False
    """Whether attempts are needed; those of a plain result are enough."""

    @property
    def definition(self) -> str:
        return inspect.getdoc(self.table) or ""

    def compute(self, run: Run) -> pl.DataFrame:
        """The table of a run; ConfigError where the result does not hold what the measure needs."""
        if lacking := self.lacking(run):
            raise ConfigError(run.name, self.name, f"needs {lacking}")
        return self.table(run)

    def lacking(self, run: Run) -> str:
        """What a run does not hold and this measure needs; empty where it has all."""
        return run.lacks if self.needs_timeline or (self.needs_attempts and run.is_without_attempts) else ""


def measure(
    name: str,
    *,
    unit: str = "",
    better: Better = "",
    needs_timeline: bool = False,
    needs_attempts: bool = False,
    summary: Summary | None = None,
) -> Callable[[Table], Table]:
    """Declare a measure."""

    def declare(table: Table) -> Table:
        summarise = summary or (lambda frame: {})
        _declared[name] = Measure(name, table, unit, better, summarise, needs_timeline, needs_attempts)
        return table

    return declare


def at_the_end(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of the last step."""
    return frame.filter(pl.col("step") == pl.col("step").max())


@lru_cache(maxsize=1)
def all_measures() -> Mapping[str, Measure]:
    """Every measure by name: ours, then those of users."""
    from seatrial.results import measures

    for module in pkgutil.iter_modules(measures.__path__):
        importlib.import_module(f"{measures.__name__}.{module.name}")
    for point in entry_points(group="seatrial.measures"):
        point.load()
    return dict(sorted(_declared.items()))


def find_measures(names: list[str]) -> list[Measure]:
    """The measures of these names, all where none is named."""
    known = all_measures()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError("", "measure", f"{unknown[0]!r} is not known; known are {', '.join(known)}")
    return [known[name] for name in names or known]
