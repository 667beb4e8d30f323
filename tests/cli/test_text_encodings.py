"""Files that are not UTF-8 text: one message that names the file, exit code 2, for every option that reads one."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_bad_input import SCENARIO

LATIN_1 = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {who: Andr\u00e9}}\n".encode("latin-1")
FROM_CSV = SCENARIO + "  generators: [{step: 1, from: {csv: latin.csv}, createOperation: {object: {}}}]\n"
LINES = (
    "run latin.yaml",
    "run latin.yaml --check",
    "run utf-16.yaml",
    "run latin-csv.yaml",
    "run good.yaml --scheduler-config latin.yaml",
    "run good.yaml --volcano-config latin.conf",
    "run good.yaml --snapshot latin.yaml",
    "run good.yaml --plugins latin.py",
    "run good.yaml --controllers latin.py",
    "run good.yaml --outside latin.yaml",
    "serve --port 0 --token-file latin.csv",
    "serve --port 0 --scheduler-config latin.yaml",
    "serve --port 0 --volcano-config latin.conf",
    "serve --port 0 --snapshot latin.yaml",
    "simulate latin.yaml",
    "compare latin.json latin.json",
    "compare --scenario latin.yaml --scheduler-config good.yaml --scheduler-config good.yaml",
    "explain latin.json p",
    "explain fill p --server latin.yaml",
    "results latin.json",
    "report latin.json",
    "measures --measures latin.py",
    "capacity pods latin.yaml --snapshot latin.yaml",
    "capacity nodes latin.yaml --scenario good.yaml",
    "sweep latin.yaml",
    "snapshot latin.yaml -o cluster.yaml",
    "config expand latin.yaml",
    "config validate latin.yaml",
    "verify golden folder",
    "operator --kubeconfig latin.yaml",
    "scenario-runner --template latin.yaml --result r.json",
    "vcsimctl run --test latin.yaml",
    "vcsimctl create cluster --config latin.yaml",
    "vcsimctl report latin.json",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("latin.yaml", "latin.json", "latin.conf", "latin.csv", "latin.py", "folder/latin.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(LATIN_1)
    (tmp_path / "good.yaml").write_text(SCENARIO)
    (tmp_path / "utf-16.yaml").write_bytes(SCENARIO.encode("utf-16"))
    (tmp_path / "latin-csv.yaml").write_text(FROM_CSV)
    return tmp_path


@pytest.mark.parametrize("line", LINES)
def test_the_file_is_named(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    words = line.split() if line.startswith("vcsimctl") else ["seatrial", *line.split()]
    program = Path(sys.executable).with_name(words[0])
    ended = subprocess.run([program, *words[1:]], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2, ended
    assert "Traceback" not in ended.stderr
    assert "latin." in ended.stderr or "utf-16.yaml" in ended.stderr, ended.stderr
