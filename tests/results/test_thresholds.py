"""What must not happen, as text."""

import pytest

from seatrial.model.errors import ConfigError
from seatrial.results.comparison.comparison import Comparison, Number
from seatrial.results.comparison.thresholds import Threshold, read_thresholds
from tests.results.conftest import the_story, told_run


@pytest.fixture
def comparison() -> Comparison:
    runs = told_run(the_story(), "before"), told_run(the_story(), "after")
    return Comparison(runs, (Number("allocation_cpu", "allocation", "%", "higher", (50.0, 49.0)),), ())


@pytest.mark.parametrize(
    ("text", "crosses"),
    [
        ("allocation_cpu < -1%", True),
        ("allocation_cpu < -2%", False),
        ("allocation_cpu<-0.5", True),
        ("allocation_cpu <= -1", True),
        ("allocation_cpu > 0", False),
        ("allocation_cpu >= -1", True),
        ("change(allocation_cpu) <= -1", True),
        ("value(allocation_cpu) < 49.5", True),
        ("value(allocation_cpu) < 49", False),
        ("value(allocation_cpu) >= 50", True),
    ],
)
def test_a_threshold_bounds_the_change(comparison: Comparison, text: str, crosses: bool) -> None:
    assert bool(Threshold.parse(text).crossings(comparison)) is crosses


def test_a_crossing_is_told_with_run_and_figure(comparison: Comparison) -> None:
    assert Threshold.parse("allocation_cpu < -1%").crossings(comparison) == [
        "after: allocation_cpu changes by -2% (allocation_cpu < -1%: change from the first run in percent)"
    ]
    assert Threshold.parse("value(allocation_cpu) < 49.5").crossings(comparison) == [
        "after: allocation_cpu is 49 (value(allocation_cpu) < 49.5: value)"
    ]


def test_a_missing_number_is_no_pass() -> None:
    runs = told_run(the_story(), "before"), told_run(the_story(), "after")
    comparison = Comparison(runs, (Number("waiting_p50", "waiting", "steps", "lower", (None, 1.0)),), ())
    (said,) = Threshold.parse("waiting_p50 > 0").crossings(comparison)
    assert said.startswith("after: waiting_p50 is missing, so it cannot be judged")


def test_a_value_takes_no_percent() -> None:
    with pytest.raises(ConfigError, match="without %"):
        Threshold.parse("value(allocation_cpu) < 5%")


@pytest.mark.parametrize("text", ["", "allocation_cpu", "allocation_cpu = 3", "< 5", "a < b"])
def test_a_wrong_threshold_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a threshold"):
        Threshold.parse(text)


@pytest.mark.parametrize("text", ["speed < 1", "value(allocation) > 1", "nodes_use > 5%"])
def test_a_number_that_no_measure_has_is_refused_without_a_run(text: str) -> None:
    with pytest.raises(ConfigError, match=r"--fail-if: '\w+' is not known; known are allocation_\*, .*nodes_used"):
        read_thresholds([text])


def test_only_numbers_of_the_chosen_measures_are_known() -> None:
    assert read_thresholds(["nodes_used > 1"], ["cost"])
    with pytest.raises(ConfigError, match=r"'nodes_used' is not known; known are pods_bound, pods_preempted$"):
        read_thresholds(["nodes_used > 1"], ["pods"])


def test_the_parts_of_a_name_that_depend_on_the_run_are_open() -> None:
    assert read_thresholds(["value(allocation_nvidia.com/gpu) < 1", "job_wait_mean_s.queue.research > 5%"])


def test_a_number_that_no_run_has_is_refused(comparison: Comparison) -> None:
    with pytest.raises(ConfigError, match="no run has 'node_cost'; they have allocation_cpu"):
        Threshold.parse("node_cost > 1").crossings(comparison)
