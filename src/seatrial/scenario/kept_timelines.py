"""Keeps the whole timeline of each Scenario of a server, in files: the status holds only a part of it.

A Scenario's rows are in a folder named by its uid, as parts in the order of time, with the dictionary of their cells. A
Paused Scenario goes on with the same files after a restart with a data directory.
"""

import shutil
from pathlib import Path

import polars as pl

from seatrial.model.documents import decode, encode
from seatrial.scenario.output_files import write_whole
from seatrial.timeline import Dictionary, Timeline, TimelineReader
from seatrial.timeline.rows import FolderSink, Rows

DICTIONARY = "dictionary.json"


class KeptTimelines:
    """The timelines below one folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def rows(self, uid: str) -> Rows:
        """The rows of a Scenario that begins, or goes on after a restart."""
        folder = self._root / uid
        folder.mkdir(parents=True, exist_ok=True)
        return Rows(FolderSink(folder, sorted(folder.glob("part-*.arrow"))))

    def dictionary(self, uid: str) -> Dictionary:
        """The dictionary of a Scenario; empty where it begins."""
        file = self._root / uid / DICTIONARY
        return Dictionary.of(decode(file.read_bytes())) if file.exists() else Dictionary()

    def keep(self, uid: str, timeline: Timeline) -> None:
        """Put the rows and the dictionary of a Scenario into its files."""
        timeline.rows.flush()
        write_whole(self._root / uid / DICTIONARY, [encode(timeline.dictionary.document())])

    def read(self, uid: str) -> TimelineReader | None:
        """The timeline of a Scenario; None if it was not kept."""
        file = self._root / uid / DICTIONARY
        if not file.exists():
            return None
        parts = sorted(file.parent.glob("part-*.arrow"))
        table = pl.scan_ipc(parts) if parts else Rows().table()
        return TimelineReader(table, decode(file.read_bytes()))

    def forget(self, uid: str) -> None:
        """Remove the files of a Scenario that was deleted."""
        shutil.rmtree(self._root / uid, ignore_errors=True)
