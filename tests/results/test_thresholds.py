"""What must not happen, as text."""

import pytest

from seatrial.model.errors import ConfigError
from seatrial.results.comparison.comparison import Comparison, Number
from seatrial.results.comparison.thresholds import Threshold
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


def test_an_unknown_number_is_refused(comparison: Comparison) -> None:
    with pytest.raises(ConfigError, match="'speed' is not known; known are allocation_cpu"):
        Threshold.parse("speed < 1").crossings(comparison)
