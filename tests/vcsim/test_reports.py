"""Reports on the terminal and in files."""

import json
import re
from pathlib import Path

import pytest

import seatrial
from seatrial.model.errors import ConfigError
from seatrial.vcsim import reports
from seatrial.vcsim.reports import Outcome
from seatrial.vcsim.throughput import Throughput, measure
from tests.proofs import proves

GOLDEN = """\
Test Finished
Test: /home/simu/test-case.yaml
Status: Success
--------------------------------------------------------------------------------
Measurement: SchedulingThroughput, Report: {
  "perc50": 279.2,
  "perc90": 282.2,
  "perc99": 282.2,
  "max": 282.2
}
Test report file path: /home/simu/.vcsimctl/kind-simulator/report/SchedulingThroughput__2025-07-15T22:25:21+08:00.json
"""
"""The text of the seed, to the letter."""


@proves("VC-026", "VC-027")
def test_the_terminal_shows_the_text_of_the_seed() -> None:
    """Head, status, rule of 80 dashes and the four figures."""
    seen = Throughput(279.2, 282.2, 282.2, 282.2, 280.0, 560, ((0, 280), (1, 280)))
    file = "/home/simu/.vcsimctl/kind-simulator/report/SchedulingThroughput__2025-07-15T22:25:21+08:00.json"
    assert reports.terminal_text(Path("/home/simu/test-case.yaml"), Outcome(seen, 560), Path(file)) == GOLDEN


@proves("VC-037")
def test_a_test_that_is_not_complete_is_no_success() -> None:
    """The status follows from the total."""
    text = reports.terminal_text(Path("/t"), Outcome(measure([1.0]), 2, "1 of 2 pods were scheduled"), Path("/f"))
    assert "Status: Failed\n" in text


@proves("VC-028", "VC-036")
def test_the_file_has_the_same_figures_and_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is named by local time and holds the series."""
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    import time

    time.tzset()
    try:
        path = reports.write(measure([0.0, 0.5, 1.5]), tmp_path / "report")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert re.fullmatch(r"SchedulingThroughput__\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00\.json", path.name)
    assert json.loads(path.read_text()) == {
        "perc50": 1.0,
        "perc90": 2.0,
        "perc99": 2.0,
        "max": 2.0,
        "average": 2.0,
        "total": 3,
        "perSecond": [[0, 2], [1, 1]],
    }


@proves("VC-004")
def test_two_reports_are_two_files(tmp_path: Path) -> None:
    """Reports of one second do not replace each other."""
    paths = {reports.write(measure([1.0]), tmp_path) for _ in range(2)}
    assert len(paths) == 2
    assert reports.listed(tmp_path) == sorted(paths)


def test_a_report_says_what_it_was_measured_with(tmp_path: Path) -> None:
    origin = reports.Origin("virtual", "/tests/gangs.yaml", "small", "that of Volcano's Helm chart")
    found = reports.read(reports.write(measure([0.0, 1.0]), tmp_path, origin))
    assert found["run"]["clock"] == "virtual" and found["run"]["version"] == seatrial.__version__
    assert reports.origin_line(found).startswith(
        "/tests/gangs.yaml on cluster small, virtual clock, configuration: that"
    )
    assert reports.origin_line({"total": 1}) == ""


def test_reports_are_compared_and_drawn() -> None:
    slow, fast = (reports.document(measure(moments)) for moments in ([0.0, 1.0], [0.0, 0.0, 0.5, 1.0]))
    rows = {row[0]: row[1:] for row in reports.comparison([slow, fast])}
    assert rows["total"] == ("2", "4", "+100.0%")
    assert rows["max"] == ("1", "3", "+200.0%")
    assert [line.split()[-1] for line in reports.drawing(fast)] == ["3", "1"]


@pytest.mark.parametrize(
    ("name", "why"), [("none.json", "there is no such file; `vcsimctl report` without"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_read_is_told_without_the_number_of_the_error(
    tmp_path: Path, name: str, why: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        reports.read(tmp_path / name)
    assert str(tmp_path / name) in str(raised.value)
    assert why in str(raised.value)
    assert "Errno" not in str(raised.value)


def test_a_file_that_is_no_report_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ConfigError, match="expected a report with perc50"):
        reports.read(tmp_path / "x.json")
