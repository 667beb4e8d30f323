"""What arrives in a virtual run, and when: from a test, or from tables of pods."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from seatrial.model.documents import Document
from seatrial.model.times import SECOND
from seatrial.vcsim.kinds import TimingConfig
from seatrial.vcsim.load import Load


@dataclass(frozen=True, slots=True)
class Arrival:
    """An object and the moment of its creation, in microseconds from the start."""

    at: int
    document: Document
    path: Path
    pods: int = 0
    """How many pods the object leads to."""


@dataclass(frozen=True, slots=True)
class Workload:
    """All that happens to a cluster from outside."""

    prepared: list[Document]
    arrivals: list[Arrival]
    pods: int
    """How many pods the arrivals lead to, without those of DaemonSets."""
    reason: str = ""
    """Why not everything arrives; empty where it does."""


def load_workload(load: Load, timing: TimingConfig) -> Workload:
    """The objects of a test at its rate, as many as its duration allows."""
    arrivals: list[Arrival] = []
    pods = total = 0
    for number, (item, document) in enumerate(load.copies()):
        total += 1
        seconds = number / timing.qps
        if seconds <= timing.duration:
            arrivals.append(Arrival(round(seconds * SECOND), document, item.path, item.pods))
            pods += item.pods
    reason = ""
    if len(arrivals) < total:
        reason = f"{len(arrivals)} of {total} objects were created within the duration of {timing.duration:g} s"
    return Workload([*load.namespace_documents(), *load.prepared], arrivals, pods, reason)


def in_order(arrivals: Iterable[Arrival]) -> list[Arrival]:
    """Arrivals by time; those of one moment in the order given."""
    return sorted(arrivals, key=lambda arrival: arrival.at)
