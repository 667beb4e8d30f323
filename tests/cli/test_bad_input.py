"""What a command is given wrongly is one message and an exit code, never a traceback."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from seatrial.cli import main

SCENARIO = """
apiVersion: simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1
kind: Scenario
metadata: {name: fill}
spec:
  controllers: {simulationControllers: {enabled: [{name: scheduler}]}}
  operations:
  - {step: 1, createOperation: {object: {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default},
      spec: {containers: [{name: c, image: i}]}}}}
  - {step: 2, doneOperation: {}}
"""
ROUGH = "[/red] bad [x]"
FILES = {
    "empty.yaml": b"",
    "binary.yaml": bytes(range(256)),
    "wrong.yaml": b"a: [1, 2\nb: }",
    "list.yaml": b"- 1\n- 2\n",
    "pod.yaml": b"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
    "pod.json": b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}',
    "empty.json": b"",
    "binary.json": bytes(range(256)),
    "deep.json": b'{"kind":"Scenario","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "good.yaml": SCENARIO.encode(),
    "profile.yaml": b"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: 7\n",
    "minutes.yaml": SCENARIO.replace(
        "{name: fill}",
        "{name: fill, annotations: {simulation.kube-scheduler-simulator.x-k8s.io/step-duration: 60}}",
    ).encode(),
    "mine.yaml": b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Mine}]}}}]
""",
    "report.html": b"<html></html>",
    "nobody-listens.yaml": b"""
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: a, user: {token: x}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
""",
    "plugin.py": b"def broken(:\n",
    "tokens.bin": b"\xff\xfe\x00,a,b",
    "tokens.csv": b"only-a-token\n",
}
STEPS = SCENARIO.split("  operations:")[0] + "  operations:\n"
INVALID = {
    "no-action.yaml": STEPS + "  - {step: 1, id: x}\n",
    "two-actions.yaml": STEPS + "  - {step: 1, id: x, doneOperation: {}, createOperation: {object: {}}}\n",
    "discriminator.yaml": STEPS + "  - {step: 1, id: x, operation: Delete, doneOperation: {}}\n",
    "same-id.yaml": STEPS + "  - {step: 1, id: x, doneOperation: {}}\n  - {step: 2, id: x, doneOperation: {}}\n",
    "nobody.yaml": SCENARIO.replace("name: scheduler", "name: nobody"),
    "both.yaml": SCENARIO + "  events: [{step: 1, id: e, operation: Done, doneOperation: {}}]\n",
    "no-target.yaml": STEPS
    + "  - {step: 1, id: x, deleteOperation: {typeMeta: {apiVersion: v1, kind: Pod},"
    + " objectMeta: {name: gone, namespace: default}}}\n",
}
"""Scenarios that can be read and end Failed."""
UNREADABLE = {
    "unknown-field.yaml": STEPS + "  - {step: 1, id: x, surprise: {}}\n",
    "twice.yaml": STEPS + "  - {step: 1, step: 2, doneOperation: {}}\n",
    "negative.yaml": STEPS + "  - {step: -1, doneOperation: {}}\n",
    "too-late.yaml": STEPS + "  - {step: 2147483648, doneOperation: {}}\n",
    "word.yaml": STEPS + "  - {step: one, doneOperation: {}}\n",
    "made-too-late.yaml": STEPS
    + """  generators:
  - {step: 1, count: 1, createOperation: {object: {}}}
  - {step: "${=index*1000000000}", count: 9, createOperation: {object: {}}}
""",
    "too-many.yaml": STEPS + "  generators: [{step: 1, count: 1000000000000, createOperation: {object: {}}}]\n",
}
SNAPSHOTS = {
    "numbers.yaml": "items: [1]",
    "nameless.yaml": "items: [{metadata: {name: x}}]",
    "metadata.yaml": "{kind: List, apiVersion: v1, items: [{apiVersion: v1, kind: Pod, metadata: 7}]}",
    "export.yaml": "pods: 7",
    "exported.yaml": "pods: [3]",
    "kind.yaml": "{kind: 5, apiVersion: v1, metadata: {name: x}}",
}
FOREVER = "serve --port 0 --insecure"

