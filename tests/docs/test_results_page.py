"""The Python examples of docs/results.md run, in order, as a reader of the page would type them."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from seatrial.api import run
from seatrial.results import measure as declarations
from tests.proofs import proves
from tests.results.test_annotated_pods import annotated_pods
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod

PAGE = Path(__file__).parents[2] / "docs" / "results.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the page supposes: a run in out/most, whose pod `late` waits from step 2 to step 4, and pods.json."""
    monkeypatch.chdir(tmp_path)
    declarations.all_measures()
    monkeypatch.setattr(declarations, "_declared", dict(declarations._declared))
    first = node("a"), pod("p"), pod("never", cpu="64")
    later = create(2, pod("late", cpu="8")), create(4, node("b", cpu="8")), done(4)
    run(scenario(operations(*(create(1, item) for item in first), *later))).save("out/most")
    Path("pods.json").write_bytes(orjson.dumps({"items": annotated_pods()}))
    return tmp_path / "out" / "most"


@pytest.mark.usefixtures("folder")
def test_the_examples_run() -> None:
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(block, names)
    assert [entry.name for entry in names["binds"]] == ["p", "late"]
    assert names["crowded"] == 1
    assert names["late_pods"](names["run"])["pod"].to_list() == ["default/late"]


@proves("V1-098", "V2-003", "V2-076")
def test_the_example_computes_the_allocation_from_a_saved_result_file(folder: Path) -> None:
    """From `result.json`, without timeline and cluster."""
    (folder / "timeline.parquet").unlink()
    (block,) = (block for block in BLOCKS if "out/most/result.json" in block)
    names: dict[str, Any] = {}
    exec("from seatrial.results.run import Run\n" + block, names)
    table = names["allocation"].filter(names["allocation"]["resource"] == "cpu")
    assert table.select("step", "rate").rows() == [(1, 25.0), (2, 25.0), (4, 75.0)]
