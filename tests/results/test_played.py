"""Measures of runs that were really played agree with what the runs say of themselves."""

from dataclasses import replace
from pathlib import Path

import pytest

from seatrial import Result
from seatrial.api import run
from seatrial.model.errors import ConfigError
from seatrial.results.headlines import headline
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
    return replace(result.run, name="storm")


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


@pytest.fixture(scope="module")
def unrecorded() -> tuple[Result, Run]:
    result = run(STORM, record="none")
    return result, replace(result.run, name="none")


def test_a_run_without_recorded_attempts_says_so(unrecorded: tuple[Result, Run]) -> None:
    _, none = unrecorded
    assert none.lacks == "nodes of attempts (attempts were not recorded (--record none))"
    with pytest.raises(ConfigError, match=r"needs nodes of attempts \(attempts were not recorded"):
        all_measures()["scheduling_results"].compute(none)


def test_the_scenario_lists_attempts_and_preemptors_that_were_not_recorded(
    storm: Run, unrecorded: tuple[Result, Run]
) -> None:
    _, none = unrecorded
    for name in ("pods", "preemptions"):
        assert all_measures()[name].compute(none).rows() == all_measures()[name].compute(storm).rows()
    work, known = (all_measures()["scheduler_work"].compute(each) for each in (none, storm))
    assert work["attempts"].to_list() == known["attempts"].to_list()
    assert set(work["visited"]) == {None}
    assert all_measures()["scheduler_work"].summary(work)["nodes_visited"] is None


@pytest.mark.parametrize("pod", ["high-0", "pending"])
def test_a_pod_is_not_called_untried_where_attempts_were_not_recorded(unrecorded: tuple[Result, Run], pod: str) -> None:
    result, none = unrecorded
    if pod == "pending":
        pod = next(life.name for life in none.pods if life.bound is None)
    said = result.explain(pod).sentence
    assert "never tried" not in said
    if pod.startswith("high"):
        assert "went to node-0" in said
        assert "attempts were not recorded (--record none), so why is not known" in said
    else:
        assert "is pending after 4 attempts: 0/10 nodes are available" in said


def test_a_played_snapshot_is_no_work_of_the_run() -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
    }  # fmt: skip
    spec = {
        "controllers": {"simulationControllers": {"enabled": [{"name": "scheduler"}]}},
        "operations": [{"id": "end", "step": 1, "doneOperation": {}}],
    }
    result = run({**EMPTY, "spec": spec}, snapshot=[node, pod])
    brought = replace(result.run, name="brought")
    throughput = all_measures()["throughput"].compute(brought)
    assert throughput.select("created", "bound").sum().row(0) == (0, 0)
    assert [(life.name, life.node) for life in brought.pods] == [("p", "n")]


def test_a_run_with_attempts_lacks_nothing(storm: Run) -> None:
    assert storm.lacks == ""


def test_every_measure_and_the_report_bear_a_run_in_which_nothing_happened() -> None:
    result = run(EMPTY)
    assert result.phase == "Failed"
    nothing = replace(result.run, name="empty")
    for measure in all_measures().values():
        measure.summary(measure.compute(nothing))
    assert "SEATRIAL_DATA" not in report_page(nothing)
