"""Every statement that must or should hold is proved by a marked test that passes, and the table says so."""

import ast
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import proofs
from tests.scripts import load_script

TABLE = load_script("acceptance_table")


@pytest.mark.parametrize("prefix", TABLE.SECTIONS)
def test_every_statement_is_proved(prefix: str) -> None:
    assert TABLE.missing(prefix) == []


def test_the_table_agrees_with_the_markers() -> None:
    assert TABLE.stale() == [], "run pytest --proofs on these tests"


def test_the_table_has_the_statements_of_the_checklist() -> None:
    if not (TABLE.SHARED / "acceptance.md").exists():
        pytest.skip("the checklist is not here (SEATRIAL_SHARED)")
    kept = {id: (row.strength, row.text) for id, row in TABLE.read().items()}
    assert kept == {id: (row.strength, row.text) for id, row in TABLE.statements().items()}


def test_no_row_is_only_mentioned() -> None:
    """An id in a docstring or comment proves nothing and hides that the marker is missing."""
    row = re.compile(r"\b(V1|V2|MP|VC|S)-\d{3}\b")
    mentioned = [
        f"{path.name}::{node.name}"
        for path in sorted(Path(__file__).parent.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and row.search(ast.get_docstring(node) or "")
    ]
    assert mentioned == [], "mark these tests with @proves instead"


def _item(*rows: str) -> Any:
    marker = SimpleNamespace(args=rows)
    return SimpleNamespace(nodeid="tests/x.py::test_x[1]", user_properties=[], iter_markers=lambda name: [marker])


def test_a_row_that_does_not_exist_stops_the_collection() -> None:
    with pytest.raises(pytest.UsageError, match="has no row V1-999"):
        proofs.pytest_collection_modifyitems([_item("V1-001", "V1-999")])


def test_a_marked_test_carries_its_rows_to_its_reports() -> None:
    item = _item("V1-001", "V2-001")
    proofs.pytest_collection_modifyitems([item])
    assert item.user_properties == [("proves", "V1-001 V2-001")]


def test_a_test_counts_only_if_all_its_cases_passed() -> None:
    outcomes = {"good": {"passed", "skipped"}, "bad": {"passed", "failed"}, "unrun": {"skipped"}}
    assert proofs.passed(outcomes) == (["good"], ["bad", "unrun"])


def test_a_test_that_fails_leaves_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = load_script("acceptance_table")
    page = tmp_path / "acceptance.md"
    page.write_text(table.table({"V1-001": table.Row("M", "text", ["a.py::test_a"])}), encoding="utf-8")
    monkeypatch.setattr(table, "TARGET", page)
    monkeypatch.setattr(table, "marked", lambda: {"a.py::test_a": {"V1-001"}, "b.py::test_b": {"V1-001"}})
    table.record(["b.py::test_b"], ["a.py::test_a"])
    assert table.read()["V1-001"].tests == ["b.py::test_b"]
