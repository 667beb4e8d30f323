"""Every statement of KEP-140 and KEP-184 that must or should hold is carried by a test, and the table says so."""

from types import ModuleType

import pytest

from tests.scripts import load_script


def _table() -> ModuleType:
    module = load_script("acceptance_table")
    if not (module.SHARED / "acceptance.md").exists():
        pytest.skip("the checklist is not here (SEATRIAL_SHARED)")
    return module


def test_every_statement_of_both_versions_is_tested() -> None:
    assert _table().missing("V1", "V2") == []


def test_every_statement_of_scheduler_simulation_is_tested() -> None:
    assert _table().missing("S") == []


def test_every_statement_of_the_volcano_simulator_is_tested() -> None:
    assert _table().missing("VC") == []


def test_the_table_is_fresh() -> None:
    module = _table()
    kept, wanted = (
        [line for line in text.splitlines() if line.startswith(("| V1-", "| V2-", "| S-"))]
        for text in (module.TARGET.read_text(encoding="utf-8"), module.table())
    )
    assert kept == wanted, "run scripts/acceptance_table.py"
