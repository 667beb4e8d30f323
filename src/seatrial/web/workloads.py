"""What became of the workloads of a snapshot, as the rows that the pages show."""

from typing import Any

from seatrial.results import Run, began_with_cluster, find_measures

MOST = 2_000
"""Workloads in a page."""


def workloads(run: Run) -> dict[str, Any] | None:
    """The table `workloads` with those first that something happened to; None without a snapshot or without writes."""
    if not began_with_cluster(run):
        return None
    (table,) = find_measures(["workloads"])
    if table.lacking(run):
        return None
    rows = table.compute(run).to_dicts()
    rows.sort(key=lambda row: (row["ready_end"] >= row["wanted"], not _is_touched(row)))
    return {"total": len(rows), "rows": rows[:MOST]} if rows else None


def _is_touched(row: dict[str, Any]) -> bool:
    is_lower = row["ready_min"] is not None and row["ready_min"] < row["ready_start"]
    return is_lower or any(row[name] for name in ("moved", "pending", "lost"))
