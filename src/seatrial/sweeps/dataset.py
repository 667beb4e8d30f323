"""The results of a sweep on disk, so that a sweep which was stopped goes on where it was.

`outcomes/` has the outcome of every point that was ever run here, by the digest of its input, in files that appear
whole; `sweep.parquet` has one row for each point of the sweep.
"""

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import polars as pl

from seatrial.model.errors import ConfigError
from seatrial.sweeps.bundle import Bundle
from seatrial.sweeps.points import Point
from seatrial.sweeps.spec import OWN_COLUMNS, Objective
from seatrial.sweeps.worker import Number, Outcome

TABLE = "sweep.parquet"
RUNS = "runs"
"""The folder of the runs that were kept, each named by the number of its point."""
OUTCOMES = "outcomes"
OBJECTIVES = "objectives"
"""In the metadata of the table: number and direction of each, as JSON."""
AXIS = "axis."
"""Before the name of an axis in a column, so that it never is the name of a number."""
EVERY_SECONDS = 1.0
"""Outcomes that follow the last write by less may be lost when the sweep is killed."""
_SCHEMA = {"digest": pl.String, "phase": pl.String, "message": pl.String, "tries": pl.Int64, "numbers": pl.String}
_numbers = msgspec.json.Decoder(dict[str, Number])


class Dataset:
    """The outcomes of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts = folder / OUTCOMES
        self._parts.mkdir(exist_ok=True)
        self._known: dict[str, tuple[Outcome, int]] = {}
        self._new: list[tuple[str, Outcome, int]] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        files = self._files()
        for file in files:
            self._load(file)
        self._next = int(files[-1].stem.split("-")[1]) + 1 if files else 0

    def succeeded(self, digest: str) -> Outcome | None:
        """What is known of a point that need not run again."""
        outcome, _ = self._known.get(digest, (None, 0))
        return None if outcome is None or outcome.has_failed else outcome

    def add(self, digest: str, outcome: Outcome, tries: int) -> None:
        """Keep an outcome; those of one second are written together, even if the next point takes long."""
        with self._lock:
            self._known[digest] = outcome, tries
            self._new.append((digest, outcome, tries))
            if self._timer is None:
                self._timer = threading.Timer(EVERY_SECONDS, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write what is not on disk yet."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._new:
                self._write(self._new)
                self._new = []

    def finish(self, bundle: Bundle, points: Iterable[Point], objectives: Sequence[Objective]) -> pl.DataFrame:
        """Write the table of the sweep, and one file in the place of many; the table."""
        self.flush()
        table = self._table(bundle, points)
        _write(table, self._folder / TABLE, {OBJECTIVES: msgspec.json.encode(objectives).decode()})
        files = self._files()
        if len(files) > 1:
            self._write([(digest, *known) for digest, known in self._known.items()])
            for file in files:
                file.unlink()
        return table

    def _files(self) -> list[Path]:
        return sorted(self._parts.glob("part-*.parquet"))

    def _load(self, file: Path) -> None:
        try:
            rows = pl.read_parquet(file, schema=_SCHEMA).iter_rows(named=True)
            for row in rows:
                outcome = Outcome(-1, row["phase"], row["message"], _numbers.decode(row["numbers"]))
                self._known[row["digest"]] = outcome, row["tries"]
        except (pl.exceptions.PolarsError, msgspec.DecodeError) as error:
            why = f"cannot be read: {' '.join(str(error).split())}; delete it to run its points again"
            raise ConfigError(str(file), "", why) from error

    def _write(self, outcomes: list[tuple[str, Outcome, int]]) -> None:
        rows = [
            (digest, outcome.phase, outcome.message, tries, msgspec.json.encode(outcome.numbers).decode())
            for digest, outcome, tries in outcomes
        ]
        _write(pl.DataFrame(rows, schema=_SCHEMA, orient="row"), self._parts / f"part-{self._next:06d}.parquet")
        self._next += 1

    def _table(self, bundle: Bundle, points: Iterable[Point]) -> pl.DataFrame:
        found = [(point, *self._known[bundle.digest(point)]) for point in points]
        names = sorted({name for _, outcome, _ in found for name in outcome.numbers} - set(OWN_COLUMNS))
        columns = [
            pl.Series("point", [point.number for point, *_ in found], pl.Int64),
            pl.Series("scenario", [point.setting.scenario for point, *_ in found], pl.String),
            pl.Series("schedulerConfig", [point.setting.config for point, *_ in found], pl.String),
            pl.Series("seed", [point.seed for point, *_ in found], pl.Int64),
            *(
                _column(f"{AXIS}{axis.name}", [point.setting.values[place] for point, *_ in found])
                for place, axis in enumerate(bundle.spec.axes)
            ),
            pl.Series("phase", [outcome.phase for _, outcome, _ in found], pl.String),
            pl.Series("message", [outcome.message for _, outcome, _ in found], pl.String),
            pl.Series("tries", [tries for *_, tries in found], pl.Int64),
        ]
        for name in names:
            numbers = [outcome.numbers.get(name) for _, outcome, _ in found]
            values = [None if number is None else number.value for number in numbers]
            columns.append(pl.Series(name, values, pl.Float64))
        return pl.DataFrame(columns)

    def number(self, name: str) -> Number | None:
        """Any number of this name, for its unit and direction."""
        return next((known.numbers[name] for known, _ in self._known.values() if name in known.numbers), None)

    def number_names(self) -> list[str]:
        return sorted({name for known, _ in self._known.values() for name in known.numbers})


def _column(name: str, values: list[object]) -> pl.Series:
    """Values of an axis: numbers or texts as they are, anything else as JSON."""
    kinds = {type(value) for value in values}
    if kinds in ({int}, {str}, {bool}):
        return pl.Series(name, values)
    if kinds <= {int, float}:
        return pl.Series(name, values, pl.Float64, strict=False)
    texts = [value if isinstance(value, str) else msgspec.json.encode(value).decode() for value in values]
    return pl.Series(name, texts, pl.String)


def _write(table: pl.DataFrame, target: Path, metadata: dict[str, str] | None = None) -> None:
    partial = target.with_name(f".{target.name}.partial")
    table.write_parquet(partial, compression="zstd", metadata=metadata)
    partial.replace(target)
