"""The answer to a question: what became of the nodes, which budget held which pod, and every workload."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import polars as pl

from seatrial.controllers import DRAIN, DRAINED, DrainHold, DrainRecord
from seatrial.model.documents import Document
from seatrial.model.durations import format_duration
from seatrial.model.times import SECOND, parse_time
from seatrial.results import Run, Workload, workloads_of
from seatrial.words import counted

COLUMNS = (
    "namespace", "kind", "name", "wanted", "ready_start", "ready_min", "ready_min_at", "ready_end", "moved", "pending",
    "lost", "why",
)  # fmt: skip
"""Of the table of workloads."""
_NEEDS = re.compile(r"needs (\d+) healthy pods and has (\d+) currently")


@dataclass(frozen=True, slots=True)
class Hold:
    """A pod that a budget held."""

    pod: str
    node: str
    budget: str
    why: str
    since: int
    """Seconds of virtual time since the start."""
    seconds: float | None
    """How long; None: to the end."""

    @property
    def cure(self) -> str:
        """How to let the pod go."""
        needs = _NEEDS.search(self.why)
        if needs and int(needs[2]) < int(needs[1]):
            return "its other pods are not ready: see to them first, or set unhealthyPodEvictionPolicy: AlwaysAllow"
        return f"let PodDisruptionBudget {self.budget} allow one disruption, or scale its workload up by one"


@dataclass(frozen=True, slots=True)
class Answer:
    """What would happen."""

    run: Run
    workloads: Sequence[Workload]
    drained: Sequence[str] = ()
    failed: dict[str, list[str]] = field(default_factory=dict)
    """The nodes that could not be drained, with kubectl's words."""
    unfinished: Sequence[str] = ()
    """Nodes whose drain goes on for ever."""
    unreached: Sequence[str] = ()
    """Nodes whose turn never came."""
    holds: Sequence[Hold] = ()
    seconds: float = 0.0
    """Virtual time from the start to the end of the last drain."""

    @property
    def worse(self) -> list[Workload]:
        """The workloads that are not as ready as before."""
        return [workload for workload in self.workloads if not workload.is_as_ready_as_before]

    @property
    def changed(self) -> list[Workload]:
        """The workloads that something happened to, those that miss most first."""
        found = [
            each
            for each in self.workloads
            if each.moved or each.lost or each.pending or each.ready_min_at or each.ready_end != each.ready_start
        ]
        return sorted(found, key=lambda each: (each.ready_end - each.wanted, -each.lost, each.namespace, each.name))

    def row(self, workload: Workload) -> Document:
        """A workload as the table has it."""
        return {name: getattr(workload, name) for name in COLUMNS}

    @property
    def is_well(self) -> bool:
        return self.run.phase == "Succeeded" and not (self.worse or self.failed or self.unfinished or self.unreached)

    def sentences(self) -> list[str]:
        """The answer in words, the most important first."""
        found = []
        if self.run.phase != "Succeeded":
            found.append(f"the scenario ended {self.run.phase}: {self.run.message}")
        total = counted(len(self.workloads), "workload")
        worse = self.worse
        lost = sum(workload.lost for workload in self.workloads)
        if worse:
            missing = sum(workload.wanted - workload.ready_end for workload in worse)
            pods = f"{counted(missing, 'replica')} not ready, {lost} of them lost for good"
            found.append(f"{len(worse)} of {total} not as ready as before: {pods}")
        else:
            found.append(f"all of {total} as ready as before")
        found += self._of_nodes()
        return found

    def _of_nodes(self) -> list[str]:
        count = len(self.drained) + len(self.failed) + len(self.unfinished) + len(self.unreached)
        if not count:
            return []
        parts = [f"{len(self.drained)} of {counted(count, 'node')} drained"]
        parts += [f"{len(self.failed)} failed"] if self.failed else []
        parts += [f"{', '.join(self.unfinished)} never done"] if self.unfinished else []
        parts += [f"{counted(len(self.unreached), 'node')} never reached"] if self.unreached else []
        return [f"{', '.join(parts)}; {format_duration(round(self.seconds) * SECOND)} of virtual time"]

    def document(self) -> Document:
        """The answer for programs."""
        holds = [
            {"pod": hold.pod, "node": hold.node, "budget": hold.budget, "why": hold.why, "since": hold.since,
             "seconds": hold.seconds, "cure": hold.cure}
            for hold in self.holds
        ]  # fmt: skip
        return {
            "isWell": self.is_well, "sentences": self.sentences(), "phase": self.run.phase, "seconds": self.seconds,
            "nodes": {"drained": list(self.drained), "failed": self.failed, "unfinished": list(self.unfinished),
                      "unreached": list(self.unreached)},
            "holds": holds, "workloads": [self.row(each) for each in self.workloads],
        }  # fmt: skip


def answer_of(run: Run) -> Answer:
    """Read the answer from a finished run."""
    begin = _begin(run)
    drained, failed, unfinished, unreached, holds = [], dict[str, list[str]](), [], [], list[Hold]()
    last = begin
    for node, record in _records(run).items():
        if record is None:
            unreached.append(node)
            continue
        if record.phase == "Drained":
            drained.append(node)
        elif record.phase == "Failed":
            failed[node] = record.errors
        else:
            unfinished.append(node)
        last = max(last, parse_time(record.finished) if record.finished else begin)
        holds += [_hold(node, hold, begin) for hold in record.held]
    return Answer(run, workloads_of(run), drained, failed, unfinished, unreached, holds, (last - begin) / SECOND)


def _hold(node: str, hold: DrainHold, begin: int) -> Hold:
    since = parse_time(hold.since)
    seconds = (parse_time(hold.until) - since) / SECOND if hold.until else None
    return Hold(hold.pod, node, hold.budget, hold.why, (since - begin) // SECOND, seconds)


def _begin(run: Run) -> int:
    """When the first operation was carried out."""
    assert run.table is not None
    rows = run.table.filter(pl.col("writer") != "snapshot").select(pl.col("time").dt.epoch("us").min())
    return int(rows.collect().item() or 0)


def _records(run: Run) -> dict[str, DrainRecord | None]:
    """What came of each marked node; None where its turn never came."""
    assert run.table is not None
    rows = run.table.filter((pl.col("kind") == "Node") & pl.col("object").is_not_null()).select("name", "object")
    found: dict[str, DrainRecord | None] = {}
    for name, data in rows.collect().iter_rows():
        if DRAIN not in data:
            continue
        notes = msgspec.json.decode(data)["metadata"].get("annotations") or {}
        if DRAIN in notes:
            found[name] = msgspec.json.decode(notes[DRAINED], type=DrainRecord) if DRAINED in notes else None
    return found
