"""Recorded cases: what a real scheduler was asked and what it answered."""

import gzip
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seatrial.model.documents import Document, decode
from seatrial.model.errors import SeatrialError


class NoCases(SeatrialError):
    """There is nothing to replay."""


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded case: of kube-scheduler, or a session of Volcano."""

    name: str
    input: Document
    expected: Document
    is_volcano: bool = False


def case_files(directory: Path) -> list[Path]:
    """The files of a directory that hold cases, whatever the depth."""
    if not directory.is_dir():
        raise NoCases(f"{directory}: no such directory")
    files = sorted(path for path in directory.rglob("*") if path.is_file() and _is_case(path.name))
    if not files:
        raise NoCases(f"{directory}: no recorded cases (*.json or *.jsonl, plain, .gz or .xz)")
    return files


def read_cases(path: Path) -> Iterator[Case]:
    """The cases of a file: one object, or one object a line."""
    data = path.read_bytes()
    text = _decompressed(path.suffix, data)
    lines = text.splitlines() if ".jsonl" in path.name else [text]
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        document = decode(line)
        if "case" in document and "expect" in document:
            yield Case(document["case"]["name"], document["case"], document["expect"], True)
            continue
        if "input" not in document or "expected" not in document:
            raise NoCases(f"{path}: expected an object with `input` and `expected`, or `case` and `expect`")
        default = path.name.split(".")[0] if len(lines) == 1 else f"{path.name.split('.')[0]}:{number}"
        yield Case(document["input"].get("name") or default, document["input"], document["expected"])


def _is_case(name: str) -> bool:
    return name.removesuffix(".gz").removesuffix(".xz").endswith((".json", ".jsonl"))


def _decompressed(suffix: str, data: bytes) -> bytes:
    if suffix == ".gz":
        return gzip.decompress(data)
    return lzma.decompress(data) if suffix == ".xz" else data
