"""Writes docs/acceptance.md: each statement of the normative texts with the tests that carry its id.

The statements come from the checklist (SEATRIAL_SHARED, by default ../shared beside the repository), the tests from
names and docstrings under tests/. Nothing in the table is written by hand: `--check` says whether it is fresh.
"""

import ast
import os
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "acceptance.md"
SHARED = Path(os.environ.get("SEATRIAL_SHARED", ROOT.parent / "shared"))
ROW = re.compile(r"^\| (?P<id>(V1|V2|S|MP|VC)-\d{3}) \| (?P<source>[^|]*) \| (?P<strength>[MSNX]) \| (?P<text>.*?) \| ")
ID = re.compile(r"\b(?:V1|V2|S|MP|VC)-\d{3}\b")
SECTIONS = {
    "V1": "KEP-140, first version",
    "V2": "KEP-140, second version",
    "S": "KEP-184",
    "MP": "KEP-2891",
    "VC": "Volcano Simulator",
}
OPEN = {
    "V1-079": "outside schedulers over HTTP",
    "V1-113": "outside schedulers over HTTP",
}
"""Statements that are known to wait for another part."""


def statements() -> dict[str, tuple[str, str]]:
    """Strength and text of each statement, by id."""
    found = {}
    for line in (SHARED / "acceptance.md").read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if row:
            found[row["id"]] = row["strength"], row["text"]
    return found


def tests() -> dict[str, list[str]]:
    """The tests that carry an id, as `file::name`."""
    carried: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                text = f"{node.name.upper().replace('_', '-')} {ast.get_docstring(node) or ''}"
                for id in dict.fromkeys(ID.findall(text)):
                    carried[id].append(f"{path.relative_to(ROOT / 'tests')}::{node.name}")
    return carried


def table() -> str:
    """The whole page."""
    rows, carried = statements(), tests()
    lines = [
        "# What is promised, and which test holds it",
        "",
        "Made by `scripts/acceptance_table.py` from the ids in tests; not written by hand.",
        "M: must, S: should, N: a non-goal or prohibition, X: ambiguous in the text and settled by us.",
    ]
    for prefix, title in SECTIONS.items():
        of_section = {id: row for id, row in rows.items() if id.rpartition("-")[0] == prefix}
        wanted = [id for id, (strength, _) in of_section.items() if strength in "MS"]
        held = sum(1 for id in wanted if carried.get(id))
        lines += ["", f"## {title}", "", f"{held} of {len(wanted)} statements with strength M or S are tested.", ""]
        lines += ["| id | strength | statement | tests |", "| --- | --- | --- | --- |"]
        for id, (strength, text) in of_section.items():
            named = "<br>".join(f"`{name}`" for name in carried.get(id, ())) or (
                f"open: {OPEN[id]}" if id in OPEN else ""
            )
            lines.append(f"| {id} | {strength} | {text} | {named} |")
    return "\n".join(lines) + "\n"


def missing(*prefixes: str) -> list[str]:
    """Statements with strength M or S that no test carries and that are not open."""
    carried = tests()
    return [
        id
        for id, (strength, _) in statements().items()
        if strength in "MS" and id.rpartition("-")[0] in prefixes and not carried.get(id) and id not in OPEN
    ]


def main() -> None:
    if "--missing" in sys.argv:
        rows = statements()
        print("\n".join(f"{id} {rows[id][1]}" for id in missing("V1", "V2", "S")))
        return
    wanted = table()
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != wanted:
            sys.exit("docs/acceptance.md is stale: run scripts/acceptance_table.py")
        return
    TARGET.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
