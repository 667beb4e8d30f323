"""The public face of a run: the Scenario with its status, and tables of its pods, nodes and timeline.

A result is in memory after a run, or is read from any input that `Run.load` takes; both have the same interface.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Self

import polars as pl

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.notebook import result_html
from seatrial.results.explanation import Explanation, explain
from seatrial.results.facts import ATTEMPTS, ENDS, OBJECTS, WRITES
from seatrial.results.measure import find_measures, own_measure
from seatrial.results.run import Run
from seatrial.results.volcano import JobExplanation, QueueExplanation, explain_job, explain_queue, find_jobs
from seatrial.scenario.output_files import RESULT, write_whole
from seatrial.timeline import NAME
from seatrial.timeline.rows import write_table

_POD = {
    "namespace": pl.String,
    "name": pl.String,
    "node": pl.String,
    "phase": pl.String,
    "priority": pl.Int64,
    "created": pl.Int32,
    "bound": pl.Int32,
    "deleted": pl.Int32,
    "attempts": pl.Int32,
}
_NUMBER = {
    "number": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "better": pl.String,
    "measure": pl.String,
}
_NODE = {"name": pl.String, "created": pl.Int32, "deleted": pl.Int32, "pods": pl.Int32}


class Result:
    """The result of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __repr__(self) -> str:
        bound, pods = self.pods["bound"].count(), len(self.pods)
        return f"<Result of {self.run.name}: {self.phase}, {bound} of {pods} pods bound>"

    def _repr_html_(self) -> str:
        return result_html(self)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Open a result: a folder, a Scenario with its result in a file, or standard input (`-`)."""
        return cls(Run.load(path))

    def save(self, folder: Path | str) -> None:
        """Write `result.json` and, where there is one, `timeline.parquet`; each whole or not at all."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if self.run.table is not None:
            write_table(self.run.table, self.run.dictionary, folder / NAME)
        write_whole(folder / RESULT, [self.run.whole_data()])

    @property
    def scenario(self) -> Document:
        """The Scenario with its status."""
        return self.run.document

    @property
    def status(self) -> Document:
        status: Document = self.scenario.get("status") or {}
        return status

    @property
    def phase(self) -> str:
        return self.run.phase

    @property
    def message(self) -> str:
        return self.run.message

    @property
    def timeline(self) -> pl.DataFrame:
        """All entries of the timeline, one row each; see `timeline.columns`."""
        if self.run.table is None:
            raise ConfigError(self.run.name, "", f"has no {NAME}: the rows of the timeline are not in this result")
        return self.run.table.collect()

    @cached_property
    def pods(self) -> pl.DataFrame:
        """Every pod there ever was: where it is, since which step, after how many attempts."""
        run, lacking = self.run, self.run.lacking
        rows = [
            (
                pod.namespace, pod.name, pod.node or None, None if WRITES in lacking else pod.phase or None,
                pod.priority, pod.created, pod.bound, pod.deleted,
                None if ATTEMPTS in lacking else pod.attempts,
            )
            for pod in run.pods
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=_POD, orient="row")

    @cached_property
    def nodes(self) -> pl.DataFrame:
        """Every node there ever was, with the number of pods that hold it at the end."""
        run = self.run
        counts: dict[str, int] = {}
        for pod in run.pods:
            if pod.is_on_node(run.last_step):
                counts[pod.node] = counts.get(pod.node, 0) + 1
        knows = OBJECTS not in run.lacking and ENDS not in run.lacking
        rows = [
            (
                node.name, node.came, node.went,
                (counts.get(node.name, 0) if node.went is None else 0) if knows else None,
            )
            for node in run.nodes
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=_NODE, orient="row")

    def events(self) -> Iterator[Document]:
        """Every entry of the timeline on the wire, in order."""
        timeline = (self.status.get("scenarioResult") or {}).get("timeline") or {}
        for step in sorted(timeline, key=int):
            yield from timeline[step]

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """Volcano's jobs, as the measure `volcano_jobs` has them."""
        return own_measure("volcano_jobs").compute(self.run)

    @cached_property
    def queues(self) -> pl.DataFrame:
        """Volcano's queues over time, as the measure `volcano_queues` has them."""
        return own_measure("volcano_queues").compute(self.run)

    def measure(self, name: str) -> pl.DataFrame:
        """The table of a measure, as `seatrial results RUN NAME` prints it."""
        (found,) = find_measures([name])
        return found.compute(self.run)

    def measures(self, *names: str) -> pl.DataFrame:
        """The numbers of measures (all without names), as `seatrial compare` and `--fail-if` use them."""
        rows: list[tuple[str, float | None, str, str, str]] = []
        for each in find_measures(list(names)):
            numbers = {} if each.lacking(self.run) else each.summary(each.compute(self.run))
            rows += [(name, value, each.unit, each.better, each.name) for name, value in numbers.items()]
        return pl.DataFrame(rows, schema=_NUMBER, orient="row")

    def explain_job(self, job: str) -> JobExplanation:
        """Why a job of Volcano (`name` in default, `namespace/name`, or its PodGroup) waits, or when it started."""
        return explain_job(find_jobs(self.run, job)[0])

    def explain_queue(self, queue: str) -> QueueExplanation:
        """What a queue of Volcano deserves and holds, and which of its jobs wait."""
        return explain_queue(self.run, queue)

    def explain(self, pod: str) -> Explanation:
        """Why a pod (`name` in default, or `namespace/name`) is where it is."""
        return explain(self.run, pod)
