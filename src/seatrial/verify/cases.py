"""Recorded cases: what a real scheduler was asked and what it answered."""

import gzip
import lzma
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.model.documents import Document, decode
from seatrial.model.errors import SeatrialError


class NoCases(SeatrialError):
    """There is nothing to replay."""


class BadCase(SeatrialError):
    """A file of recorded cases cannot be read; the message names it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded case: of kube-scheduler, or a session of Volcano."""

    name: str
    input: Document
    expected: Document
    is_volcano: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A case whose document has the wrong shape."""

    name: str
    problem: str


def case_files(directory: Path) -> list[Path]:
    """The files of a directory that hold cases, whatever the depth."""
    if not directory.is_dir():
        raise NoCases(f"{directory}: no such directory")
    files = sorted(path for path in directory.rglob("*") if path.is_file() and _is_case(path.name))
    if not files:
        raise NoCases(f"{directory}: no recorded cases (*.json or *.jsonl, plain, .gz or .xz)")
    return files


def read_cases(path: Path) -> Iterator[Case | Unreadable]:
    """The cases of a file: one object, or one object a line; BadCase where the file cannot be decompressed."""
    text = _decompressed(path)
    lines = text.splitlines() if ".jsonl" in path.name else [text]
    for number, line in enumerate(lines, 1):
        if line.strip():
            default = path.name.split(".")[0] if len(lines) == 1 else f"{path.name.split('.')[0]}:{number}"
            yield _read_case(default, line)


def _read_case(default: str, line: bytes) -> Case | Unreadable:
    try:
        document: Any = decode(line)
    except ValueError as error:
        return Unreadable(default, f"not JSON: {error}")
    is_object = isinstance(document, dict)
    is_volcano = is_object and "case" in document and "expect" in document
    given, answer = ("case", "expect") if is_volcano else ("input", "expected")
    if not is_object or not isinstance(document.get(given), dict) or not isinstance(document.get(answer), dict):
        wanted = "expected an object with the objects `input` and `expected`, or `case` and `expect`"
        return Unreadable(default, wanted)
    name = document[given].get("name") or default
    problem = None if is_volcano else _problem(document[given])
    if problem is not None:
        return Unreadable(str(name), problem)
    return Case(str(name), document[given], document[answer], is_volcano)


def _problem(given: Document) -> str | None:
    """What is wrong with the shape of a case's input."""
    for field, kind in (("objects", list), ("queue", list), ("featureGates", dict)):
        if not isinstance(given.get(field) or kind(), kind):
            return f"input.{field}: expected {'a list' if kind is list else 'an object'}"
    pods = set()
    for place, one in enumerate(given.get("objects") or ()):
        where = f"input.objects[{place}]"
        metadata = one.get("metadata") if isinstance(one, dict) else None
        if not isinstance(metadata, dict) or not isinstance(one.get("kind"), str):
            return f"{where}: expected an object with `kind` and `metadata`"
        if not isinstance(metadata.get("name"), str):
            return f"{where}.metadata.name: expected a text"
        if one["kind"] == "Pod":
            pods.add(f"{metadata.get('namespace') or 'default'}/{metadata['name']}")
    for place, name in enumerate(given.get("queue") or ()):
        if not isinstance(name, str) or (name if "/" in name else f"default/{name}") not in pods:
            return f"input.queue[{place}]: expected the name of a Pod of input.objects, got {name!r}"
    return None


def _is_case(name: str) -> bool:
    return name.removesuffix(".gz").removesuffix(".xz").endswith((".json", ".jsonl"))


def _decompressed(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        if path.suffix == ".gz":
            return gzip.decompress(data)
        return lzma.decompress(data) if path.suffix == ".xz" else data
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise BadCase(f"{path}: cannot be decompressed: {error}") from error
