"""One load under two configurations, or with other values of queues and jobs: how long the jobs of each queue wait."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from seatrial.model.documents import Document
from seatrial.model.times import SECOND
from seatrial.vcsim.virtual_run import JobTimes, VirtualRun
from seatrial.vcsim.workload import Workload
from seatrial.volcano.config import SchedulerConf

SIZES: Final = ((1, "1 pod"), (8, "2-8 pods"), (64, "9-64 pods"), (None, "65 or more"))
"""Classes of job sizes: the largest size of each, and its name."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long a class of jobs waited, in seconds; a job that never started waited until the end."""

    jobs: int
    started: int
    mean: float | None
    longest: float | None

    def document(self) -> dict[str, Any]:
        return {"jobs": self.jobs, "started": self.started, "meanWait": self.mean, "maxWait": self.longest}


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What came of one side."""

    title: str
    """The configuration, or what was set."""
    jobs: tuple[JobTimes, ...]
    end: int
    """When the run ended, in microseconds from its start."""
    pods: int
    scheduled: int
    evictions: int
    cut: str
    """Why the run was cut off; empty where it was not."""
    pending: dict[str, str]
    """Why jobs still wait, by namespace/name."""

    def by_queue(self, end: int) -> dict[str, Waiting]:
        """The waits of each queue; jobs that never started are counted until `end`."""
        return _grouped(self.jobs, lambda job: job.queue, end)

    def by_size(self, end: int) -> dict[str, Waiting]:
        """The same for each class of sizes."""
        return _grouped(self.jobs, lambda job: size_class(job.size), end)


def simulate(nodes: Sequence[Document], workload: Workload, conf: SchedulerConf | None, title: str) -> WhatIf:
    """Simulate a load under one configuration."""
    run = VirtualRun(list(nodes), conf)
    run.simulate(workload, until_finished=True)
    return WhatIf(
        title,
        tuple(run.jobs.values()),
        run.now(),
        run.expected(workload),
        run.scheduled,
        run.evictions,
        run.cut,
        run.reasons(),
    )


def size_class(size: int) -> str:
    """The name of the class that a job with this number of pods belongs to."""
    return next(name for most, name in SIZES if most is None or size <= most)


def _grouped(jobs: Sequence[JobTimes], key: Callable[[JobTimes], str], end: int) -> dict[str, Waiting]:
    groups: dict[str, list[JobTimes]] = {}
    for job in jobs:
        groups.setdefault(key(job), []).append(job)
    order = [name for _, name in SIZES]
    names = sorted(groups, key=lambda name: (order.index(name) if name in order else 0, name))
    return {name: _waiting(groups[name], end) for name in names}


def _waiting(jobs: Sequence[JobTimes], end: int) -> Waiting:
    waits = [(end - job.created if job.waited is None else job.waited) / SECOND for job in jobs]
    started = sum(job.waited is not None for job in jobs)
    return Waiting(len(jobs), started, round(sum(waits) / len(waits), 3), round(max(waits), 3))


def comparison(a: WhatIf, b: WhatIf) -> list[str]:
    """Both outcomes next to each other, as lines for the terminal."""
    lines = [f"A: {a.title}", f"B: {b.title}", ""]
    end = max(a.end, b.end)
    for title, left, right in (
        ("QUEUE", a.by_queue(end), b.by_queue(end)),
        ("JOB SIZE", a.by_size(end), b.by_size(end)),
    ):
        head = f"{title:<20}{'JOBS':>6}{'STARTED A':>11}{'B':>8}{'MEAN WAIT A':>13}{'B':>10}{'MAX WAIT A':>12}{'B':>10}"
        lines.append(head)
        for name in dict.fromkeys([*left, *right]):
            x, y = left.get(name, _NOTHING), right.get(name, _NOTHING)
            lines.append(
                f"{name:<20}{max(x.jobs, y.jobs):>6}{x.started:>11}{y.started:>8}"
                f"{_seconds(x, x.mean):>13}{_seconds(y, y.mean):>10}"
                f"{_seconds(x, x.longest):>12}{_seconds(y, y.longest):>10}"
            )
        lines.append("")
    lines.append(f"Pods scheduled: A {a.scheduled} of {a.pods}, B {b.scheduled} of {b.pods}")
    lines.append(f"Pods evicted:   A {a.evictions}, B {b.evictions}")
    lines += [f"Run {name} was cut off {found.cut}" for name, found in (("A", a), ("B", b)) if found.cut]
    for name, found in (("A", a), ("B", b)):
        lines += [f"Pending in {name}: {why}" for why in found.pending.values()]
    return lines


_NOTHING = Waiting(0, 0, None, None)


def _seconds(waiting: Waiting, value: float | None) -> str:
    """A wait; where some jobs never started it is longer than the run could show."""
    more = ">" if waiting.started < waiting.jobs else ""
    return "-" if value is None else f"{more}{value:.1f} s"


def document(*outcomes: WhatIf) -> dict[str, Any]:
    """The comparison as data."""
    end = max(found.end for found in outcomes)
    return {
        "configurations": [
            {
                "conf": found.title,
                "queues": {name: waiting.document() for name, waiting in found.by_queue(end).items()},
                "jobSizes": {name: waiting.document() for name, waiting in found.by_size(end).items()},
                "pods": found.pods,
                "scheduled": found.scheduled,
                "evicted": found.evictions,
                "cut": found.cut,
                "pending": found.pending,
            }
            for found in outcomes
        ]
    }
