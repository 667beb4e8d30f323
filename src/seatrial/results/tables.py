"""The measures of a run as one JSON document."""

from typing import Any

from seatrial.results.measure import Measure
from seatrial.results.run import Run


def as_document(run: Run, measures: list[Measure]) -> dict[str, Any]:
    """Table and summary of each measure; null where the run does not tell it, and its name in `missing`."""
    document: dict[str, Any] = {}
    for measure in measures:
        document[measure.name] = None
        if not measure.lacking(run):
            table = measure.compute(run)
            document[measure.name] = {"summary": dict(measure.summary(table)), "rows": table.to_dicts()}
    return document | {"missing": [name for measure in measures for name in measure.missing(run)]}
