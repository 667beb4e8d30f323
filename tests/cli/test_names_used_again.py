"""Pods that have one name one after the other: each is explained, compared and reported by its own attempts."""

import base64
import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from seatrial.cli.main import build
from seatrial.model.yaml_reader import dump
from tests.scenario.playing import create, delete, done, operations, scenario
from tests.scenario.running import node, pod, priority_class

RUN_DURATION = "simulation.kube-scheduler-simulator.x-k8s.io/run-duration"


def call(*arguments: object) -> str:
    ended = CliRunner().invoke(build(), [str(argument) for argument in arguments], env={"COLUMNS": "200"})
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def write(folder: Path, *items: dict[str, Any], **annotations: str) -> Path:
    path = folder / "scenario.yaml"
    path.write_text(dump(scenario(operations(*items, done(9)), **annotations)))
    return path


def results(folder: Path, *items: dict[str, Any], **annotations: str) -> list[Path]:
    """A run with its timeline, one without recorded attempts, and a Scenario with its result alone."""
    path = write(folder, *items, **annotations)
    call("run", path, "--out", folder / "full")
    call("run", path, "--out", folder / "none", "--record", "none")
    alone = folder / "alone.json"
    alone.write_bytes((folder / "full" / "result.json").read_bytes())
    return [folder / "full", folder / "none", alone]


def data_of(page: Path) -> Any:
    """What a page draws: compressed JSON in its one long text without a space."""
    texts = re.findall(r"H4sI[A-Za-z0-9+/=]+", page.read_text())
    return json.loads(gzip.decompress(base64.b64decode(max(texts, key=len))))


def restarting_pods() -> list[dict[str, Any]]:
    """A StatefulSet whose pods end after 25 of the 60 seconds of a step, and come again under their names."""
    labels = {"labels": {"app": "db"}, "annotations": {RUN_DURATION: "25s"}}
    template = {"metadata": labels, "spec": pod("db")["spec"]}
    spec = {"replicas": 2, "serviceName": "db", "podManagementPolicy": "Parallel", "template": template}
    spec |= {"selector": {"matchLabels": {"app": "db"}}}
    meta = {"name": "db", "namespace": "default"}
    workload = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": spec}
    return [create(1, node("n1")), create(1, node("n2")), create(2, workload), create(4, node("n3"))]


def test_a_pod_is_not_explained_by_attempts_at_an_earlier_one(tmp_path: Path) -> None:
    given = results(
        tmp_path, create(1, node("n1")), create(2, pod("a")), create(2, pod("b")), create(3, node("n2")),
        delete(3, pod("a")), delete(3, pod("b")), create(4, pod("a", nodeName="n2")),
        create(4, pod("b", schedulerName="other")),
    )  # fmt: skip
    for each in given:
        said = call("explain", each, "a")
        assert "n1" not in said, each
        assert "n2" in said and "step 4" in said, each
        assert "attempt 1 of" not in said, each
        assert "is claimed by the scheduler other (spec.schedulerName), which never tried it" in call(
            "explain", each, "b"
        ), each


def test_pods_of_one_name_in_one_step_have_attempts_of_their_own(tmp_path: Path) -> None:
    for each in results(tmp_path, *restarting_pods(), step_duration="1m"):
        said = call("explain", each, "db-0")
        assert "default/db-0 went to n" in said, each
        assert "attempts in step" not in said, each
        assert "attempt 1 of 1," in said, each


def test_a_pod_is_not_explained_by_the_victims_of_an_earlier_one(tmp_path: Path) -> None:
    urgent = pod("urgent", cpu="4", priorityClassName="high")
    given = results(
        tmp_path, create(1, node("n")), create(1, priority_class("high", 100)), create(1, pod("a", cpu="4")),
        create(2, urgent), delete(3, urgent), create(4, urgent),
    )  # fmt: skip
    for each in given:
        said = call("explain", each, "urgent")
        assert "default/urgent went to n in step 4" in said, each
        assert "default/a" not in said, each
        assert "It was preempted by default/urgent in step 2." in call("explain", each, "a"), each


def test_a_report_gives_each_pod_of_a_name_the_attempts_at_it(tmp_path: Path) -> None:
    for each in results(tmp_path, *restarting_pods(), step_duration="1m"):
        call("report", each, "--out", tmp_path / "page.html")
        (shown,) = data_of(tmp_path / "page.html")["runs"]
        pods, attempts = shown["pods"], shown["attempts"]
        assert len(pods["key"]) > 2 * len(set(pods["key"])), "no name was used again"
        assert Counter(attempts["pod"]) == Counter(range(len(pods["key"]))), each
        for place, step, row in zip(attempts["pod"], attempts["step"], attempts["node"], strict=True):
            assert (step, row) == (pods["bound"][place], pods["node"][place]), each


FAR = """
from seatrial.plugins import Plugin

class Far(Plugin):
    def score_one(self, pod, node):
        return 100 if node.name == "n1" else 0
"""


def test_a_difference_is_explained_by_the_attempts_at_the_pod_that_moved(tmp_path: Path) -> None:
    """The later pod of the name can use n3 alone: that is no reason for the earlier one."""
    bound_to_n3 = pod("a", nodeSelector={"kubernetes.io/hostname": "n3"})
    path = write(
        tmp_path, create(1, node("n1", cpu="2")), create(1, node("n2", cpu="8")), create(2, pod("a")),
        delete(3, pod("a")), create(4, node("n3")), create(4, bound_to_n3),
    )  # fmt: skip
    (tmp_path / "far.py").write_text(FAR)
    config: dict[str, Any] = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    config |= {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Far", "weight": 100}]}}}]}
    (tmp_path / "far.yaml").write_text(dump(config))
    plugins = ("--plugins", tmp_path / "far.py")
    call("run", path, "--out", tmp_path / "here")
    call("run", path, "--out", tmp_path / "there", "--scheduler-config", tmp_path / "far.yaml", *plugins)
    for each in ("here", "there"):
        (tmp_path / f"{each}.json").write_bytes((tmp_path / each / "result.json").read_bytes())
    for runs in (("here", "there"), ("here.json", "there.json")):
        printed = call("compare", *(tmp_path / each for each in runs), "--format", "json", "--out", tmp_path)
        (difference,) = json.loads(printed)["differences"]
        assert difference["nodes"] == ["n2", "n1"]
        assert difference["reason"].startswith("Far scores in the second run only: n1 overtakes n2"), difference
        for shown, placed in zip(data_of(tmp_path / "compare.html")["runs"], ("n2", "n1"), strict=True):
            attempts, names = shown["attempts"], shown["nodes"]["name"]
            found = [(place, names[row]) for place, row in zip(attempts["pod"], attempts["node"], strict=True)]
            assert found == [(0, placed), (1, "n3")]
