"""How fast an outside scheduler was, in real time."""

import polars as pl

from seatrial.model.documents import decode
from seatrial.results.measure import measure
from seatrial.results.run import Run

FILE = "outside.json"
SCHEMA = {"scheduler": pl.String, "decisions": pl.Int64, "p50": pl.Float64, "p99": pl.Float64, "cpu": pl.Float64}


def _sums(frame: pl.DataFrame) -> dict[str, float | None]:
    if frame.is_empty():
        return {}
    row = frame.row(0, named=True)
    return {f"outside_{name}": row[name] for name in ("p50", "p99", "cpu")}


@measure(
    "outside_time",
    unit="s",
    better="lower",
    summary=_sums,
    numbers=("outside_p50", "outside_p99", "outside_cpu"),
)
def outside_time(run: Run) -> pl.DataFrame:
    """Seconds of real time that an outside scheduler took from the release of a pod to its verdict, and of CPU.

    A pod is released when the turn of the scheduler begins, so pods that are released together also wait for each
    other. The CPU is that of the process that Seatrial started. A run without an outside scheduler has no rows.
    Summary: those of the first scheduler by name.
    """
    file = run.folder / FILE if run.folder is not None else None
    times = decode(file.read_bytes()) if file is not None and file.exists() else {}
    rows = [
        (name, told["decisions"], told["p50"], told["p99"], told["cpuSeconds"]) for name, told in sorted(times.items())
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