BAD = [
    # run
    *[(2, f"run {name}") for name in ("absent.yaml", ".", "empty.yaml", "binary.yaml", "wrong.yaml", "list.yaml")],
    *[(2, f"run {name} --out refused") for name in UNREADABLE],
    *[(1, f"run {name} --out failed --no-report --quiet") for name in INVALID],
    (2, "run pod.yaml"),
    (2, "run deep.json"),
    (2, "run minutes.yaml"),
    (2, "run minutes.yaml --check"),
    (2, "run"),
    (2, "run good.yaml --record some"),
    (2, "run good.yaml --tie-break dice"),
    (2, "run good.yaml --seed x"),
    (2, "run good.yaml --cells -1"),
    (2, "run good.yaml --max-loops 0"),
    (2, "run good.yaml --unknown"),
    (2, "run good.yaml pod.yaml"),
    (2, "run good.yaml --plugins absent.py"),
    (2, "run good.yaml --plugins plugin.py"),
    *[(2, f"run good.yaml --scheduler-config {name}") for name in ("absent.yaml", ".", "binary.yaml", "profile.yaml")],
    *[(2, f"run good.yaml --snapshot {name}") for name in ("absent.yaml", ".", "binary.yaml", "wrong.yaml")],
    # what is read from a run
    *[
        (2, f"{command} {name} {more}")
        for command, more in (("explain", "p"), ("results", ""), ("compare", "run"))
        for name in ("absent", "absent.json", ".", "empty.json", "binary.json", "pod.json", "report.html")
    ],
    (2, "explain"),
    (2, "explain run absent"),
    (2, "explain run p --attempt 99"),
    (2, "explain run p --attempt -1"),
    (2, "results deep.json"),
    (2, "results run no_such_measure"),
    (2, "results run --csv good.yaml"),
    (2, "results run --parquet good.yaml"),
    (2, "results torn"),
    (2, "explain torn p"),
    (2, "run good.yaml --out good.yaml"),
    (2, "compare run run --out good.yaml"),
    (2, "compare run run --out page --junit ."),
    (2, "measures extra"),
    (2, "compare run"),
    (2, "compare run run --fail-if nonsense"),
    (2, "compare run run --measure no_such_measure"),
    (2, "compare run run --format pdf"),
    (2, "compare --scenario absent.yaml --scheduler-config default --scheduler-config default"),
    (2, "compare --scenario good.yaml --scheduler-config default"),
    (2, "compare --scenario good.yaml --scheduler-config default --scheduler-config absent.yaml"),
    # config
    (2, "config"),
    (2, "config default extra"),
    *[
        (2, f"config {command} {name}")
        for command in ("expand", "validate")
        for name in ("absent.yaml", ".", "binary.yaml")
    ],
    *[(2, f"config expand {name}") for name in ("wrong.yaml", "pod.yaml", "list.yaml", "profile.yaml")],
    *[(1, f"config validate {name}") for name in ("wrong.yaml", "pod.yaml", "list.yaml", "profile.yaml")],
    (2, "config expand --output xml"),
    (2, "config expand --feature-gates nonsense"),
    (2, "config validate"),
    # verify, snapshot
    *[(2, f"verify golden {name}") for name in ("absent", "good.yaml", "lone")],
    (2, "snapshot"),
    *[(2, f"snapshot {name}") for name in ("absent.yaml", ".", "binary.yaml", "wrong.yaml", "list.yaml")],
    *[(2, f"snapshot {name}") for name in SNAPSHOTS],
    *[(2, f"run good.yaml --snapshot {name}") for name in SNAPSHOTS],
    *[(2, f"snapshot --kubeconfig {name}") for name in ("absent", ".", "empty.yaml", "binary.yaml", "wrong.yaml")],
    (2, "snapshot --kubeconfig nobody-listens.yaml"),
    (2, "snapshot pod.yaml --kubeconfig absent"),
    (2, "snapshot pod.yaml -o lone"),
    # serve
    (2, "serve --port -1"),
    (2, "serve --port 65536"),
    (2, "serve --record some"),
    (2, "serve --max-request-bytes 0"),
    (2, f"{FOREVER} --data-dir good.yaml"),
    (2, f"{FOREVER} --kubeconfig lone"),
    *[(2, f"{FOREVER} --token-file {name}") for name in ("absent", ".", "tokens.bin", "tokens.csv")],
    *[(2, f"{FOREVER} --scheduler-config {name}") for name in ("absent.yaml", "binary.yaml", "profile.yaml")],
    (2, f"{FOREVER} --controllers nobody"),
    (2, "no-such-command"),
]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with bad files, a run, and a result.json that lost its timeline."""
    folder = tmp_path_factory.mktemp("bad")
    texts = {name: text.encode() for name, text in (INVALID | UNREADABLE | SNAPSHOTS).items()}
    for name, data in (FILES | texts).items():
        (folder / name).write_bytes(data)
    arguments = ["run", str(folder / "good.yaml"), "--out", str(folder / "run"), "--quiet", "--no-report"]
    assert CliRunner().invoke(main.build(), arguments, catch_exceptions=False).exit_code == 0
    (folder / "torn").mkdir()
    (folder / "torn" / "result.json").write_bytes((folder / "run" / "result.json").read_bytes())
    (folder / "torn" / "timeline.parquet").write_bytes((folder / "run" / "timeline.parquet").read_bytes()[:-40])
    (folder / "lone").mkdir()
    (folder / "lone" / "result.json").write_bytes((folder / "run" / "result.json").read_bytes())
    return folder


@pytest.fixture
def call(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> "Call":
    """The `seatrial` program in that folder."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    return Call(monkeypatch, capsys)


