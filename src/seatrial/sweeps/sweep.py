"""A sweep from its points to its table: known points are taken from disk, failed ones are tried again."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from seatrial.model.errors import ConfigError
from seatrial.sweeps.bundle import Bundle
from seatrial.sweeps.dataset import Dataset
from seatrial.sweeps.engines import Engine
from seatrial.sweeps.front import Standing, directed, standings
from seatrial.sweeps.points import Point
from seatrial.sweeps.spec import Objective
from seatrial.sweeps.worker import Outcome, Worker


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep and the folder of its results."""

    bundle: Bundle
    points: list[Point]
    dataset: Dataset
    path: Path
    """The file of the sweep, for messages."""

    def missing(self) -> list[Point]:
        """Points that have not succeeded yet."""
        return [point for point in self.points if self.dataset.succeeded(self.bundle.digest(point)) is None]

    def run(self, engine: Engine, points: list[Point], retries: int, advance: Callable[[], None]) -> None:
        """Run points, failed ones again at the end; what is done is on disk whatever ends this."""
        by_number = {point.number: point for point in points}
        is_checked = False
        try:
            for attempt in range(1, retries + 2):
                again: list[Point] = []
                for outcome in engine.outcomes(points):
                    point = by_number[outcome.point]
                    if outcome.has_failed and attempt <= retries:
                        again.append(point)
                        continue
                    self.dataset.add(self.bundle.digest(point), outcome, attempt)
                    advance()
                    is_checked = is_checked or self._check_objectives(outcome)
                points = sorted(again, key=lambda each: each.number)
        finally:
            self.dataset.flush()

    def finish(self) -> tuple[pl.DataFrame, list[Standing]]:
        """The table, which is written too, and how the settings compare."""
        spec = self.bundle.spec
        # Without a run that succeeded there is nothing to check objectives by, and nothing to compare.
        objectives = self._objectives() if spec.objectives and self.dataset.number_names() else []
        table = self.dataset.finish(self.bundle, self.points, objectives)
        return table, standings(table, spec, objectives) if objectives else []

    def keep_front(self, compared: list[Standing], folder: Path) -> list[Path]:
        """Play one run of each setting on a front again, with everything that pages show; their folders.

        Runs of a sweep keep numbers alone, so that thousands of them need no room.
        """
        by_number = {point.number: point for point in self.points}
        worker = Worker(self.bundle)
        try:
            front = sorted({candidate.point for standing in compared for candidate in standing.front})
            return [worker.keep(by_number[number], folder / str(number)) for number in front]
        finally:
            worker.close()

    def _check_objectives(self, outcome: Outcome) -> bool:
        """Refuse objectives that are no numbers of these runs at the first run that could have them."""
        if not outcome.numbers:
            return False
        self._objectives()
        return True

    def _objectives(self) -> list[Objective]:
        try:
            return directed(self.bundle.spec.all_objectives, self.dataset)
        except ConfigError as error:
            raise ConfigError(str(self.path), error.field, error.why) from error
