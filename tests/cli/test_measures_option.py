"""`--measures FILE.py`: measures of the user, without a package."""

from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.errors import ConfigError
from seatrial.results import measure as declarations
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod

FILE = '''
import polars as pl
from seatrial.results.measure import measure

@measure("own_pods", unit="pods", better="lower", summary=lambda frame: {"own_pods": float(len(frame))})
def own_pods(run):
    """Pods that were created."""
    return pl.DataFrame({"pod": [pod.key for pod in run.pods]})
'''


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    declarations.all_measures()
    monkeypatch.setattr(declarations, "_declared", dict(declarations._declared))
    Path("scenario.json").write_bytes(
        orjson.dumps(scenario(operations(create(1, node("n")), create(1, pod("a")), done(1))))
    )
    Path("own.py").write_text(FILE)
    invoke("run", "scenario.json", "--no-report", "--out", "out")


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(build(), list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_a_measure_of_a_file_is_listed_and_printed() -> None:
    assert "Pods that were created." in invoke("measures", "--measures", "own.py")
    assert "default/a" in invoke("results", "out", "own_pods", "--measures", "own.py")


def test_a_measure_of_a_file_is_compared() -> None:
    assert "own_pods" in invoke("compare", "out", "out", "--measures", "own.py", "--measure", "own_pods")


def test_a_file_without_measures_is_refused() -> None:
    Path("empty.py").write_text("")
    with pytest.raises(ConfigError, match="no function in it is declared"):
        invoke("results", "out", "--measures", "empty.py")
