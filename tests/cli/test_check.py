"""`seatrial run --check`: what is wrong, in which file, line and field, without playing.

Tests: scenario/spec/linting.py, scenario/spec/validation.py, cli/terminal/findings.py
"""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner, Result

from seatrial.cli.main import build
from tests.examples.playing import Example, examples, seatrial
from tests.scenario.playing import create, delete, done, operations, patch, scenario
from tests.scenario.running import node, pod

FILE = "scenario.json"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(*items: dict[str, Any], flags: tuple[str, ...] = (), **more: Any) -> Result:
    """The answer to a scenario with these operations and a Done."""
    spec = {**operations(*items, done(9)), **more}
    Path(FILE).write_bytes(orjson.dumps(scenario(spec), option=orjson.OPT_INDENT_2))
    return CliRunner().invoke(build(), ["run", FILE, "--check", *flags])


def findings(*items: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(check(*items, flags=("--json",), **more).stdout)["findings"]
    return found


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "kind": (
        create(1, {"apiVersion": "v1", "kind": "Nodee", "metadata": {"name": "a"}}),
        "createOperation.object",
        'no matches for kind "Nodee" in version "v1"',
    ),
    "kind of a target": (
        delete(1, {"apiVersion": "v7", "kind": "Node", "metadata": {"name": "a"}}),
        "deleteOperation",
        'no matches for kind "Node" in version "v7"',
    ),
    "quantity": (
        create(1, pod("p", cpu="lots")),
        "createOperation.object.spec.containers[0].resources.requests.cpu",
        "got 'lots'",
    ),
    "quantity of a node": (
        create(1, node("m", cpu="4 cores")),
        "createOperation.object.status.allocatable.cpu",
        "got '4 cores'",
    ),
    "namespace": (
        create(1, {**pod("p"), "metadata": {"name": "p", "namespace": "nowhere"}}),
        "createOperation.object.metadata.namespace",
        'namespaces "nowhere" not found',
    ),
    "field": (create(1, pod("p", color="red")), "createOperation.object.spec.color", 'unknown field "spec.color"'),
    "value": (create(1, pod("p", restartPolicy="Maybe")), "createOperation.object.spec.restartPolicy", "Unsupported"),
    "priority class": (
        create(1, pod("p", priorityClassName="nope")),
        "createOperation.object.spec.priorityClassName",
        "no PriorityClass with name nope was found",
    ),
    "runtime class": (
        create(1, pod("p", runtimeClassName="nope")),
        "createOperation.object.spec.runtimeClassName",
        'RuntimeClass "nope" not found',
    ),
    "type": (create(1, pod("p", priority="high")), "createOperation.object.spec.priority", "cannot unmarshal string"),
    "label": (
        create(1, {**pod("p"), "metadata": {"name": "p", "labels": {"a": 1}}}),
        "createOperation.object.metadata.labels",
        "cannot unmarshal number",
    ),
    "time": (
        create(1, {**pod("p"), "metadata": {"name": "p", "creationTimestamp": "yesterday"}}),
        "createOperation.object.metadata.creationTimestamp",
        'parsing time "yesterday"',
    ),
    "patch": (patch(1, node("n"), '{"a: '), "patchOperation", "neither JSON nor YAML"),
    "patch of no object": (patch(1, node("n"), "3"), "patchOperation.patch", "error decoding patch"),
    "patched value": (
        patch(1, node("n"), {"spec": {"unschedulable": "yes"}}),
        "patchOperation.patch",
        "cannot convert string to boolean",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_operation_is_named_with_its_field(wrong: str) -> None:
    operation, field, message = WRONG[wrong]
    result = check(create(0, node("n")), operation)
    assert result.exit_code == 1
    found = next(line for line in result.stderr.splitlines() if "warning" not in line)
    assert found.startswith(f"{FILE}:")
    assert f": spec.operations[1].{field}: operation op-2: " in found
    assert message in found
    line = int(found.split(":")[1])
    assert field.rsplit(".", 1)[-1] in Path(FILE).read_text().splitlines()[line - 1]
    assert not Path("seatrial-out").exists()


@pytest.mark.parametrize("field", ["apiVersion", "kind", "metadata", "spec"])
@pytest.mark.parametrize("value", [5, True, [1], {"a": 1}, 1.5, [[]], {"": None}], ids=repr)
def test_the_check_says_of_garbage_what_a_run_says(field: str, value: Any) -> None:
    checked = check(create(1, {**pod("p"), field: value}))
    ran = CliRunner().invoke(build(), ["run", FILE, "--quiet", "--no-report"])
    assert (checked.exit_code, ran.exit_code) == (1, 1)
    assert "operation op-1" in ran.stderr


def test_json_is_one_document_with_all_findings() -> None:
    result = check(create(1, pod("p", cpu="lots")), delete(2, pod("nobody")), flags=("--json",))
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert (told["file"], told["valid"], told["operations"]) == (FILE, False, 3)
    assert [(row["level"], row["operation"]) for row in told["findings"]] == [("error", "op-1"), ("warning", "op-2")]
    assert all(row["line"] and row["field"] and row["message"] for row in told["findings"])
    assert result.stderr == ""


def test_json_says_valid() -> None:
    result = check(create(1, node("n")), flags=("--json",))
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"file": FILE, "valid": True, "operations": 2, "findings": []}


def test_json_tells_of_what_cannot_be_decoded() -> None:
    result = check({"step": -1}, flags=("--json",))
    assert result.exit_code == 2
    told = json.loads(result.stdout)
    assert told["valid"] is False
    assert told["findings"][0]["field"] == "spec.operations[0].step"
    assert told["findings"][0]["line"]


UNKNOWN = {"simulationControllers": {"enabled": [{"name": "scheduler"}, {"name": "nobody"}]}}


@pytest.mark.parametrize(
    ("more", "field", "message"),
    [
        (
            {"controllers": UNKNOWN},
            "spec.controllers.simulationControllers.enabled[1].name",
            "controller 'nobody' is not known",
        ),
        ({"controllers": {}}, "spec.controllers.simulationControllers.enabled", "is required"),
        (
            {"events": [{"id": "e", "step": 1, "operation": "Done", "doneOperation": {}}]},
            "spec.events",
            "two spellings",
        ),
        (
            {"generators": [{"step": 1, "count": 2, "createOperation": {"object": node("n-${nope}")}}]},
            "spec.generators[0]",
            "${nope} is not known here",
        ),
    ],
)
def test_what_is_wrong_with_the_scenario_has_its_field_and_line(more: dict[str, Any], field: str, message: str) -> None:
    from seatrial.scenario.spec.decoding import line_of

    row = next(row for row in findings(**more) if message in row["message"])
    assert row["field"] == field
    assert row["line"] == line_of(Path(FILE).read_text(), field) > 0


def test_json_has_the_line_of_wrong_yaml() -> None:
    Path("wrong.yaml").write_text("a: [1, 2\nb: }")
    result = CliRunner().invoke(build(), ["run", "wrong.yaml", "--check", "--json"])
    assert result.exit_code == 2
    (row,) = json.loads(result.stdout)["findings"]
    assert row["file"] == "wrong.yaml" and row["line"] == 2


def test_expand_prints_json_too() -> None:
    made = {"step": 1, "count": 2, "createOperation": {"object": node("n-${index}")}}
    result = check(flags=("--expand", "--json"), generators=[made])
    assert len(json.loads(result.stdout)["spec"]["operations"]) == 3


def test_what_a_generator_makes_is_told_once() -> None:
    made = {"step": 1, "count": 40, "createOperation": {"object": pod("p-${index}", cpu="lots")}}
    (row,) = findings(generators=[made])
    assert row["field"].startswith("spec.generators[0].createOperation.object.spec.containers")
    assert row["message"].endswith("(and 39 more of this generator)")


def test_kinds_that_the_scenario_defines_are_known() -> None:
    from tests.scenario.engine.test_operations import WIDGET, WIDGETS

    assert findings(create(1, WIDGETS), create(2, WIDGET)) == []


def test_what_controllers_may_see_to_is_only_doubtful() -> None:
    rows = findings(create(1, node("n")), create(2, node("n")), delete(3, pod("of-a-deployment")))
    assert [row["level"] for row in rows] == ["warning", "warning"]
    assert "already exists" in rows[0]["message"]
    assert "not found" in rows[1]["message"]


def test_one_name_for_all_that_a_generator_makes_is_an_error() -> None:
    (row,) = findings(generators=[{"step": 1, "count": 3, "createOperation": {"object": pod("p")}}])
    assert row["level"] == "error"
    assert row["field"] == "spec.generators[0].createOperation.object.metadata.name"
    assert row["message"] == 'pods "p" already exists (and 1 more of this generator)'


def test_what_a_quota_refuses_is_left_to_the_play() -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}}
    assert findings(create(1, {**quota, "spec": {"hard": {"pods": "0"}}}), create(2, pod("p"))) == []


def test_a_snapshot_is_there_for_the_check() -> None:
    Path("cluster.json").write_bytes(orjson.dumps({"apiVersion": "v1", "kind": "List", "items": [node("n")]}))
    result = check(patch(1, node("n"), {"spec": {"unschedulable": True}}), flags=("--snapshot", "cluster.json"))
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: example.name)
def test_nothing_is_wrong_with_the_examples(example: Example) -> None:
    """In a process of its own, since controllers stay registered in one."""
    told = json.loads(seatrial("run", str(example.scenario), "--check", "--json", *example.flags))
    assert told["valid"]
    assert not [row for row in told["findings"] if "there is no Done" not in row["message"]]


def test_an_unknown_annotation_of_the_scenario_is_doubtful() -> None:
    document = scenario(operations(create(1, node("n")), done(2)), step_durations="1m")
    Path(FILE).write_bytes(orjson.dumps(document))
    result = CliRunner().invoke(build(), ["run", FILE, "--check"])
    assert result.exit_code == 0
    assert "step-durations has no effect on a Scenario; there are step-duration, foreign-writes" in result.stderr
