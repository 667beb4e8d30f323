"""A version is a record: short, and the only place that knows it by its number."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import seatrial
from seatrial.scheduler import versions

SCHEDULER = Path(seatrial.__file__).parent / "scheduler"
RECORDS = Path(versions.__file__).parent
MOST_LINES = 200
NUMBER = re.compile(r"\bv?1\.\d\d\b")
MEANT = {"config/old_versions.py"}
"""Files whose texts name a version to the user."""


def test_the_record_of_a_version_is_under_200_lines() -> None:
    records = sorted(RECORDS.glob("v1_*.py"))
    assert len(records) == len(versions.VERSIONS)
    assert not {path.name: lines for path in records if (lines := len(path.read_text().splitlines())) >= MOST_LINES}


def test_no_code_but_the_records_knows_a_version_by_its_number() -> None:
    files = {path.relative_to(SCHEDULER).as_posix(): path for path in SCHEDULER.rglob("*.py")}
    found = {name: list(numbers(path)) for name, path in files.items() if not path.is_relative_to(RECORDS)}
    assert {name for name, texts in found.items() if texts} <= MEANT, found


def numbers(path: Path) -> Iterator[str]:
    """The texts of a module with the number of a version, but for docstrings; and reads of `minor` and `release`."""
    tree = ast.parse(path.read_text())
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            if NUMBER.search(node.value):
                yield node.value
        elif isinstance(node, ast.Compare):
            parts = (node.left, *node.comparators)
            yield from (part.attr for part in parts if isinstance(part, ast.Attribute) and part.attr == "minor")
