"""The benchmark of Volcano's scheduler measures what it says."""

import json

from typer.testing import CliRunner

from seatrial.bench.volcano import burst, small_jobs
from seatrial.cli.main import build


def test_a_burst_binds_every_pod_of_every_gang() -> None:
    assert burst(4, 2, 10) > 0


def test_small_jobs_all_run() -> None:
    assert small_jobs(2, 5) > 0


def test_the_command_prints_each_figure_with_its_limit() -> None:
    result = CliRunner().invoke(build(), ["bench", "volcano", "--scale", "0.01", "--json"])
    figures = json.loads(result.output)
    assert [figure["must"] for figure in figures] == [2000, 1000, 10.0]
    assert figures[0]["figure"] == "10 nodes, 1 gangs of 100 pods"
