"""`seatrial verify golden`: what it says and how it exits.

Tests: cli/verify.py
"""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.verify.cases import Case, NoCases, case_files, read_cases
from seatrial.verify.comparing import first_difference
from seatrial.verify.golden import verify_file

GOLDEN = Path(__file__).parents[1] / "golden" / "kube-scheduler"


@pytest.fixture
def two_cases(tmp_path: Path) -> Path:
    """A directory with one right and one wrong recording."""
    case = next(iter(read_cases(GOLDEN / "gates-and-names.jsonl.xz")))
    assert isinstance(case, Case)
    right = {"input": case.input | {"name": "right"}, "expected": case.expected}
    wrong = {"input": case.input | {"name": "wrong"}, "expected": case.expected | {"kubernetes": "v1.36.0"}}
    for name, document in (("right", right), ("wrong", wrong)):
        (tmp_path / f"{name}.json.gz").write_bytes(gzip.compress(orjson.dumps(document)))
    return tmp_path


def test_differences_are_listed_and_the_last_line_counts(two_cases: Path) -> None:
    result = CliRunner().invoke(build(), ["verify", "golden", str(two_cases), "-j", "1"])
    assert result.exit_code == 1
    assert ".kubernetes: expected 'v1.36.0', got 'v1.36.3'" in result.output
    assert result.output.rstrip().splitlines()[-1] == "1 of 2 cases equal"


def test_equal_cases_exit_with_0(two_cases: Path) -> None:
    (two_cases / "wrong.json.gz").unlink()
    result = CliRunner().invoke(build(), ["verify", "golden", str(two_cases)])
    assert (result.exit_code, result.output) == (0, "1 of 1 cases equal\n")


def test_no_directory_and_no_cases_are_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(NoCases, match="no such directory"):
        case_files(tmp_path / "nowhere")
    with pytest.raises(NoCases, match="no recorded cases"):
        case_files(tmp_path)


def good_case() -> dict[str, Any]:
    case = next(iter(read_cases(GOLDEN / "gates-and-names.jsonl.xz")))
    assert isinstance(case, Case)
    return {"input": case.input | {"name": "broken"}, "expected": case.expected}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"input": []}, "expected an object with the objects `input` and `expected`, or `case` and `expect`"),
        ({"expected": None}, "expected an object with the objects `input` and `expected`, or `case` and `expect`"),
        ({"input": {"name": "broken", "objects": {}, "queue": ["p"]}}, "expected the name of a Pod"),
        ({"input": {"name": "broken", "objects": "x"}}, "input.objects: expected a list"),
        ({"input": {"name": "broken", "objects": [{"kind": "Node"}]}}, "input.objects[0]: expected an object with"),
        ({"input": {"name": "broken", "queue": [7]}}, "input.queue[0]: expected the name of a Pod"),
        (
            {"input": {"name": "broken", "objects": [{"kind": "Pod", "metadata": {"name": "p"}, "spec": 5}]}},
            "cannot be replayed",
        ),
        (
            {"input": {"name": "broken", "objects": [{"kind": "Node", "metadata": {"name": "n"}, "status": "up"}]}},
            "cannot be replayed",
        ),
        ({"expected": {"configError": "?"}}, "cannot be replayed"),
    ],
)
def test_a_malformed_case_is_named(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    (tmp_path / "broken.json").write_bytes(orjson.dumps(good_case() | change))
    result = CliRunner().invoke(build(), ["verify", "golden", str(tmp_path)])
    said = str(result.exception)
    assert f"{tmp_path.name}/broken.json: " in said
    assert problem in said


def test_a_malformed_case_does_not_end_the_others(two_cases: Path) -> None:
    (two_cases / "wrong.json.gz").write_bytes(gzip.compress(b'{"input": 5}'))
    (two_cases / "cut.json.gz").write_bytes(b"cut")
    result = CliRunner().invoke(build(), ["verify", "golden", str(two_cases), "-j", "1"])
    assert result.exit_code == 1
    assert "wrong: expected an object with the objects" in result.output
    assert "cut.json.gz: cannot be decompressed" in result.output
    assert result.output.rstrip().splitlines()[-1] == "1 of 3 cases equal"


def test_a_case_is_replayed_by_the_version_that_is_asked_for(two_cases: Path) -> None:
    (two_cases / "wrong.json.gz").unlink()
    result = CliRunner().invoke(build(), ["verify", "golden", str(two_cases), "--kubernetes-version", "1.37"])
    assert "expected 'v1.36.3', got 'v1.37.1'" in result.output


def test_a_file_that_is_no_json_or_cut_off_is_named(tmp_path: Path) -> None:
    whole = gzip.compress(orjson.dumps(good_case()))
    for name, data in (("text.json", b"no json"), ("cut.json.gz", whole[:-20]), ("plain.json.xz", b"{}")):
        (tmp_path / name).write_bytes(data)
        [(named, problem)] = verify_file(tmp_path / name)
        assert name.split(".")[0] in named
        assert problem is not None
        assert "not JSON" in problem or "cannot be decompressed" in problem


def test_the_first_difference_is_named_by_its_path() -> None:
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == ".a[1].b: expected 2, got 3"
    assert first_difference({"a": 1}, {}) == ".a: expected 1, got nothing"
    assert first_difference({}, {"a": 1}) == ".a: expected nothing, got 1"
    assert first_difference([1], [1, 2]) == ".: expected 1 entries, got 2"
    assert first_difference({"a": 1}, {"a": 1}) is None
