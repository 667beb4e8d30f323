"""The same load under two configurations of the scheduler: how long the jobs of each queue and size wait."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from seatrial.model.documents import Document
from seatrial.model.times import SECOND
from seatrial.vcsim.virtual_run import JobTimes, VirtualRun
from seatrial.vcsim.workload import Workload
from seatrial.volcano.config import read_conf

SIZES: Final = ((1, "1 pod"), (8, "2-8 pods"), (64, "9-64 pods"), (None, "65 or more"))
"""Classes of job sizes: the largest size of each, and its name."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long a class of jobs waited, in seconds; times are those of the jobs that started."""

    jobs: int
    started: int
    mean: float | None
    longest: float | None

    def document(self) -> dict[str, Any]:
        return {"jobs": self.jobs, "started": self.started, "meanWait": self.mean, "maxWait": self.longest}


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What came of one configuration."""

    conf: str
    by_queue: dict[str, Waiting]
    by_size: dict[str, Waiting]
    pods: int
    scheduled: int
    evictions: int
    cut: str
    """Why the run was cut off; empty where it was not."""
    pending: dict[str, str]
    """Why jobs still wait, by namespace/name."""


def simulate(nodes: Sequence[Document], workload: Workload, conf: Path) -> WhatIf:
    """Simulate a load under one configuration."""
    run = VirtualRun(list(nodes), read_conf(conf))
    run.simulate(workload, until_finished=True)
    jobs = list(run.jobs.values())
    return WhatIf(
        str(conf),
        _grouped(jobs, lambda job: job.queue),
        _grouped(jobs, lambda job: size_class(job.size)),
        run.expected(workload),
        run.scheduled,
        run.evictions,
        run.cut,
        run.reasons(),
    )


def size_class(size: int) -> str:
    """The name of the class that a job with this number of pods belongs to."""
    return next(name for most, name in SIZES if most is None or size <= most)


def _grouped(jobs: Sequence[JobTimes], key: Callable[[JobTimes], str]) -> dict[str, Waiting]:
    groups: dict[str, list[JobTimes]] = {}
    for job in jobs:
        groups.setdefault(key(job), []).append(job)
    order = [name for _, name in SIZES]
    names = sorted(groups, key=lambda name: (order.index(name) if name in order else 0, name))
    return {name: _waiting(groups[name]) for name in names}


def _waiting(jobs: Sequence[JobTimes]) -> Waiting:
    waits = [job.waited / SECOND for job in jobs if job.waited is not None]
    mean = round(sum(waits) / len(waits), 3) if waits else None
    return Waiting(len(jobs), len(waits), mean, round(max(waits), 3) if waits else None)


def comparison(a: WhatIf, b: WhatIf) -> list[str]:
    """Both outcomes next to each other, as lines for the terminal."""
    lines = [f"A: {a.conf}", f"B: {b.conf}", ""]
    for title, left, right in (("QUEUE", a.by_queue, b.by_queue), ("JOB SIZE", a.by_size, b.by_size)):
        head = f"{title:<20}{'JOBS':>6}{'STARTED A':>11}{'B':>8}{'MEAN WAIT A':>13}{'B':>10}{'MAX WAIT A':>12}{'B':>10}"
        lines.append(head)
        for name in dict.fromkeys([*left, *right]):
            x, y = left.get(name, _NOTHING), right.get(name, _NOTHING)
            lines.append(
                f"{name:<20}{max(x.jobs, y.jobs):>6}{x.started:>11}{y.started:>8}"
                f"{_seconds(x.mean):>13}{_seconds(y.mean):>10}{_seconds(x.longest):>12}{_seconds(y.longest):>10}"
            )
        lines.append("")
    lines.append(f"Pods scheduled: A {a.scheduled} of {a.pods}, B {b.scheduled} of {b.pods}")
    lines.append(f"Pods evicted:   A {a.evictions}, B {b.evictions}")
    lines += [f"Run {name} was cut off {found.cut}" for name, found in (("A", a), ("B", b)) if found.cut]
    for name, found in (("A", a), ("B", b)):
        lines += [f"Pending in {name}: {why}" for why in found.pending.values()]
    return lines


_NOTHING = Waiting(0, 0, None, None)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"


def document(*outcomes: WhatIf) -> dict[str, Any]:
    """The comparison as data."""
    return {
        "configurations": [
            {
                "conf": found.conf,
                "queues": {name: waiting.document() for name, waiting in found.by_queue.items()},
                "jobSizes": {name: waiting.document() for name, waiting in found.by_size.items()},
                "pods": found.pods,
                "scheduled": found.scheduled,
                "evicted": found.evictions,
                "cut": found.cut,
                "pending": found.pending,
            }
            for found in outcomes
        ]
    }
