"""How fairly queues share a cluster over a run: the part each one holds, and how long it has less than it deserves."""

from dataclasses import dataclass

from seatrial.results.run import Run
from seatrial.results.volcano.jobs import MICROSECONDS, jobs_of
from seatrial.results.volcano.queues import ROOT, QueueMoment, queue_moments


@dataclass(frozen=True, slots=True)
class QueueFairness:
    """One leaf queue that had jobs, over the run."""

    queue: str
    dominant_share: float
    """The mean over time of the largest part of the cluster that it holds, of any resource."""
    of_deserved: float | None
    """The mean over time of the part of what it deserves that it holds; None where it deserved nothing."""
    below_deserved_s: float
    """Seconds in which it held less than it deserved while jobs of it waited."""


def fairness_of(run: Run) -> list[QueueFairness]:
    """Every leaf queue with jobs, by name; time counts from its first job to the end of the run."""
    jobs = jobs_of(run)
    begins: dict[str, int] = {}
    for job in jobs:
        begins[job.queue] = min(job.created, begins.get(job.queue, job.created))
    end = max((job.ends for job in jobs), default=0)
    moments: dict[str, list[QueueMoment]] = {}
    for moment in queue_moments(run):
        moments.setdefault(moment.queue, []).append(moment)
    totals = totals_of(run)
    return [
        _fairness(name, moments[name], begins[name], end, totals)
        for name in sorted(begins)
        if name in moments and name != ROOT
    ]


def jain(shares: list[float]) -> float | None:
    """Jain's index: 1 where all are equal, 1/n where one has all; None where nothing is shared."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else None


def totals_of(run: Run) -> dict[str, float]:
    """What all nodes of the run offer together; cpu in cores."""
    totals: dict[str, float] = {}
    for node in run.nodes:
        for name, amount in node.allocatable.items():
            totals[name] = totals.get(name, 0.0) + (amount / 1000 if name == "cpu" else amount)
    return totals


def _fairness(name: str, moments: list[QueueMoment], begin: int, end: int, totals: dict[str, float]) -> QueueFairness:
    dominant = of_deserved = below = deserving = 0.0
    for place, moment in enumerate(moments):
        until = moments[place + 1].time if place + 1 < len(moments) else end
        seconds = max(0, until - max(moment.time, begin)) / MICROSECONDS
        dominant += seconds * _dominant(moment, totals)
        if (part := _part_of_deserved(moment)) is not None:
            of_deserved += seconds * part
            deserving += seconds
        below += seconds * moment.is_below_deserved
    whole = (end - begin) / MICROSECONDS
    mean = of_deserved / deserving if deserving else None
    return QueueFairness(name, dominant / whole if whole else 0.0, mean, below)


def _dominant(moment: QueueMoment, totals: dict[str, float]) -> float:
    held = moment.amounts("allocated")
    return max((amount / totals[name] for name, amount in held.items() if totals.get(name)), default=0.0)


def _part_of_deserved(moment: QueueMoment) -> float | None:
    deserved, held = moment.amounts("deserved"), moment.amounts("allocated")
    parts = [min(held.get(name, 0.0) / amount, 1.0) for name, amount in deserved.items() if name != "pods"]
    return min(parts, default=None)
