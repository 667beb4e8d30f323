"""A finished run: its scenario, its entries, and the lifecycles of its nodes and pods.

RESULT is an `--out` directory or a `result.json` of any KEP-140 simulator. What a plain `result.json` lacks (times,
attempts of the scheduler, status writes), or a run with `--record none` (attempts), is said in `lacks`, and measures
that need it say so too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from seatrial.model.documents import Document, decode
from seatrial.model.errors import ConfigError
from seatrial.results.entries import Entry, entries_of_result, entries_of_table, read_timeline
from seatrial.results.lifecycle_reader import Histories, Moment, moments, tell
from seatrial.results.lifecycles import NodeLife, PodLife
from seatrial.timeline import are_attempts_unrecorded

LACKS_TIMELINE = "times, attempts and status writes (there is no timeline.parquet beside this result.json)"
LACKS_ATTEMPTS = "attempts, which were not recorded (--record none)"


@dataclass(frozen=True, slots=True)
class Step:
    """One major step."""

    major: int
    minors: int
    time: int


class _Meta(msgspec.Struct):
    name: str = ""


class _Result(msgspec.Struct, rename="camel"):
    simulator_version: str = ""


class _Status(msgspec.Struct, rename="camel"):
    phase: str = "Unknown"
    message: str | None = None
    scenario_result: _Result = msgspec.field(default_factory=_Result)


class Header(msgspec.Struct):
    """The parts of a result that are read without decoding all of it: a long one has tens of megabytes."""

    kind: str = ""
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: msgspec.Raw = msgspec.Raw(b"")
    status: _Status = msgspec.field(default_factory=_Status)


@dataclass
class Run:
    """One run of a scenario; `data` is the Scenario with its result, as JSON."""

    name: str
    data: bytes
    folder: Path | None = None
    table: pl.LazyFrame | None = None
    dictionary: Document = field(default_factory=dict)
    grids: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=dict, repr=False)
    """What `usage` has worked out, by resource."""

    @classmethod
    def load(cls, path: Path | str) -> "Run":
        """Read an `--out` directory or a `result.json`."""
        path = Path(path)
        folder = path if path.is_dir() else path.parent
        file = folder / "result.json" if path.is_dir() else path
        data = _read(file)
        timeline = folder / "timeline.parquet"
        name = folder.name if path.is_dir() else path.stem if path.name != "result.json" else folder.resolve().name
        if not timeline.exists():
            return cls(name, data, folder)
        return cls(name, data, folder, *read_timeline(timeline))

    @property
    def lacks(self) -> str:
        """What this result lacks; empty where it is complete."""
        if self.table is None:
            return LACKS_TIMELINE
        return LACKS_ATTEMPTS if self.is_without_attempts else ""

    @cached_property
    def is_without_attempts(self) -> bool:
        """Whether a scheduler was at work and its attempts were not recorded."""
        return self.table is not None and are_attempts_unrecorded(self.table)

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
        if self.table is not None:
            return entries_of_table(self.table)
        return entries_of_result(decode(self.data))

    def moments(self) -> Iterator[tuple[Entry, Moment]]:
        """Every entry in order, with the cluster as it is just after it."""
        return moments(iter(self))

    @cached_property
    def histories(self) -> Histories:
        return tell(iter(self))

    @property
    def nodes(self) -> list[NodeLife]:
        return self.histories.nodes

    @property
    def pods(self) -> list[PodLife]:
        return self.histories.pods

    @property
    def steps(self) -> list[Step]:
        return [Step(major, minors, time) for major, (minors, time) in self.histories.steps.items()]

    @cached_property
    def resources(self) -> list[str]:
        """The resources of pods' requests and of nodes, the usual ones first."""
        asked = {name for pod in self.pods for name in pod.requests}
        offered = {name for node in self.nodes for name in node.allocatable}
        usual = [name for name in ("cpu", "memory", "ephemeral-storage") if name in asked and name in offered]
        others = sorted((asked & offered) - {"cpu", "memory", "ephemeral-storage", "pods"})
        return [*(usual or ["cpu", "memory"]), *others, "pods"]


def _read(file: Path) -> bytes:
    try:
        data = file.read_bytes()
        header = msgspec.json.decode(data, type=Header)
    except OSError as error:
        raise ConfigError(str(file), "", f"cannot be read: {error.strerror or error}") from error
    except msgspec.ValidationError as error:
        raise ConfigError(str(file), "", f"expected a Scenario with its result: {error}") from error
    except msgspec.DecodeError as error:
        raise ConfigError(str(file), "", f"is not JSON: {error}") from error
    except RecursionError as error:
        raise ConfigError(str(file), "", "is nested too deeply for a Scenario with its result") from error
    if header.kind != "Scenario":
        raise ConfigError(str(file), "kind", "expected a Scenario with its result")
    if not header.metadata.name:
        raise ConfigError(str(file), "metadata.name", "is required")
    return data
