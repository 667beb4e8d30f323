"""The notebooks of examples/notebooks run from top to bottom, and what they show needs no network."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.examples.run_all import EXAMPLES

NOTEBOOKS = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["a-plugin", "first-steps", "tune-weights"]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pages = [output.data["text/html"] for cell in notebook.cells if cell.cell_type == "code"
             for output in cell.outputs if "text/html" in output.get("data", {})]  # fmt: skip
    assert len(pages) > 1
    assert not any(re.search(r"https?://|<script|src=", page) for page in pages)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") for cell in notebook.cells)
