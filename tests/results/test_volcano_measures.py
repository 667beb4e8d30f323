"""What results say of Volcano's jobs and queues."""

from pathlib import Path

import pytest

from seatrial.api import Simulation
from seatrial.results.measure import all_measures
from seatrial.results.run import Run
from seatrial.scenario.engine.controller_registry import Registry
from seatrial.web.payload import payload

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("volcano")
    scenario = EXAMPLES / "volcano-idle-but-pending" / "scenario.yaml"
    Simulation(scenario, registry=Registry()).run().save(folder)
    return Run.load(folder)


def test_jobs_have_their_phase_and_wait(run: Run) -> None:
    table = all_measures()["volcano_jobs"].compute(run)
    rows = {row["job"].split("/")[1].split("-")[0]: row for row in table.iter_rows(named=True)}
    assert rows["train"]["phase"] == "Pending" and rows["train"]["running_s"] is None
    assert "of queue default is not let in by plugin overcommit: " in rows["train"]["reason"]
    assert rows["evaluate"]["running"] == rows["evaluate"]["min_member"] == 2 and not rows["evaluate"]["reason"]
    assert rows["evaluate"]["phase"] == "Running" and rows["evaluate"]["running_s"] > 0
    summary = all_measures()["volcano_jobs"].summary(table)
    assert summary["jobs_waiting"] == 1.0


def test_queues_have_what_they_hold_over_time(run: Run) -> None:
    table = all_measures()["volcano_queues"].compute(run)
    last = table.filter((table["queue"] == "default") & (table["resource"] == "cpu")).rows(named=True)[-1]
    assert last["allocated"] == last["deserved"] == 2.0 and last["capability"] == 8.0


def test_the_page_gets_queues_over_the_steps_and_jobs_with_reasons(run: Run) -> None:
    found = payload(run)["volcano"]
    (default,) = [each for each in found["queues"] if (each["queue"], each["resource"]) == ("default", "cpu")]
    assert default["allocated"] == [0.0, 0.0, 2.0, 2.0]
    assert sorted(map(bool, found["jobs"]["reason"])) == [False, True]
