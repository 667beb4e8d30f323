"""The option `--scale` of benchmarks."""

import math
from typing import Annotated

import typer


def _finite(value: float) -> float:
    """A minimum alone lets nan and inf pass."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


Scale = Annotated[float, typer.Option(help="Share of the nodes and pods.", min=0.001, callback=_finite)]
