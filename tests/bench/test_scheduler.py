"""The workloads of `seatrial bench scheduler`, small: all of them come to their end, and the table says so."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seatrial.bench.figures import Figure
from seatrial.bench.oracle import upstream_rate
from seatrial.bench.workload_run import WorkloadRun
from seatrial.bench.workloads import Workload, read_workload, shipped_workloads
from seatrial.cli.main import build
from seatrial.model.errors import ConfigError, SeatrialError
from tests.known_kinds import known_kind

MUSTS = {
    "SchedulingBasic": (4000, 10_000),
    "SchedulingPodAntiAffinity": (1500, 5000),
    "SchedulingPodAffinity": (700, 5000),
    "TopologySpreading": (1500, 8000),
    "PreemptionAsync": (1500, 5000),
    "PreemptionBasic": (50, 300),
    "SchedulingBasic50000": (1000, 5000),
}
WORKLOADS = [*shipped_workloads(), *shipped_workloads("against")]


def test_the_shipped_workloads_have_their_limits() -> None:
    assert {one.name: (one.must, one.goal) for one in shipped_workloads()} == MUSTS
    assert {one.name: one.must for one in shipped_workloads("against")} == {"plain": 8, "spread": 10, "anti": 12}


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: one.name)
def test_every_measured_pod_is_bound(workload: Workload) -> None:
    small = workload.scaled(0.002 if workload.name == "SchedulingBasic50000" else 0.01)
    timing = WorkloadRun().run(small)
    assert timing.pods == small.steps[-1].count  # type: ignore[union-attr]
    assert timing.rate > 0


def test_every_pod_of_preemption_basic_evicts_three_others() -> None:
    workload = next(one for one in shipped_workloads() if one.name == "PreemptionBasic").scaled(0.02)
    run = WorkloadRun()
    timing = run.run(workload)
    kind = known_kind(run.store.kinds, "v1", "Pod")
    left = [stored for stored in run.store.list(kind) if "priorityClassName" not in stored.document()["spec"]]
    assert timing.attempts == 2 * timing.pods
    assert len(left) == 80 - 3 * timing.pods


def test_preemptors_come_while_the_measured_pods_pass() -> None:
    workload = next(one for one in shipped_workloads() if one.name == "PreemptionAsync").scaled(0.05)
    run = WorkloadRun()
    run.run(workload)
    kind = known_kind(run.store.kinds, "v1", "Pod")
    documents = [stored.document() for stored in run.store.list(kind)]
    assert sum(document["spec"].get("priorityClassName") == "high" for document in documents) == 7


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name: a\nmust: 1\nsteps: [{opcode: createPods}]", "missing required field"),
        ("name: a\nmust: 1\nsteps: [{opcode: fly}]", "Invalid value 'fly'"),
        ("name: a\nmust: 1\nsteps: []\nspeed: 3", "unknown field `speed`"),
        ("[]", "Expected `object`"),
        ("", "found 0"),
    ],
)
def test_a_bad_workload_is_refused(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        read_workload(text, "w.yaml")


def test_pods_that_do_not_fit_are_told() -> None:
    text = "name: a\nmust: 1\nsteps: [{opcode: createPods, count: 3, template: pod-default, measured: true}]"
    with pytest.raises(SeatrialError, match="only 0 of 3 measured pods"):
        WorkloadRun().run(read_workload(text, "w.yaml"))


def test_the_command_prints_figures_and_verdicts() -> None:
    small = ["bench", "scheduler", "--workload", "PreemptionBasic", "--scale", "0.02"]
    told = CliRunner().invoke(build(), [*small, "--json"])
    (figure,) = json.loads(told.output)
    assert figure["workload"] == "PreemptionBasic" and figure["must"] == 50
    assert told.exit_code == (1 if figure["verdict"] == "MISSED" else 0)


def test_an_unknown_workload_is_named() -> None:
    told = CliRunner().invoke(build(), ["bench", "scheduler", "--workload", "Nonsense"])
    assert isinstance(told.exception, ConfigError)
    assert "Nonsense" in str(told.exception)


def test_the_comparison_reads_what_the_oracle_says(tmp_path: Path) -> None:
    plain = shipped_workloads("against")[0].scaled(0.1)
    program = tmp_path / "oracle"
    program.write_text('#!/bin/sh\necho "asked=$* pods_per_cpu_s=123.5"\n')
    program.chmod(0o755)
    assert upstream_rate(program, plain) == 123.5
    program.write_text("#!/bin/sh\necho nothing\n")
    with pytest.raises(SeatrialError, match="did not say"):
        upstream_rate(program, plain)
    with pytest.raises(SeatrialError, match="does not run"):
        upstream_rate(tmp_path / "absent", plain)


def test_a_figure_says_whether_it_is_met() -> None:
    assert Figure("a", 5, "/s", 4, 10, more_is_better=True).verdict == "ok, goal not reached"
    assert Figure("a", 3, "/s", 4, 10, more_is_better=True).verdict == "MISSED"
    assert Figure("a", 100, "MB", 200, 150).verdict == "ok"
