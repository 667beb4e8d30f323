"""A finished run: its scenario, its entries, its attempts, and the lifecycles of its nodes and pods.

The one reader of results. A run is read from an `--out` folder, from a Scenario with its result alone (`result.json`,
`kubectl get scenario -o json`, standard input), or is in memory; every input gives the same values, and `lacking` says
what an input does not tell. See `facts.py` and `inputs.py`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
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
from seatrial.results.lifecycle_reader import Histories, Moment, moments, tell
from seatrial.results.lifecycles import NodeLife, PodLife
from seatrial.results.lives import Lives, Which
from seatrial.results.scenario_entries import entries_of_scenario, rejections
from seatrial.results.table_histories import histories_of_table, pods_around
from seatrial.timeline import NOT_IN_TIMELINE, Attempt, CellArrays, TimelineReader

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
    def timeline(self) -> TimelineReader | None:
        """The rows of `timeline.parquet`; None where there are none."""
        return None if self.table is None else TimelineReader(self.table, self.dictionary)

    @cached_property
    def lacking(self) -> Mapping[str, str]:
        """The facts that this result lacks, each with the reason."""
        if self.timeline is not None and not self.timeline.are_attempts_unrecorded:
            return {}
        facts = lacking(self._facts, has_unlisted_attempts=self._has_unlisted_attempts())
        if self.timeline is None:
            return facts
        return {fact: UNRECORDED for fact in (ATTEMPTS, NODES_TRIED) if fact in facts}

    @property
    def lacks(self) -> str:
        """What this result lacks, in words; empty where it is complete."""
        return sentence(self.lacking)

    @property
    def _facts(self) -> Document:
        facts: Document = (self.document.get("status") or {}).get(NOT_IN_TIMELINE) or {}
        return facts

    def _has_unlisted_attempts(self) -> bool:
        """Whether a scheduler placed or tried a pod without a report of its attempt."""
        tried = {(entry.namespace, entry.name) for entry in self._scenario_entries if entry.entry == "attempt"}
        return any(
            entry.entry in ("bound", "unscheduled") and (entry.namespace, entry.name) not in tried
            for entry in self._scenario_entries
        )

    @cached_property
    def document(self) -> Document:
        """The Scenario with its result."""
        document: Document = decode(self.whole_data())
        return document

    def whole_data(self) -> bytes:
        """The Scenario with its result and its timeline, as JSON."""
        return self.data if self.file is None else self.file.read_bytes()

    @cached_property
    def _scenario_entries(self) -> list[Entry]:
        return entries_of_scenario(self.document)

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
        if self.table is not None:
            return entries_of_table(self.table, pl.col("kind") == kind if kind else None)
        return (entry for entry in self._scenario_entries if not kind or entry.kind == kind)

    def frame(self, names: Sequence[str], verbs: Collection[str]) -> pl.DataFrame:
        """The entries of some verbs (`Entry.entry`) as columns, in order."""
        if self.table is not None:
            return frame_of_table(self.table, names, verbs)
        shown = [entry for entry in self._scenario_entries if entry.entry in verbs]
        return pl.DataFrame({name: [getattr(entry, name) for entry in shown] for name in names})

    @property
    def _has_table_of_attempts(self) -> bool:
        return self.timeline is not None and not self.timeline.are_attempts_unrecorded

    def attempts(
        self, namespace: str = "", name: str = "", most_cells: int | None = None
    ) -> Iterator[tuple[Which, Attempt]]:
        """The attempts at all pods, or at those of one name, in order, each with its pod.

        The first have cells, as far as `most_cells` goes; a Scenario alone has few, and gives them all.
        """
        lives = self._lives_of(f"{namespace}/{name}") if name else self._lives
        if self.timeline is not None and self._has_table_of_attempts:
            for pod, tried in self.timeline.attempts(namespace, name, most_cells):
                yield lives.at(pod, tried.sequence), tried
            return
        for entry in self._scenario_entries:
            if entry.tried is not None and (not name or (entry.namespace, entry.name) == (namespace, name)):
                yield lives.at(f"{entry.namespace}/{entry.name}", entry.tried.sequence), entry.tried

    @cached_property
    def _lives(self) -> Lives:
        """The pods by the rows that attempts are numbered in."""
        is_listed = self.table is not None and not self._has_table_of_attempts
        return Lives(self._listed.pods if is_listed else self.pods)

    def _lives_of(self, key: str) -> Lives:
        """Those of one name, which need not all others."""
        return Lives(self.pods_around(key)) if self._can_read_apart else self._lives

    def last_attempts(self, pods: Iterable[Which], most_cells: int | None = None) -> dict[Which, Attempt]:
        """The last attempt at each of some pods."""
        wanted = set(pods)
        if self.timeline is not None and self._has_table_of_attempts:
            lives = self._lives
            found = self.timeline.attempts_in_rows(self._last_rows(wanted, lives), most_cells)
            return {lives.at(pod, tried.sequence): tried for pod, tried in found}
        return {pod: tried for pod, tried in self.attempts() if pod in wanted}

    def _last_rows(self, pods: Collection[Which], lives: Lives) -> list[int]:
        """The rows of the last attempts at some pods."""
        assert self.timeline is not None
        rows = self.timeline.rows_of_attempts({key for key, _ in pods})
        last = {lives.at(key, row): row for key, row in rows}
        return [row for pod, row in last.items() if pod in pods]

    def attempts_with_arrays(
        self, pods: Collection[Which] | None, most: int, most_cells: int
    ) -> Iterator[tuple[Which, Attempt, CellArrays | None]]:
        """The first attempts, or the last ones at some pods, each with its pod and with its cells as arrays."""
        if self.timeline is not None and self._has_table_of_attempts:
            lives = self._lives
            if pods is None:
                rows = self.timeline.attempts_with_arrays(most, most_cells)
            else:
                rows = self.timeline.attempts_in_rows_with_arrays(self._last_rows(set(pods), lives), most_cells)
            return ((lives.at(pod, tried.sequence), tried, cells) for pod, tried, cells in rows)
        found = islice(self.attempts(), most) if pods is None else iter(self.last_attempts(pods).items())
        return ((pod, tried, None if tried.cells is None else CellArrays.of(tried.cells)) for pod, tried in found)

    def rejections(self) -> pl.DataFrame:
        """One row for each reason of each attempt: the reason, and the number of nodes rejected for it (`count`)."""
        if self.timeline is not None and self._has_table_of_attempts:
            return self.timeline.rejections()
        schema = {"reason": pl.String, "count": pl.Int32}
        return pl.DataFrame(rejections(iter(self._scenario_entries)), schema=schema, orient="row")

    def moments(self) -> Iterator[tuple[Entry, Moment]]:
        """Every entry in order, with the cluster as it is just after it."""
        return moments(iter(self))

    @cached_property
    def histories(self) -> Histories:
        found = tell(iter(self)) if self.table is None else histories_of_table(self.table)
        if self.timeline is not None and not self._has_table_of_attempts:
            self._add_attempts(found)
        return found

    @cached_property
    def _listed(self) -> Histories:
        """What the Scenario tells, where the table is of a run with `--record none`."""
        return tell(iter(self._scenario_entries))

    def _add_attempts(self, found: Histories) -> None:
        """Take the attempts of a run with `--record none` from its Scenario, which lists their steps."""
        listed = self._listed
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
        return self._has_table_of_attempts and "histories" not in self.__dict__

    def pods_around(self, key: str) -> list[PodLife]:
        """Some pods in order, among them all of a name and all that they preempted: one pod needs not all others."""
        if self.table is None or not self._can_read_apart:
            return self.pods
        if key not in self.around:
            if len(self.around) >= FEW_PODS:
                return self.pods
            self.around[key] = pods_around(self.table, key)
        return self.around[key]

    @cached_property
    def homes(self) -> NDArray[np.int64]:
        """For each pod the place of its node in `nodes`; -1 where it has none, or one that was not there."""
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
        places = self.places_or_never
        bound, ended = [places[pod.bound] for pod in self.pods], [places[pod.ended] for pod in self.pods]
        return np.array(bound, np.int64), np.array(ended, np.int64)

    @cached_property
    def steps(self) -> list[Step]:
        return [Step(major, minors, time) for major, (minors, time) in self.histories.steps.items()]

    @cached_property
    def places(self) -> Mapping[int, int]:
        """The place of each step in `steps`, by its number: numbers may have gaps."""
        return {step.major: place for place, step in enumerate(self.steps)}

    @cached_property
    def places_or_never(self) -> Mapping[int | None, int]:
        """The same, with -1 as the place of what did not happen."""
        found: dict[int | None, int] = {step.major: place for place, step in enumerate(self.steps)}
        found[None] = -1
        return found

    @property
    def last_step(self) -> int:
        """The number of the last step; 0 where there is none."""
        return self.steps[-1].major if self.steps else 0

    @cached_property
    def resources(self) -> list[str]:
        """The resources of pods' requests and of nodes, the usual ones first."""
        asked = {name for pod in self.pods for name in pod.requests}
        offered = {name for node in self.nodes for name in node.allocatable}
        usual = [name for name in ("cpu", "memory", "ephemeral-storage") if name in asked and name in offered]
        others = sorted((asked & offered) - {"cpu", "memory", "ephemeral-storage", "pods"})
        return [*(usual or ["cpu", "memory"]), *others, "pods"]
