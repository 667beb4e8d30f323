"""Measures of runs that were really played agree with what the runs say of themselves."""

from pathlib import Path

import pytest

from seatrial.api import run
from seatrial.model.documents import encode
from seatrial.results.headline import headline
from seatrial.results.measure import all_measures
from seatrial.results.run import Run
from seatrial.web.page import report_page

STORM = Path(__file__).parents[2] / "examples" / "preemption-storm" / "scenario.yaml"
EMPTY = {
    "apiVersion": "simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1",
    "kind": "Scenario",
    "metadata": {"name": "empty"},
    "spec": {"controllers": {"simulationControllers": {"enabled": [{"name": "nobody"}]}}, "operations": []},
}


@pytest.fixture(scope="module")
def storm() -> Run:
    result = run(STORM)
    return Run("storm", encode(result.scenario), None, result.kept.table, result.kept.dictionary)


def preempted(storm: Run) -> list[str]:
    """The victims in the KEP's timeline."""
    plain = Run("plain", storm.data)
    return sorted(f"{entry.namespace}/{entry.name}" for entry in plain if entry.entry == "preempted")


def test_preemptions_are_those_of_the_timeline(storm: Run) -> None:
    table = all_measures()["preemptions"].compute(storm)
    assert preempted(storm)
    assert sorted(table["victim"]) == preempted(storm)
    assert set(table["by"]) <= {f"default/high-{i}" for i in range(8)}


def test_a_plain_result_tells_the_same_preemptions(storm: Run) -> None:
    plain = Run("plain", storm.data)
    table = all_measures()["preemptions"].compute(plain)
    assert table.rows() == all_measures()["preemptions"].compute(storm).rows()


def test_the_headline_counts_them(storm: Run) -> None:
    told = {row["label"]: row["value"] for row in headline(storm)}
    assert told["Preempted"] == str(len(preempted(storm)))


def test_every_measure_and_the_report_bear_a_run_in_which_nothing_happened() -> None:
    result = run(EMPTY)
    assert result.phase == "Failed"
    nothing = Run("empty", encode(result.scenario), None, result.kept.table, result.kept.dictionary)
    for measure in all_measures().values():
        measure.summary(measure.compute(nothing))
    assert "SEATRIAL_DATA" not in report_page(nothing)
