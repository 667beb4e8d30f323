"""`seatrial run --check` and `--expand`: validates a scenario without running it."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seatrial.model.errors import ConfigError
from seatrial.words import counted

if TYPE_CHECKING:
    from seatrial.scenario import Finding
    from seatrial.scenario.spec import Dialect, Planned

Row = dict[str, Any]
LINES_FOUND = 50
"""Findings for which the line is looked up."""
YAML_LINE = re.compile(r"yaml: line (\d+):")
WRONG_TYPE = re.compile(r"Go struct field \w+\.(\S+) of type")
WRONG_VALUE = re.compile(r"parsing time \"([^\"]*)\"|controller '([^']*)' is not known")
AT_FRONT = re.compile(r"(spec[\w.\[\]]*)(?:: | (?=is ))")
TWO_SPELLINGS = "spec.events and spec.operations"


def check(path: Path, snapshot: Sequence[Row], *, expand: bool, json: bool) -> None:
    """Print what is found, as text or as one JSON document; exit 1 where something is wrong, 2 if it is unreadable."""
    try:
        document, rows, operations = _examine(path, snapshot)
    except ConfigError as error:
        if not json or expand:
            raise
        row = {"level": "error", **_where(error), "field": error.field, "operation": "", "message": error.why}
        _print_json({"file": str(path), "valid": False, "operations": 0, "findings": [row]})
        raise typer.Exit(2) from None
    valid = all(row["level"] != "error" for row in rows)
    if expand:
        _print_scenario(document, json=json)
    if json and not expand:
        _print_json({"file": str(path), "valid": valid, "operations": operations, "findings": rows})
    else:
        for row in rows:
            typer.echo(_text(row), err=True)
        if valid and not expand:
            typer.echo(f"{path}: valid, {counted(operations, 'operation')}")
    if not valid:
        raise typer.Exit(1)


def _where(error: ConfigError) -> Row:
    """The file and the line of something unreadable."""
    place, _, line = error.path.rpartition(":")
    if place and line.isdecimal():
        return {"file": place, "line": int(line)}
    match = YAML_LINE.match(error.why)
    return {"file": error.path, "line": int(match[1]) if match else None}


def _examine(path: Path, snapshot: Sequence[Row]) -> tuple[Row, list[Row], int]:
    """The expanded scenario, what was found in it, and the number of its operations."""
    from seatrial.scenario.spec import dialect_of, expand_and_number, line_of, lint, read_scenario

    document = read_scenario(path)
    try:
        settled, operations = expand_and_number(document, path.parent)
    except ConfigError as error:
        line = 0 if error.path else line_of(path.read_text(encoding="utf-8"), error.field)
        raise ConfigError(error.path or (f"{path}:{line}" if line else str(path)), error.field, error.why) from error
    dialect = dialect_of(document.get("spec") or {})
    findings = lint(settled, dialect, operations, snapshot)
    places = _places(document, dialect, operations, path.parent) if findings else {}
    rows = list(_rows(path, document, findings, places))
    spec = {**settled["spec"], dialect.listing: [planned.document() for planned in operations]}
    return {**settled, "spec": spec}, rows, len(operations)


def _places(document: Row, dialect: "Dialect", operations: "Sequence[Planned]", folder: Path) -> dict[str, str]:
    from seatrial.scenario.spec import places

    found: dict[str, str] = {}
    for planned, place in zip(operations, places(document, dialect, folder), strict=True):
        found.setdefault(planned.id, place)
    return found


def _rows(path: Path, document: Row, findings: "Sequence[Finding]", places: dict[str, str]) -> Iterator[Row]:
    """What is printed: each finding with its place; of those of one generator the first, and how many more."""
    from seatrial.scenario.spec import line_of

    def key(numbered: "tuple[int, Finding]") -> tuple[str, str, int]:
        number, finding = numbered
        place = places.get(finding.operation, "")
        return finding.level, place, -1 if place.startswith("spec.generators") else number

    text = path.read_text(encoding="utf-8")
    for place, ((_, place_of, _), group) in enumerate(groupby(enumerate(findings), key)):
        (_, finding), *others = group
        field, message = _sharpened(".".join(filter(None, (place_of, finding.field))), finding.message, document)
        message += f" (and {len(others)} more of this generator)" if others else ""
        line = line_of(text, field) if field and place < LINES_FOUND else 0
        yield {
            "level": finding.level, "file": str(path), "line": line or None, "field": field,
            "operation": finding.operation, "message": message,
        }  # fmt: skip


def _sharpened(field: str, message: str, document: Row) -> tuple[str, str]:
    """The field that a message names, where that is more precise than the known one, and the rest of the message."""
    if not field and message.startswith(TWO_SPELLINGS):
        return "spec.events", message
    if not field and (front := AT_FRONT.match(message)):
        field, message = front[1], message[front.end() :]
    elif not field.endswith("createOperation.object"):
        return field, message
    if wrong := WRONG_TYPE.search(message):
        return f"{field}.{wrong[1]}", message
    if wrong := WRONG_VALUE.search(message):
        return field + _path_to(wrong[1] or wrong[2], _value_at(document, field)), message
    return field, message


def _value_at(document: Any, field: str) -> Any:
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", field):
        if key and isinstance(document, dict):
            document = document.get(key)
        elif index and isinstance(document, list) and int(index) < len(document):
            document = document[int(index)]
        else:
            return None
    return document


def _path_to(wanted: str, value: Any) -> str:
    """The path of the first occurrence of a text in a value, as the end of a field; empty if the text is not in it."""
    items: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        items = [(f".{key}", below) for key, below in value.items()]
    elif isinstance(value, list):
        items = [(f"[{place}]", below) for place, below in enumerate(value)]
    for step, below in items:
        if below == wanted:
            return step
        if further := _path_to(wanted, below):
            return step + further
    return ""


def _text(row: Row) -> str:
    where = f"{row['file']}:{row['line']}" if row["line"] else row["file"]
    parts = [where, "warning" if row["level"] == "warning" else "", row["field"]]
    operation = f"operation {row['operation']}: " if row["operation"] else ""
    return ": ".join(filter(None, parts)) + f": {operation}{row['message']}"


def _print_scenario(document: Row, *, json: bool) -> None:
    from seatrial.model.yaml_reader import dump

    if json:
        _print_json(document)
    else:
        typer.echo(dump(document), nl=False)


def _print_json(document: Row) -> None:
    from seatrial.model.documents import encode

    typer.echo(encode(document).decode())
