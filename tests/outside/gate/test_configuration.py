"""Outside controllers on the command line and in a file."""

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from seatrial.model.errors import ConfigError
from seatrial.outside.configuration import OutsideController, read_outside, with_kubeconfig


def written(path: Path, *controllers: dict[str, Any]) -> str:
    path.write_text(yaml.safe_dump({"controllers": list(controllers)}))
    return str(path)


def test_a_command_line_is_split_as_a_shell_would() -> None:
    (controller,) = read_outside([f"kube-scheduler={sys.executable} -c 'a b' --kubeconfig {{kubeconfig}}"], "5s")
    assert controller.name == "scheduler"
    assert controller.command == (sys.executable, "-c", "a b", "--kubeconfig", "{kubeconfig}")
    assert (controller.username, controller.is_scheduler) == ("system:kube-scheduler", True)
    assert (controller.timeout_seconds, controller.responsible_for) == (5, ("default-scheduler",))


def test_the_profiles_of_a_configuration_say_which_pods_it_schedules(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("profiles:\n- schedulerName: a\n- {}\n")
    for words in (f"--config {config}", f"--config={config}"):
        (controller,) = read_outside([f"scheduler={sys.executable} {words}"])
        assert controller.responsible_for == ("a", "default-scheduler")


def test_a_file_says_how_a_program_is_known(tmp_path: Path) -> None:
    path = written(
        tmp_path / "outside.yaml",
        {"name": "a", "user": "jane"},
        {"name": "b", "serviceAccount": "kube-system/b", "idle": "verdicts", "schedulerNames": ["mine"]},
        {"name": "c", "certificate": "common-name", "quiet": "1s", "timeout": "1m"},
    )
    first, second, third = read_outside([path], "7s")
    assert (first.username, first.command, first.timeout_seconds) == ("jane", (), 7)
    assert (second.username, second.is_scheduler) == ("system:serviceaccount:kube-system:b", True)
    assert second.responsible_for == ("mine",)
    assert (third.username, third.quiet_seconds, third.timeout_seconds) == ("common-name", 1, 60)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"name": ""}, "a name"),
        ({"name": "a", "user": "b", "certificate": "c"}, "one of user, serviceAccount and certificate"),
        ({"name": "a", "serviceAccount": "b"}, "NAMESPACE/NAME"),
        ({"name": "a", "timeout": "soon"}, "timeout"),
        ({"name": "a", "quiet": "0s"}, "above zero"),
        ({"name": "a", "rhythm": "often"}, "expected `interval` and a duration, or one of"),
        ({"name": "a", "rhythm": "interval never"}, "rhythm"),
        ({"name": "scheduler", "rhythm": "interval 1s"}, "has no rhythm"),
        ({"name": "a", "colour": "red"}, "colour"),
        ({"name": "a", "idle": "never"}, "idle"),
        ({"name": "a", "command": ["/no/such/program"]}, "/no/such/program is not a program"),
    ],
)
def test_a_file_that_is_wrong_is_refused(tmp_path: Path, fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        read_outside([written(tmp_path / "outside.yaml", fields)])


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["scheduler="], "NAME=COMMAND"),
        (["scheduler='"], "no command line"),
        (["/no/such/file"], "No such file"),
        (["scheduler"], "NAME=COMMAND"),
        ([f"a={sys.executable}", f"a={sys.executable}"], "more than one"),
    ],
)
def test_an_option_that_is_wrong_is_refused(given: list[str], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        read_outside(given)


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "one document .* found 0"), ("a: 1\n---\nb: 1\n", "found 2"), ("controllers: [{", "yaml: line")],
)
def test_a_file_that_is_no_document_is_named(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "outside.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"^{path}: .*{why}"):
        read_outside([str(path)])


@pytest.mark.parametrize("timeout", ["soon", "5", "0s", "-1s"])
def test_a_timeout_that_is_wrong_is_refused_by_the_name_of_its_option(timeout: str) -> None:
    with pytest.raises(ConfigError, match=r"^--outside-timeout: "):
        read_outside([f"scheduler={sys.executable}"], timeout)


@pytest.mark.parametrize(
    "text",
    ["profiles: [a]\n", "profiles: 1\n", "profiles: [a\n", "kind: KubeSchedulerConfiguration\nclientConnection: a\n"],
)
def test_a_wrong_scheduler_configuration_is_left_to_the_program(tmp_path: Path, text: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)
    (controller,) = read_outside([f"scheduler={sys.executable} --config {config}"])
    assert controller.responsible_for == ("default-scheduler",)
    assert with_kubeconfig(controller, tmp_path / "kubeconfig") == controller.command


def test_a_scheduler_configuration_is_placed_with_the_kubeconfig(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("kind: KubeSchedulerConfiguration\nclientConnection: {qps: 7}\n")
    (controller,) = read_outside([f"scheduler={sys.executable} --config={config} -v 2"])
    command = with_kubeconfig(controller, tmp_path / "kubeconfig")
    placed = tmp_path / "scheduler.config.json"
    assert command == (sys.executable, f"--config={placed}", "-v", "2")
    connection = {"qps": 7, "kubeconfig": str(tmp_path / "kubeconfig")}
    assert yaml.safe_load(placed.read_text())["clientConnection"] == connection


def test_a_rhythm_is_an_interval_or_the_name_of_a_program() -> None:
    assert OutsideController("a", rhythm="interval 2s").interval_seconds == 2
    assert OutsideController("a", rhythm="karpenter").interval_seconds == 26
