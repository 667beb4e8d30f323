"""`seatrial run --check` and `--expand`: what is wrong with a scenario, without playing it."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.scenario.plan import Planned
    from seatrial.scenario.profile import Profile
    from seatrial.scenario.rehearsal import Finding

Row = dict[str, Any]
LINES_FOUND = 50
"""Findings for which the line is looked up."""


def check(path: Path, snapshot: Sequence[Row], *, expand: bool, json: bool) -> None:
    """Print what is found, as text or as one JSON document; exit 1 where something is wrong, 2 if it is unreadable."""
    try:
        document, rows, operations = _examine(path, snapshot)
    except ConfigError as error:
        if not json or expand:
            raise
        place, _, line = error.path.rpartition(":")
        where = {"file": place or error.path, "line": int(line) if place and line.isdecimal() else None}
        row = {"level": "error", **where, "field": error.field, "operation": "", "message": error.why}
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
            typer.echo(f"{path}: valid, {operations} operations")
    if not valid:
        raise typer.Exit(1)


def _examine(path: Path, snapshot: Sequence[Row]) -> tuple[Row, list[Row], int]:
    """The expanded scenario, what was found in it, and the number of its operations."""
    from seatrial.scenario.decoding import read_scenario
    from seatrial.scenario.lint import lint
    from seatrial.scenario.plan import settle
    from seatrial.scenario.profile import profile_of

    document = read_scenario(path)
    try:
        settled, operations = settle(document, path.parent)
    except ConfigError as error:
        raise ConfigError(error.path or str(path), error.field, error.why) from error
    profile = profile_of(document.get("spec") or {})
    findings = lint(settled, profile, operations, snapshot)
    rows = list(_rows(path, findings, _places(document, profile, operations, path.parent) if findings else {}))
    spec = {**settled["spec"], profile.listing: [planned.document() for planned in operations]}
    return {**settled, "spec": spec}, rows, len(operations)


def _places(document: Row, profile: "Profile", operations: "Sequence[Planned]", folder: Path) -> dict[str, str]:
    from seatrial.scenario.lint import places

    found: dict[str, str] = {}
    for planned, place in zip(operations, places(document, profile, folder), strict=True):
        found.setdefault(planned.id, place)
    return found


def _rows(path: Path, findings: "Sequence[Finding]", places: dict[str, str]) -> Iterator[Row]:
    """What is printed: each finding with its place; of those of one generator the first, and how many more."""
    from seatrial.scenario.decoding import line_of

    def key(numbered: "tuple[int, Finding]") -> tuple[str, str, int]:
        number, finding = numbered
        place = places.get(finding.operation, "")
        return finding.level, place, -1 if place.startswith("spec.generators") else number

    text = path.read_text(encoding="utf-8")
    for place, ((_, place_of, _), group) in enumerate(groupby(enumerate(findings), key)):
        (_, finding), *others = group
        field = ".".join(filter(None, (place_of, finding.field)))
        message = finding.message + (f" (and {len(others)} more of this generator)" if others else "")
        line = line_of(text, field) if field and place < LINES_FOUND else 0
        yield {
            "level": finding.level, "file": str(path), "line": line or None, "field": field,
            "operation": finding.operation, "message": message,
        }  # fmt: skip


def _text(row: Row) -> str:
    where = f"{row['file']}:{row['line']}" if row["line"] else row["file"]
    parts = [where, "warning" if row["level"] == "warning" else "", row["field"]]
    operation = f"operation {row['operation']}: " if row["operation"] else ""
    return ": ".join(filter(None, parts)) + f": {operation}{row['message']}"


def _print_scenario(document: Row, *, json: bool) -> None:
    from seatrial.model.yamls import dump

    if json:
        _print_json(document)
    else:
        typer.echo(dump(document), nl=False)


def _print_json(document: Row) -> None:
    from seatrial.model.documents import encode

    typer.echo(encode(document).decode())
