"""Two runs of one scenario that differ."""

from dataclasses import replace
from pathlib import Path

from seatrial.api import run
from seatrial.results import Run

FOLDER = Path(__file__).parents[2] / "examples" / "spread-or-binpack"


def packed_and_spread() -> list[Run]:
    """Runs of the example spread-or-binpack with both of its configurations."""
    names = ("spread", "binpack")
    return [replace(run(FOLDER / "scenario.yaml", FOLDER / f"scheduler.{name}.yaml").run, name=name) for name in names]
