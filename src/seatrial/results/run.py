"""A finished run: its scenario, its entries, its attempts, and the lifecycles of its nodes and pods.

The one reader of results. A run is read from an `--out` folder, from a Scenario with its result alone (`result.json`,
`kubectl get scenario -o json`, standard input), or is in memory; every input gives the same values, and `lacking` says
what an input does not tell. See `facts.py` and `inputs.py`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from seatrial.model.documents import Document, decode
from seatrial.results.entries import Entry, entries_of_table, frame_of_table
from seatrial.results.facts import ATTEMPTS, NODES_TRIED, UNRECORDED, lacking, sentence
from seatrial.results.headers import Header
from seatrial.results.inputs import read_folder, read_input
from seatrial.results.lifecycle_reader import Histories, Moment, histories_of, moments, pods_around
from seatrial.results.lifecycles import Lives, NodeLife, PodLife, Which
from seatrial.results.scenario_table import has_unlisted_attempts, timeline_of_scenario
from seatrial.timeline import NOT_IN_TIMELINE, Attempt, TimelineReader

FEW_PODS = 4
"""Pods that are looked for one by one; where more are asked about, all are read."""


@dataclass(frozen=True, slots=True)
class Step:
    """One major step."""

    major: int
    minors: int
    time: int


@dataclass
class Run:
    """One run of a scenario."""

    name: str
    data: bytes
    """The Scenario with its result, as JSON; with a table it may lack the timeline, which is then in `file`."""
    folder: Path | None = None
    table: pl.LazyFrame | None = None
    dictionary: Document = field(default_factory=dict)
    file: Path | None = None
    grids: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=dict, repr=False)
    """What `usage` has worked out, by resource."""
    until: int | None = None
    """When runs that are compared are all over, in microseconds: what never ends in one of them lasts until then."""
    around: dict[str, list[PodLife]] = field(default_factory=dict, repr=False)
    """What `pods_around` has worked out, by pod."""

    def __repr__(self) -> str:
        return f"<Run {self.name}: {self.phase}, {len(self.steps)} steps>"

    @classmethod
    def load(cls, source: Path | str, outline: bytes | None = None) -> "Run":
        """Read an `--out` folder, a `result.json`, a served Scenario in JSON or YAML, or standard input (`-`).

        With `outline`, a Scenario whose result has no timeline, the `result.json` of a folder is not read.
        """
        found = read_input(source) if outline is None else read_folder(Path(source), outline)
        if found.timeline is None:
            return cls(found.name, found.data, found.folder)
        timeline = found.timeline
        return cls(found.name, found.data, found.folder, timeline.table, timeline.dictionary, found.file)

    @cached_property
    def timeline(self) -> TimelineReader:
        """The rows of `timeline.parquet`; of a Scenario alone, the rows that its result tells."""
        if self.table is None:
            return timeline_of_scenario(self.document)
        return TimelineReader(self.table, self.dictionary)

    @cached_property
    def attempted(self) -> TimelineReader:
        """The rows of attempts; a run with `--record none` has them in its Scenario, which lists their steps."""
        is_in_scenario = self.table is not None and self.timeline.are_attempts_unrecorded
        return timeline_of_scenario(self.document) if is_in_scenario else self.timeline

    @cached_property
    def last_time(self) -> int:
        """The time of the last entry, in microseconds; 0 where the result has no times."""
        return self.timeline.table.select(pl.col("time").dt.epoch("us").max()).collect().item() or 0

    @cached_property
    def lacking(self) -> Mapping[str, str]:
        """The facts that this result lacks, each with the reason."""
        if not self.attempted.is_of_scenario:
            return {}
        told: Document = (self.document.get("status") or {}).get(NOT_IN_TIMELINE) or {}
        facts = lacking(told, has_unlisted_attempts=has_unlisted_attempts(self.attempted.table))
        if self.timeline.is_of_scenario:
            return facts
        return {fact: UNRECORDED for fact in (ATTEMPTS, NODES_TRIED) if fact in facts}

    @property
    def lacks(self) -> str:
        """What this result lacks, in words; empty where it is complete."""
        return sentence(self.lacking)

    @cached_property
    def document(self) -> Document:
        """The Scenario with its result."""
        document: Document = decode(self.whole_data())
        return document

    def whole_data(self) -> bytes:
        """The Scenario with its result and its timeline, as JSON."""
        return self.data if self.file is None else self.file.read_bytes()

    @cached_property
    def header(self) -> Header:
        return msgspec.json.decode(self.data, type=Header)

    @property
    def phase(self) -> str:
        return self.header.status.phase

    @property
    def message(self) -> str:
        return self.header.status.message or ""

    @property
    def version(self) -> str:
        """The version of the simulator that made this result."""
        return self.header.status.scenario_result.simulator_version

    @property
    def scenario_name(self) -> str:
        return self.header.metadata.name

    def __iter__(self) -> Iterator[Entry]:
        """Every entry in order."""
        return self.entries()

    def entries(self, kind: str = "") -> Iterator[Entry]:
        """The entries (about objects of one kind) in order."""
        return entries_of_table(self.timeline.table, pl.col("kind") == kind if kind else None)

    def frame(self, names: Sequence[str], verbs: Collection[str]) -> pl.DataFrame:
        """The entries of some verbs (`Entry.entry`) as columns, in order."""
        return frame_of_table(self.timeline.table, names, verbs)

    def moments(self) -> Iterator[tuple[Entry, Moment]]:
        """Every entry in order, with the cluster as it is just after it."""
        return moments(self.timeline)

    def attempts(
        self, namespace: str = "", name: str = "", most_cells: int | None = None, most: int | None = None
    ) -> Iterator[tuple[Which, Attempt]]:
        """The first attempts at all pods, or at those of one name, in order, each with its pod.

        The first have cells, as far as `most_cells` goes.
        """
        lives = Lives(self.pods_around(f"{namespace}/{name}")) if name and self._can_read_apart else self._lives
        wanted = (pl.col("namespace") == namespace) & (pl.col("name") == name) if name else None
        for pod, tried in self.attempted.attempts(wanted, most, most_cells):
            yield lives.at(pod, tried.sequence), tried

    @cached_property
    def _lives(self) -> Lives:
        """The pods by the rows that attempts are numbered in."""
        return Lives(self._histories_with_attempts.pods)

    def last_attempts(self, pods: Iterable[Which], most_cells: int | None = None) -> dict[Which, Attempt]:
        """The last attempt at each of some pods."""
        wanted, lives, reader = set(pods), self._lives, self.attempted
        last = {lives.at(key, row): row for key, row in reader.rows_of_attempts({key for key, _ in wanted})}
        rows = sorted(row for pod, row in last.items() if pod in wanted)
        found = reader.attempts(pl.col("sequence").is_in(rows), most_cells=most_cells)
        return {lives.at(pod, tried.sequence): tried for pod, tried in found}

    def rejections(self) -> pl.DataFrame:
        """One row for each reason of each attempt: the reason, and the number of nodes rejected for it (`count`)."""
        return self.attempted.rejections()

    @cached_property
    def histories(self) -> Histories:
        found = histories_of(self.timeline)
        if self.attempted is not self.timeline:
            self._add_attempts(found)
        return found

    @cached_property
    def _histories_with_attempts(self) -> Histories:
        return self.histories if self.attempted is self.timeline else histories_of(self.attempted)

    def _add_attempts(self, found: Histories) -> None:
        """Take the attempts of a run with `--record none` from its Scenario."""
        listed = self._histories_with_attempts
        found.attempts = listed.attempts
        lives: dict[str, list[PodLife]] = {}
        for pod in listed.pods:
            lives.setdefault(pod.key, []).append(pod)
        for pod in found.pods:
            if same := lives.get(pod.key):
                other = same.pop(0)
                pod.attempts, pod.preempted_by = other.attempts, pod.preempted_by or other.preempted_by

    @property
    def nodes(self) -> list[NodeLife]:
        return self.histories.nodes

    @property
    def pods(self) -> list[PodLife]:
        return self.histories.pods

    @property
    def _can_read_apart(self) -> bool:
        """Whether the rows of one pod tell about it, and not all have been read."""
        return not self.attempted.is_of_scenario and "histories" not in self.__dict__

    def pods_around(self, key: str) -> list[PodLife]:
        """Some pods in order, among them all of a name and all that they preempted: one pod needs not all others."""
        if not self._can_read_apart:
            return self.pods
        if key not in self.around:
            if len(self.around) >= FEW_PODS:
                return self.pods
            self.around[key] = pods_around(self.timeline, key)
        return self.around[key]

    @cached_property
    def homes(self) -> NDArray[np.int64]:
        """For each pod the place of its node in `nodes`; -1 without a node, or if the node did not exist then."""
        named: dict[str, list[tuple[int, NodeLife]]] = {}
        for place, node in enumerate(self.nodes):
            named.setdefault(node.name, []).append((place, node))
        homes = np.full(len(self.pods), -1, np.int64)
        for i, pod in enumerate(self.pods):
            if pod.bound is not None:
                for place, node in named.get(pod.node, ()):
                    if node.came <= pod.bound and (node.went is None or node.went >= pod.bound):
                        homes[i] = place
                        break
        return homes

    @cached_property
    def stays(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each pod the places of the steps in which it got its node and in which it ended; -1 where it did not."""
        places = self.places
        bound, ended = [places[pod.bound] for pod in self.pods], [places[pod.ended] for pod in self.pods]
        return np.array(bound, np.int64), np.array(ended, np.int64)

    @cached_property
    def steps(self) -> list[Step]:
        return [Step(major, minors, time) for major, (minors, time) in self.histories.steps.items()]

    @cached_property
    def places(self) -> Mapping[int | None, int]:
        """The place of each step in `steps`, by its number, which may have gaps; -1 for what did not happen."""
        return {None: -1, **{step.major: place for place, step in enumerate(self.steps)}}

    @property
    def last_step(self) -> int:
        """The number of the last step; 0 in a run without steps."""
        return self.steps[-1].major if self.steps else 0

    @cached_property
    def resources(self) -> list[str]:
        """The resources of pods' requests and of nodes, the usual ones first."""
        asked = {name for pod in self.pods for name in pod.requests}
        offered = {name for node in self.nodes for name in node.allocatable}
        usual = [name for name in ("cpu", "memory", "ephemeral-storage") if name in asked and name in offered]
        others = sorted((asked & offered) - {"cpu", "memory", "ephemeral-storage", "pods"})
        return [*(usual or ["cpu", "memory"]), *others, "pods"]
