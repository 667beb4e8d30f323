"""The workloads of a cluster in each run of a comparison, where the runs began with a snapshot."""

from dataclasses import dataclass
from typing import Any

from seatrial.results.comparison.comparison import Comparison
from seatrial.results.workloads import Name, Workload, began_with_cluster, workloads_of
from seatrial.words import counted

FIGURES = ("wanted", "ready_end", "moved", "pending", "lost", "why")
"""What is said of a workload in each run."""


@dataclass(frozen=True, slots=True)
class ComparedWorkload:
    """One workload, for each run; None where a run does not have it."""

    name: Name
    sides: tuple[Workload | None, ...]

    @property
    def is_ready(self) -> bool:
        """Whether it has all its pods in every run that has it."""
        return all(side is None or side.is_ready for side in self.sides)

    @property
    def shown(self) -> str:
        namespace, kind, name = self.name
        return f"{kind.lower()} {namespace}/{name}"

    def document(self) -> dict[str, Any]:
        """For programs; each figure is a list with a value for each run."""
        figures = {name: [getattr(side, name, None) for side in self.sides] for name in FIGURES}
        namespace, kind, name = self.name
        return {"namespace": namespace, "kind": kind, "name": name, **figures}


def compared_workloads(comparison: Comparison) -> list[ComparedWorkload]:
    """Every workload, by namespace, kind and name; empty where no run began with a snapshot."""
    if not any(began_with_cluster(run) for run in comparison.runs):
        return []
    found = [
        {(each.namespace, each.kind, each.name): each for each in workloads_of(run)} if run.table is not None else {}
        for run in comparison.runs
    ]
    names = sorted({name for side in found for name in side})
    return [ComparedWorkload(name, tuple(side.get(name) for side in found)) for name in names]


def workload_lines(comparison: Comparison, workloads: list[ComparedWorkload]) -> list[str]:
    """A sentence on all workloads, and one for each that has not all its pods in each run."""
    short = [each for each in workloads if not each.is_ready]
    if not workloads:
        return []
    if not short:
        return [f"all of {counted(len(workloads), 'workload')} ready in every run"]
    lines = [f"{len(short)} of {counted(len(workloads), 'workload')} not ready in every run"]
    for each in short:
        sides = zip(comparison.runs, each.sides, strict=True)
        told = [f"{run.name} {side.ready_end} of {side.wanted}{f' ({side.why})' if side.why else ''}"
                for run, side in sides if side is not None]  # fmt: skip
        lines.append(f"{each.shown}: ready in {'; in '.join(told)}")
    return lines