@dataclass
class Call:
    """Runs a command line as the program does."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, line: str) -> Ended:
        self.monkeypatch.setattr("sys.argv", ["seatrial", *line.split()])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main()
        out, err = self.capsys.readouterr()
        return Ended(int(ended.value.code or 0), out, err)


@pytest.mark.parametrize(("code", "line"), BAD)
def test_bad_input_ends_with_a_message(call: Call, code: int, line: str) -> None:
    ended = call(line)
    assert ended.code == code, ended
    assert "Traceback" not in ended.err
    assert ended.err.strip() or "Usage" in ended.out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{FOREVER} --data-dir good.yaml", "good.yaml: --data-dir: cannot be used as a directory"),
        (f"{FOREVER} --kubeconfig lone", "lone: --kubeconfig: expected the path of a file"),
        (f"{FOREVER} --token-file tokens.bin", "tokens.bin: not a token file"),
        ("run made-too-late.yaml", "made-too-late.yaml: spec.generators[1].step: the last step is 2147483647"),
        (
            "run made-too-late.yaml --check",
            "made-too-late.yaml:10: spec.generators[1].step: the last step is 2147483647",
        ),
        ("run too-many.yaml", "too-many.yaml: spec.generators[0].count: a scenario has at most 10000000 operations"),
        ("sweep good.yaml", "good.yaml: kind: is a Scenario, which `seatrial run` plays; a sweep names it"),
        ("run minutes.yaml", "minutes.yaml:4: metadata.annotations"),
        ("run minutes.yaml", 'step-duration]: expected a string such as "60s", got 60'),
        ("explain run absent", "the timeline has no pod default/absent"),
        ("explain report.html p", "report.html: is not JSON"),
        ("results deep.json", "deep.json: is nested too deeply"),
        ("explain run p --attempt 99", ", got 99"),
        (
            "run good.yaml --scheduler-config mine.yaml",
            '"Mine" does not exist (a plugin of your own comes with --plugins',
        ),
        ("config expand mine.yaml", "--plugins FILE"),
        ("config validate mine.yaml", "--plugins FILE"),
        ("run good.yaml --feature-gates Foo=true", "--feature-gates: unrecognized feature gate: Foo"),
        ("config expand --feature-gates Foo=true", "--feature-gates: unrecognized feature gate: Foo"),
        ("snapshot pod.yaml -o absent/cluster.yaml", "--output: absent/cluster.yaml cannot be written"),
        ("snapshot pod.yaml -o lone", "--output: lone cannot be written"),
        (
            "run good.yaml --snapshot good.yaml",
            "good.yaml: kind: a Scenario is no snapshot: play it with `seatrial run",
        ),
        ("run good.yaml --check --snapshot good.yaml", "good.yaml: kind: a Scenario is no snapshot"),
        ("results run --csv --json", "--csv: expected a folder, got --json"),
        ("results run --parquet --csv", "--parquet: expected a folder, got --csv"),
        ("compare run run --out page --junit absent/junit.xml", "--junit: absent/junit.xml cannot be written"),
        ("compare run run --out page --junit .", "--junit: . cannot be written"),
    ],
)
def test_the_message_names_what_is_wrong(call: Call, line: str, said: str) -> None:
    ended = call(line)
    assert said in ended.err
    assert not ended.out


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_decoded_leaves_no_files(call: Call, folder: Path, name: str) -> None:
    assert call(f"run {name} --out undecoded").code == 2
    assert not (folder / "undecoded").exists()


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_scenario_ends_failed_and_its_result_is_written(call: Call, folder: Path, name: str) -> None:
    out = folder / f"of-{name}"
    assert call(f"run {name} --out {out} --no-report --quiet").code == 1
    assert b'"phase":"Failed"' in (out / "result.json").read_bytes()


@pytest.mark.parametrize("option", ["--wait", "--paused"])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_time_that_never_ends_is_refused(call: Call, option: str, value: str) -> None:
    ended = call(f"scenario-runner --template good.yaml --result r.json {option} {value}")
    assert ended.code == 2
    assert f"Invalid value for '{option}'" in ended.err


def test_a_bad_token_file_is_found_before_the_kubeconfig_is_written(call: Call, folder: Path) -> None:
    assert call(f"{FOREVER} --token-file tokens.bin --kubeconfig written").code == 2
    assert not (folder / "written").exists()


def test_a_snapshot_without_objects_warns(call: Call) -> None:
    ended = call("snapshot empty.yaml -o nothing.yaml")
    assert ended.code == 0
    assert "empty.yaml: no objects found" in ended.err
    assert ended.out == "nothing.yaml: 0 objects\n"


@pytest.mark.parametrize("flags", ["--quiet --no-report", "--check"])
def test_a_run_with_a_snapshot_without_objects_warns(call: Call, flags: str) -> None:
    ended = call(f"run good.yaml --snapshot empty.yaml {flags}")
    assert ended.code == 0
    assert "warning: empty.yaml: no objects found" in ended.err


def test_the_help_of_snapshot_names_the_extra(call: Call) -> None:
    assert "[cluster]" in " ".join(call("snapshot --help").out.split())


def test_what_a_plugin_says_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    from seatrial.cli.explain import _show
    from seatrial.timeline import Attempt, Cells

    attempt = Attempt(
        major=1, minor=0, outcome="unschedulable", node="", nominated="", message=ROUGH, visited=1, feasible=0,
        reasons={ROUGH: 1},
        cells=Cells(
            ("n",), np.array([1]), [["Picky", "Unschedulable", ROUGH]], ("Picky",), (), (), (), (), (), np.array([])
        ),
    )  # fmt: skip
    _show(attempt, 1, 1, every=True)
    assert ROUGH in capsys.readouterr().out


def test_names_of_runs_are_no_markup(call: Call, folder: Path) -> None:
    for name in ("[red]", "[x]"):
        (folder / name).mkdir(exist_ok=True)
        for file in ("result.json", "timeline.parquet"):
            (folder / name / file).write_bytes((folder / "run" / file).read_bytes())
    ended = call("compare [red] [x] --out page")
    assert ended.code == 0
    assert "[red]" in ended.out and "Δ [x]" in ended.out


def test_json_of_results_is_alone_on_standard_output(call: Call) -> None:
    import json

    ended = call("results run --csv tables --json")
    assert ended.code == 0
    assert json.loads(ended.out)
    assert "written tables" in ended.err
