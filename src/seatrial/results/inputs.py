"""Reads what a run can be given as: an `--out` folder, a Scenario with its result in a file, or standard input.

A Scenario in a file is a `result.json` or what `kubectl get scenario NAME -o json` prints (or `-o yaml`, or a list with
one Scenario). A `timeline.parquet` counts only where the folder itself is given or the file is its `result.json`, of
which the timeline is then left out (`outlines.py`).
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

from seatrial.model.documents import Document, encode
from seatrial.model.errors import ConfigError
from seatrial.results.headers import Header
from seatrial.results.outlines import outline_of
from seatrial.scenario.output_files import RESULT
from seatrial.timeline import NAME as TIMELINE
from seatrial.timeline import TimelineReader

STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Input:
    """A run as it was found."""

    name: str
    data: bytes
    folder: Path | None = None
    timeline: TimelineReader | None = None
    file: Path | None = None
    """The file that has the timeline, where `data` has it not."""


def read_input(source: Path | str) -> Input:
    """Read a run; ConfigError if the source is not a run."""
    if str(source) == STANDARD_INPUT:
        return Input("standard input", checked(sys.stdin.buffer.read(), "standard input"))
    path = Path(source)
    folder = path if path.is_dir() else path.parent
    file = folder / RESULT if path.is_dir() else path
    is_result = file.name == RESULT
    try:
        outline = outline_of(file) if is_result and (folder / TIMELINE).exists() else None
        data = checked(file.read_bytes(), str(file)) if outline is None else outline
    except OSError as error:
        raise ConfigError(str(file), "", f"cannot be read: {error.strerror or error}") from error
    if not is_result:
        return Input(path.stem, data, folder)
    name = folder.name if path.is_dir() else folder.resolve().name
    return read_folder(folder, data, name, None if outline is None else file)


def read_folder(folder: Path, data: bytes, name: str = "", file: Path | None = None) -> Input:
    """A run in an `--out` folder whose Scenario is known."""
    timeline = folder / TIMELINE
    return Input(name or folder.name, data, folder, TimelineReader.load(timeline) if timeline.exists() else None, file)


def checked(data: bytes, where: str) -> bytes:
    """The only Scenario in some JSON or YAML; ConfigError if there is no Scenario, or more than one."""
    try:
        header = msgspec.json.decode(data, type=Header)
    except msgspec.ValidationError as error:
        raise ConfigError(where, "", f"expected a Scenario with its result: {error}") from error
    except msgspec.DecodeError as error:
        return checked(encode(_from_yaml(data, where, error)), where)
    except RecursionError as error:
        raise ConfigError(where, "", "is nested too deeply for a Scenario with its result") from error
    if header.kind in ("List", "ScenarioList"):
        return checked(_only_item(data, where), where)
    if header.kind != "Scenario":
        raise ConfigError(where, "kind", "expected a Scenario with its result")
    if not header.metadata.name:
        raise ConfigError(where, "metadata.name", "is required")
    return data


class _List(msgspec.Struct):
    items: list[msgspec.Raw] = []


def _only_item(data: bytes, where: str) -> bytes:
    items = msgspec.json.decode(data, type=_List).items
    if len(items) != 1:
        raise ConfigError(where, "items", f"expected one Scenario, got {len(items)}: get one by its name")
    return bytes(items[0])


def _from_yaml(data: bytes, where: str, not_json: Exception) -> Document:
    from seatrial.model.yaml_reader import YamlError, load_all

    try:
        documents = load_all(data, strict=False)
    except YamlError as error:
        raise ConfigError(where, "", f"is not JSON: {not_json}") from error
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise ConfigError(where, "", f"is not JSON: {not_json}")
    return documents[0]
