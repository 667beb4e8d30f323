"""Recorded cases: what a real scheduler was asked and what it answered."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seatrial.model.documents import Document, decode
from seatrial.model.errors import SeatrialError


class NoCases(SeatrialError):
    """There is nothing to replay."""


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded case of kube-scheduler."""

    name: str
    input: Document
    expected: Document


def case_files(directory: Path) -> list[Path]:
    """The files of a directory that hold cases, whatever the depth."""
    if not directory.is_dir():
        raise NoCases(f"{directory}: no such directory")
    files = sorted(path for path in directory.rglob("*") if path.is_file() and _is_case(path.name))
    if not files:
        raise NoCases(f"{directory}: no recorded cases (*.json, *.json.gz, *.jsonl.gz)")
    return files


def read_cases(path: Path) -> Iterator[Case]:
    """The cases of a file: one object, or one object a line."""
    data = path.read_bytes()
    text = gzip.decompress(data) if path.name.endswith(".gz") else data
    lines = text.splitlines() if ".jsonl" in path.name else [text]
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        document = decode(line)
        if "input" not in document or "expected" not in document:
            raise NoCases(f"{path}: expected an object with `input` and `expected`")
        default = path.name.split(".")[0] if len(lines) == 1 else f"{path.name.split('.')[0]}:{number}"
        yield Case(document["input"].get("name") or default, document["input"], document["expected"])


def is_volcano(path: Path) -> bool:
    """Whether a file holds cases of Volcano, which have another form."""
    return path.name.endswith((".jsonl.gz", ".jsonl")) and "volcano" in str(path.parent)


def _is_case(name: str) -> bool:
    return name.endswith((".json", ".json.gz", ".jsonl", ".jsonl.gz"))
