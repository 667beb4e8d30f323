"""The runs and sweeps below a folder, opened when they are asked for."""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl

from seatrial.model.documents import encode_arrays
from seatrial.model.errors import ConfigError, NotFound
from seatrial.results import Run
from seatrial.results.comparison import compare, verdicts
from seatrial.scenario.output_files import RESULT
from seatrial.sweeps import OBJECTIVES, RUNS, TABLE
from seatrial.web.attempts import attempts_shown, whole_details
from seatrial.web.comparison import page_parts
from seatrial.web.payload import columns, message_shown

DEEPEST = 4
"""Folders below the first that are searched."""
OPEN = 4
"""Runs that are kept in memory."""
CLUSTER = ("nodes", "pods", "shapes", "changes", "budgets")
LANES = ("lanes", "verbs", "entries")
SUMMARY = (
    "name", "title", "phase", "message", "version", "resources", "omitted", "headline", "steps", "phases", "volcano",
    "workloads",
)  # fmt: skip
FEW = 8
"""Shorter lists of numbers are JSON."""

Columns = dict[str, Any]


class OpenRun:
    """A run and the columns that its page reads."""

    def __init__(self, run: Run) -> None:
        self.run = run
        tried = attempts_shown(run, None, 0)
        self._shown, self._rows = columns(run, tried), tried.rows

    def part(self, names: tuple[str, ...]) -> Columns:
        return {name: self._shown[name] for name in names}

    def attempts(self, first: int, last: int) -> Columns:
        """The rows of some attempts, and the texts that all refer to."""
        tried = {name: values[first:last] for name, values in self._shown["attempts"].items()}
        return {"attempts": tried, "lists": self._shown["lists"], "total": len(self._shown["attempts"]["pod"])}

    def decision(self, number: int) -> Columns:
        """Everything of one attempt, by its place in the order of the run."""
        if not 0 <= number < len(self._rows):
            raise NotFound(f"there is no decision {number + 1} in this run")
        for _, tried in self.run.attempted.attempts(pl.col("sequence") == self._rows[number]):
            return whole_details(tried)
        raise NotFound(f"decision {number + 1} cannot be read")


class Library:
    """Reads one folder; nothing in it is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: OrderedDict[tuple[str, int], OpenRun] = OrderedDict()
        self._lock = threading.Lock()

    def listed(self) -> Columns:
        """Every run and sweep, the latest first."""
        runs: list[Columns] = []
        sweeps: list[Columns] = []
        for folder in self._folders():
            if (folder / RESULT).is_file():
                runs.append(self._told(folder))
            if (folder / TABLE).is_file():
                sweeps.append({"id": self._id(folder), "changed": (folder / TABLE).stat().st_mtime})
        for found in (runs, sweeps):
            found.sort(key=lambda each: (-each["changed"], each["id"]))
        return {"folder": self._folder.name, "runs": runs, "sweeps": sweeps}

    def _told(self, folder: Path) -> Columns:
        told: Columns = {"id": self._id(folder), "changed": (folder / RESULT).stat().st_mtime}
        try:
            run = Run.load(folder)
            return {**told, "title": run.scenario_name, "phase": run.phase, "message": message_shown(run.message)}
        except ConfigError as error:
            return {**told, "title": "", "phase": "Unreadable", "message": str(error)}

    def _folders(self) -> Iterator[Path]:
        for root, folders, _ in os.walk(self._folder):
            folder = Path(root)
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            if len(folder.relative_to(self._folder).parts) >= DEEPEST:
                folders.clear()
            yield folder

    def _id(self, folder: Path) -> str:
        return folder.relative_to(self._folder).as_posix()

    def open(self, name: str) -> OpenRun:
        """The run in a folder that the list names; no other path is read."""
        with self._lock:
            folder = next((each for each in self._folders() if self._id(each) == name), None)
            if folder is None or not (folder / RESULT).is_file():
                raise NotFound(f"there is no run {name!r} in this folder")
            key = name, (folder / RESULT).stat().st_mtime_ns
            if key not in self._open:
                # By its place in the folder: the runs of a sweep are called 0, 1 and so on.
                shown = self._folder.name if name == "." else name
                self._open[key] = OpenRun(replace(Run.load(folder), name=shown))
            self._open.move_to_end(key)
            while len(self._open) > OPEN:
                self._open.popitem(last=False)
            return self._open[key]

    def compared(self, names: list[str]) -> Columns:
        """The comparison of runs, as `compare.html` has it."""
        found = compare([self.open(name).run for name in names])
        measures, differences, spread = page_parts(found)
        verdict = list(verdicts(found))
        return {
            "measures": measures,
            "differences": differences,
            "spread": spread,
            "verdict": verdict,
            "switchedOff": {},
        }

    def sweep(self, name: str) -> Columns:
        """The table of a sweep."""
        folder = next((each for each in self._folders() if self._id(each) == name), None)
        if folder is None or not (folder / TABLE).is_file():
            raise NotFound(f"there is no sweep {name!r} in this folder")
        table = pl.read_parquet(folder / TABLE)
        objectives = orjson.loads(pl.read_parquet_metadata(folder / TABLE).get(OBJECTIVES, "[]"))
        kept = {each.parent.name: self._id(each.parent) for each in (folder / RUNS).glob(f"*/{RESULT}")}
        rows = [list(row) for row in table.iter_rows()]
        return {"columns": table.columns, "rows": rows, "objectives": objectives, "runs": kept}


def binary(document: Columns) -> bytes:
    """A document whose lists of numbers are columns of 4 or 8 bytes, each as `{"column": [type, offset, length]}`.

    Four bytes have the length of the JSON, which follows; the columns begin at the next multiple of eight.
    """
    parts: list[bytes] = []
    size = 0

    def told(value: Any) -> Any:
        nonlocal size
        if isinstance(value, dict):
            return {key: told(each) for key, each in value.items()}
        if isinstance(value, list) and not (len(value) >= FEW and all(type(each) is int for each in value)):
            is_nested = any(isinstance(each, list | np.ndarray) for each in value)
            return [told(each) for each in value] if is_nested else value
        if not isinstance(value, list | np.ndarray):
            return value
        column = np.asarray(value)
        is_small = not len(column) or -(2**31) <= column.min() <= column.max() < 2**31
        data = column.astype("<i4" if is_small else "<f8").tobytes()
        found = {"column": ["i4" if is_small else "f8", size, len(column)]}
        parts.append(data + bytes(-len(data) % 8))
        size += len(parts[-1])
        return found

    head = orjson.dumps(told(document))
    return b"".join([len(head).to_bytes(4, "little"), head, bytes(-(4 + len(head)) % 8), *parts])


def plain(document: Columns) -> bytes:
    """A document as JSON."""
    return encode_arrays(document)
