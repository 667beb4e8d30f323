"""Keeps docs/acceptance.md: each statement of the normative texts with the passing tests that prove it.

A test names the rows it proves with the marker `@proves("V2-077")` (tests/proofs.py). `pytest --proofs` calls
`record` with the marked tests that passed and with those that did not; tests outside the selection keep their entry.
The statements come from the checklist (SEATRIAL_SHARED, by default the folder `shared` next to the repository); without
arguments this script takes them over, `--check` says whether the table agrees with the markers, `--missing` lists rows
without a proof.
"""

import ast
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "acceptance.md"
SHARED = Path(os.environ.get("SEATRIAL_SHARED", ROOT.parent / "shared"))
STATEMENT = re.compile(r"^\| (?P<id>(V1|V2|S|MP|VC)-\d{3}) \| [^|]* \| (?P<strength>[MSNX]) \| (?P<text>.*?) \| ")
KEPT = re.compile(r"^\| (?P<id>(V1|V2|S|MP|VC)-\d{3}) \| (?P<strength>[MSNX]) \| (?P<text>.*) \| (?P<tests>[^|]*)\|$")
SECTIONS = {
    "V1": "KEP-140, first version",
    "V2": "KEP-140, second version",
    "S": "KEP-184",
    "MP": "KEP-2891",
    "VC": "Volcano Simulator",
}


@dataclass
class Row:
    """One statement and the tests that prove it."""

    strength: str
    text: str
    tests: list[str] = field(default_factory=list)


def read() -> dict[str, Row]:
    """The rows of docs/acceptance.md, by id."""
    rows = {}
    for line in TARGET.read_text(encoding="utf-8").splitlines():
        if found := KEPT.match(line):
            rows[found["id"]] = Row(found["strength"], found["text"], re.findall(r"`([^`]+)`", found["tests"]))
    return rows


def statements() -> dict[str, Row]:
    """The rows of the checklist, without tests."""
    lines = (SHARED / "acceptance.md").read_text(encoding="utf-8").splitlines()
    return {row["id"]: Row(row["strength"], row["text"]) for row in map(STATEMENT.match, lines) if row}


def marked() -> dict[str, set[str]]:
    """The rows that each test is marked with, by `file::name`."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and (rows := set(_decorated(node))):
                found[f"{path.relative_to(ROOT / 'tests')}::{node.name}"] = rows
    return found


def _decorated(node: ast.FunctionDef) -> Iterator[str]:
    for call in node.decorator_list:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "proves":
            yield from (argument.value for argument in call.args if isinstance(argument, ast.Constant))


def record(good: Iterable[str], bad: Iterable[str]) -> None:
    """Enter the tests that passed, take out those that did not, and drop entries whose marker is gone."""
    rows, markers = read(), marked()
    good, bad = set(good), set(bad)
    for id, row in rows.items():
        kept = (set(row.tests) | good) - bad
        row.tests = sorted(name for name in kept if id in markers.get(name, ()))
    TARGET.write_text(table(rows), encoding="utf-8")


def table(rows: dict[str, Row]) -> str:
    """The whole page."""
    lines = [
        "# What is promised, and which test proves it",
        "",
        "Kept by `pytest --proofs` (`make acceptance`): a test is listed if it is marked with the row and passed.",
        "M: must, S: should, N: a non-goal or prohibition, X: ambiguous in the text and settled by us.",
    ]
    for prefix, title in SECTIONS.items():
        section = {id: row for id, row in rows.items() if id.rpartition("-")[0] == prefix}
        wanted = [row for row in section.values() if row.strength in "MS"]
        held = sum(1 for row in wanted if row.tests)
        lines += ["", f"## {title}", "", f"{held} of {len(wanted)} statements with strength M or S are proved.", ""]
        lines += ["| id | strength | statement | tests |", "| --- | --- | --- | --- |"]
        for id, row in section.items():
            tests = "<br>".join(f"`{name}`" for name in row.tests)
            lines.append(f"| {id} | {row.strength} | {row.text} | {tests} |")
    return "\n".join(lines) + "\n"


def missing(*prefixes: str) -> list[str]:
    """Statements with strength M or S without a proof."""
    return [
        id for id, row in read().items() if row.strength in "MS" and id.rpartition("-")[0] in prefixes and not row.tests
    ]


def stale() -> list[str]:
    """Markers whose test is not in the table, and tests of the table without the marker."""
    rows, markers = read(), marked()
    asked = {(id, name) for name, ids in markers.items() for id in ids}
    listed = {(id, name) for id, row in rows.items() for name in row.tests}
    unproved = [f"{id}: {name} is marked, but did not pass with --proofs" for id, name in sorted(asked - listed)]
    return unproved + [f"{id}: {name} is listed without a marker" for id, name in sorted(listed - asked)]


def main() -> None:
    if "--missing" in sys.argv:
        rows = read()
        print("\n".join(f"{id} {rows[id].text}" for id in missing(*SECTIONS)))
    elif "--check" in sys.argv:
        if differing := stale():
            sys.exit("\n".join([*differing, "run pytest --proofs on these tests, or make acceptance"]))
    else:
        rows = statements()
        for id, row in read().items():
            if id in rows:
                rows[id].tests = row.tests
        TARGET.write_text(table(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
