"""Volcano's jobs in a run: every PodGroup under the name of its workload, with its phases and why it waited."""

from dataclasses import dataclass, field

import polars as pl

from seatrial.model.documents import Document, decode
from seatrial.results.run import Run

SESSION = "session"
"""The entry of rows in which a session of Volcano says something about a PodGroup or a Queue."""
STARTED = ("Running", "Completed", "Unknown")
READ = ("entry", "kind", "namespace", "name", "object")
MICROSECONDS = 1_000_000


@dataclass(slots=True)
class Said:
    """What a session said about a waiting job."""

    time: int
    document: Document


@dataclass(slots=True)
class VolcanoJob:
    """One PodGroup; times are microseconds, as the run counts them."""

    key: str
    """Namespace and name of the PodGroup."""
    title: str
    """Kind, namespace and name of the workload: `job default/train`, `deployment default/web`."""
    queue: str
    min_member: int
    created: int
    ends: int
    """When the run ends (of runs that are compared, the last), or the PodGroup was deleted."""
    phase: str = "Pending"
    running: int = 0
    is_deleted: bool = False
    phases: list[tuple[int, str]] = field(default_factory=list)
    """Each phase it came to, with the time."""
    said: list[Said] = field(default_factory=list)
    """Why it waited, whenever that changed."""

    def first(self, *phases: str) -> int | None:
        """When it first came to one of some phases."""
        return next((time for time, phase in self.phases if phase in phases), None)

    @property
    def let_in_s(self) -> float | None:
        """Seconds from its creation until it was let in; None where it never was."""
        return self._after(self.first("Inqueue", *STARTED))

    @property
    def started_s(self) -> float | None:
        """Seconds from its creation until its gang ran; None where it never did."""
        return self._after(self.first(*STARTED))

    @property
    def wait_s(self) -> float:
        """Seconds from its creation until its gang ran, or to the end where it never did."""
        return self.started_s if self.started_s is not None else (self.ends - self.created) / MICROSECONDS

    @property
    def is_waiting(self) -> bool:
        """Whether it is there at the end and its gang has not started."""
        return not self.is_deleted and self.first(*STARTED) is None

    @property
    def why(self) -> Document | None:
        """What the last session said, while it waits; also about pods beyond the gang."""
        if not self.said or self.is_deleted or self.phase == "Completed":
            return None
        last = self.said[-1]
        return last.document if last.time >= self.phases[-1][0] or self.is_waiting else None

    @property
    def size(self) -> str:
        """The class of sizes it is compared in, by the pods that must start together."""
        bounds = ((1, "1"), (8, "2-8"), (64, "9-64"))
        return next((name for most, name in bounds if self.min_member <= most), "65+")

    def _after(self, time: int | None) -> float | None:
        return None if time is None else (time - self.created) / MICROSECONDS


def jobs_of(run: Run) -> list[VolcanoJob]:
    """Every job of a run, in the order of creation; empty where Volcano takes no part."""
    table = run.timeline.table
    columns = [pl.col("time").dt.epoch("us"), *(pl.col(name) for name in READ)]
    rows = table.filter(pl.col("kind").is_in(["PodGroup", "ReplicaSet"])).select(columns).collect()
    if not (rows["kind"] == "PodGroup").any():
        return []
    last = max(run.last_time, run.until or 0)
    found: dict[str, VolcanoJob] = {}
    gone: list[VolcanoJob] = []
    deployments: dict[str, str] = {}
    for time, entry, kind, namespace, name, data in rows.iter_rows():
        key = f"{namespace}/{name}"
        if kind == "ReplicaSet":
            if data is not None and key not in deployments:
                deployments[key] = _owner(decode(data)["metadata"])[1]
        elif entry == SESSION:
            if key in found:
                found[key].said.append(Said(time, decode(data)))
        elif data is None:
            if job := found.pop(key, None):
                job.is_deleted, job.ends = True, time
                gone.append(job)
        else:
            _take(found, key, decode(data), time, last, deployments)
    return sorted((*found.values(), *gone), key=lambda job: (job.created, job.key))


def _take(
    found: dict[str, VolcanoJob], key: str, document: Document, time: int, last: int, deployments: dict[str, str]
) -> None:
    spec, status = document.get("spec") or {}, document.get("status") or {}
    job = found.get(key)
    if job is None:
        title = _title(key, document["metadata"], deployments)
        job = found[key] = VolcanoJob(key, title, spec.get("queue") or "", spec.get("minMember") or 0, time, last)
    job.queue, job.min_member = spec.get("queue") or "", spec.get("minMember") or 0
    job.phase, job.running = status.get("phase") or "Pending", status.get("running") or 0
    if not job.phases or job.phases[-1][1] != job.phase:
        job.phases.append((time, job.phase))


def _title(key: str, metadata: Document, deployments: dict[str, str]) -> str:
    namespace, _, own = key.partition("/")
    kind, name = _owner(metadata)
    if kind == "ReplicaSet" and (above := deployments.get(f"{namespace}/{name}")):
        kind, name = "Deployment", above
    return f"{kind.lower() or 'podgroup'} {namespace}/{name or own}"


def _owner(metadata: Document) -> tuple[str, str]:
    for owner in metadata.get("ownerReferences") or ():
        return owner.get("kind", ""), owner.get("name", "")
    return "", ""
