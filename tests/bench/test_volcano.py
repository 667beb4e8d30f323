"""The benchmark of Volcano's scheduler measures what it says."""

import json
from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from seatrial.bench.volcano import burst, create_job, create_single, small_jobs, whole_command
from seatrial.cli.main import build
from seatrial.store.store import Store


def test_a_burst_binds_every_pod_of_every_gang() -> None:
    assert burst(4, 2, 10) > 0


@pytest.mark.parametrize("create", [create_job, create_single])
def test_small_jobs_all_run(create: Callable[[Store, str], None]) -> None:
    assert small_jobs(2, 5, create) > 0


def test_small_jobs_that_do_not_all_run_are_no_figure() -> None:
    with pytest.raises(RuntimeError, match="32 of 33 pods run"):
        small_jobs(1, 33, create_job)


def test_the_whole_command_is_measured_as_a_user_types_it() -> None:
    assert whole_command(2, 5) > 0


def test_a_command_that_does_not_schedule_every_pod_is_no_figure() -> None:
    with pytest.raises(RuntimeError, match=r"exit code 1: (.|\n)*32 of 33 pods were scheduled"):
        whole_command(1, 33)


def test_the_command_prints_each_figure_with_its_limit() -> None:
    result = CliRunner().invoke(build(), ["bench", "volcano", "--scale", "0.01", "--json"])
    figures = json.loads(result.output)
    assert [figure["must"] for figure in figures] == [2000, 1000, 10.0, 10.0, 10.0]
    assert figures[0]["figure"] == "10 nodes, 1 gangs of 100 pods"
