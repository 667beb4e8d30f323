"""The reasons for which nodes were rejected."""

import polars as pl

from seatrial.model.documents import decode
from seatrial.results.measure import measure
from seatrial.results.run import Run

ANNOTATION = "kube-scheduler-simulator.sigs.k8s.io/filter-result"


@measure("scheduling_results", unit="nodes", needs_attempts=True)
def scheduling_results(run: Run) -> pl.DataFrame:
    """Reasons for which nodes were rejected, over all attempts.

    From the timeline where there is one; else from the filter-result annotation of pods, as kube-scheduler-simulator
    writes it (which has only the last attempt of each pod). One row a reason: attempts it occurred in, and nodes
    rejected for it.
    """
    if run.table is not None:
        frame = run.table.filter(pl.col("entry") == "attempt").select("reasons").explode("reasons").unnest("reasons")
        counted = (
            frame.drop_nulls("reason")
            .group_by("reason")
            .agg(pl.len().cast(pl.Int64).alias("attempts"), pl.col("count").sum().cast(pl.Int64).alias("nodes"))
        )
        return counted.sort(["nodes", "reason"], descending=[True, False]).collect()
    return _from_annotations(run)


def _from_annotations(run: Run) -> pl.DataFrame:
    seen: dict[str, dict[str, int]] = {}
    for entry in run:
        document = entry.object if entry.kind == "Pod" else None
        text = ((document or {}).get("metadata", {}).get("annotations") or {}).get(ANNOTATION)
        if not text:
            continue
        reasons: dict[str, int] = {}
        for verdicts in decode(text).values():
            for verdict in verdicts.values():
                if verdict != "passed":
                    reasons[verdict] = reasons.get(verdict, 0) + 1
        seen[f"{entry.namespace}/{entry.name}"] = reasons
    rows: dict[str, list[int]] = {}
    for reasons in seen.values():
        for reason, count in reasons.items():
            row = rows.setdefault(reason, [0, 0])
            row[0] += 1
            row[1] += count
    data = [(reason, attempts, nodes) for reason, (attempts, nodes) in rows.items()]
    data.sort(key=lambda row: (-row[2], row[0]))
    return pl.DataFrame(data, schema={"reason": pl.String, "attempts": pl.Int64, "nodes": pl.Int64}, orient="row")
