"""The recipes of CONTRIBUTING.md work as they are written."""

import re
from pathlib import Path
from typing import Any

import pytest

from seatrial.results import measure as declarations
from tests.results.conftest import the_story, told_run
from tests.scheduler.cluster_builders import SmallCluster, a_node, a_pod

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
NODE_RACK_TEST = "tests/scheduler/plugins/test_node_rack.py"
ENABLED = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "NodeRack"}]}}}],
}


def recipe(path: str) -> dict[str, Any]:
    """What the code of a recipe defines."""
    found = re.search(rf"```python\n# {path}\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None, f"no recipe for {path}"
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(found[1], path, "exec"), names)
    return names


def test_the_plugin_of_the_recipe_filters() -> None:
    plugin = recipe("src/seatrial/scheduler/plugins/node_rack.py")["NodeRack"]
    cluster = SmallCluster(a_node("near", rack="r1"), a_node("far"), config=ENABLED, plugins=(plugin,))
    assert cluster.rejections(a_pod("p", labels={"rack": "r1"})) == {"far": ("node(s) are in another rack",)}


def test_the_measure_of_the_recipe_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "_declared", {})
    recipe("src/seatrial/results/measures/displaced.py")
    declared = declarations._declared["displaced"]
    table = declared.compute(told_run(the_story()))
    assert table.to_dicts() == [{"owner": "ReplicaSet/web", "pods": 1}]
    assert declared.summary(table) == {"displaced": 1.0}


def test_every_file_that_a_recipe_names_exists() -> None:
    named = set(re.findall(r"`((?:docs|scripts|src|tests|tools)/[\w./]+)`", TEXT)) - {NODE_RACK_TEST}
    assert len(named) > 10
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
