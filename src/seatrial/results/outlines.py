"""Reads a `result.json` as far as its timeline, which has gigabytes in a long run.

Next to a `timeline.parquet` the rest of it is rarely needed. A file is read so only where it has the layout that runs
write (`ScenarioStatus.parts`): without spaces, and with the timeline as the last of its fields.
"""

import os
import re
from pathlib import Path
from typing import BinaryIO

import msgspec

from seatrial.results.headers import Header

BYTES_AT_ONCE = 1 << 20
BEGINS = b'{"'
"""What no indented JSON and no YAML block begins with."""
TIMELINE_BEGINS = re.compile(rb'"scenarioResult":\{"simulatorVersion":"[^"]{0,100}","timeline":\{')
LONGEST_BEGINNING = 200
CLOSED = b"}}}}"
"""Ends the timeline, the result, the status and the Scenario."""
ENDS = (b"]" + CLOSED, b"{" + CLOSED)


def outline_of(path: Path) -> bytes | None:
    """The Scenario in a file with an empty timeline; None where the file is to be read whole."""
    with path.open("rb") as file:
        return _begun(file) if _ends_with_timeline(file) else None


def _ends_with_timeline(file: BinaryIO) -> bool:
    longest = max(map(len, ENDS))
    if file.seek(0, os.SEEK_END) < longest:
        return False
    file.seek(-longest, os.SEEK_END)
    return file.read().endswith(ENDS)


def _begun(file: BinaryIO) -> bytes | None:
    file.seek(0)
    data = file.read(BYTES_AT_ONCE)
    if not data.startswith(BEGINS):
        return None
    begun, searched, block = bytearray(), 0, data
    while block:
        begun += block
        for found in TIMELINE_BEGINS.finditer(begun, searched):
            outline = bytes(memoryview(begun)[: found.end()]) + CLOSED
            if _is_scenario(outline):
                return outline
        searched = max(0, len(begun) - LONGEST_BEGINNING)
        block = file.read(BYTES_AT_ONCE)
    return None


def _is_scenario(outline: bytes) -> bool:
    """Whether the timeline began where a Scenario has it, and not in an object that an operation creates."""
    try:
        header = msgspec.json.decode(outline, type=Header)
    except msgspec.DecodeError:
        return False
    return header.kind == "Scenario" and bool(header.metadata.name and header.status.scenario_result.simulator_version)
