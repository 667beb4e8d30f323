"""The Python API: what `import seatrial` offers, and how its values look in a session."""

import inspect
from pathlib import Path
from typing import Any

import pytest

import seatrial
from seatrial.plugins import NodeInfo, Plugin, PodInfo
from seatrial.scheduler.framework import extension_points
from tests.scenario.playing import create, done, operations, scenario
from tests.scenario.running import node, pod

DOCS = Path(__file__).parents[1] / "docs" / "plugins.md"
SPEC = operations(
    create(1, node("a")), create(1, node("b")), create(2, pod("p")), create(3, pod("q", cpu="99")), done(3)
)


class OnlyB(Plugin):
    def filter_one(self, pod: PodInfo, node: NodeInfo) -> bool:
        return node.name == "b"


def enabled(*names: str) -> dict[str, Any]:
    plugins = {"multiPoint": {"enabled": [{"name": name} for name in names]}}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": plugins}],
    }


FILE = """
from seatrial.plugins import Plugin

class {name}(Plugin):
    def filter_one(self, pod, node):
        return node.name == "{node}"
"""


def test_a_session_lists_what_there_is() -> None:
    assert dir(seatrial) == ["Cluster", "Result", "RunOptions", "Scenario", "Simulation", "compare", "run", "sweep"]
    assert all(hasattr(seatrial, name) for name in dir(seatrial))


def test_plugins_are_classes_files_and_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spot.py").write_text(FILE.format(name="Spot", node="b"))
    (tmp_path / "api_sample_module.py").write_text(FILE.format(name="Sample", node="b"))
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins: list[str | type] = [str(tmp_path / "spot.py"), OnlyB, "api_sample_module"]
    result = seatrial.run(scenario(SPEC), enabled("Spot", "OnlyB", "Sample"), plugins)
    assert result.pods["node"].to_list() == ["b", None]
    attempt = result.explain("p").attempts[-1]
    assert {"Spot", "OnlyB", "Sample"} <= set(attempt.filter["b"])


def test_a_cluster_takes_plugins_from_files_too(tmp_path: Path) -> None:
    (tmp_path / "spot.py").write_text(FILE.format(name="Spot", node="b"))
    cluster = seatrial.Cluster(enabled("Spot"), tmp_path / "spot.py")
    cluster.apply(node("a"))
    cluster.apply(node("b"))
    cluster.apply(pod("p"))
    cluster.schedule()
    assert cluster.get("pod", "p")["spec"]["nodeName"] == "b"


def test_steps_are_steps_and_never_is_none() -> None:
    result = seatrial.run(scenario(SPEC))
    assert result.pods.select("name", "created", "bound", "deleted").rows() == [("p", 2, 2, None), ("q", 3, None, None)]
    assert result.nodes.select("name", "created", "deleted").rows() == [("a", 1, None), ("b", 1, None)]


def test_values_are_short_when_they_are_printed() -> None:
    simulation = seatrial.Simulation(scenario(SPEC))
    assert repr(simulation) == "<Simulation play: Pending>"
    result = simulation.run()
    assert repr(simulation) == "<Simulation play: Succeeded in step 3>"
    assert repr(result) == "<Result of play: Succeeded, 1 of 2 pods bound>"
    assert repr(result.run) == "<Run play: Succeeded, 3 steps>"
    assert repr(result.explain("p")).startswith("<Explanation after 1 attempts: default/p went to ")
    cluster = seatrial.Cluster()
    cluster.apply(node("a"))
    cluster.apply(pod("p"))
    assert cluster.schedule() == 1
    assert repr(cluster) == "<Cluster of 1 nodes, 1 pods bound and 0 pending>"


def methods() -> list[str]:
    found = [
        name
        for protocol in vars(extension_points).values()
        if inspect.isclass(protocol) and protocol.__name__.endswith("Plugin") and protocol is not Plugin
        for name in vars(protocol)
        if not name.startswith("_") and name != "name"
    ]
    assert len(found) > 16
    return found


@pytest.mark.parametrize("method", methods())
def test_help_and_docs_list_every_method_with_its_arguments(method: str) -> None:
    assert f"\n    {method}(" in (Plugin.__doc__ or "")
    line = next(line for line in (Plugin.__doc__ or "").splitlines() if line.startswith(f"    {method}("))
    signature = line[: line.index(")") + 1].strip()
    assert f"`{signature}`" in DOCS.read_text(encoding="utf-8")


def test_a_scenario_is_written_in_python_and_plays_as_its_document_does() -> None:
    written = seatrial.Scenario("small", step_duration="1m").create(1, node("node-${index}"), count=2)
    written.create(2, pod("p")).create(2, pod("q", cpu="99"))
    written.patch(3, "v1", "Pod", "p", {"metadata": {"labels": {"tier": "web"}}}).delete(4, "v1", "Pod", "q")
    result = seatrial.run(written)
    assert (result.phase, result.status["stepStatus"]["step"]) == ("Succeeded", {"major": 4, "minor": 0})
    assert result.nodes["name"].to_list() == ["node-0", "node-1"]
    assert dict(result.pods.select("name", "deleted").iter_rows()) == {"p": None, "q": 4}
    assert repr(written) == "<Scenario small: 5 operations>"
    assert seatrial.run(written.document).run.whole_data() == result.run.whole_data()


def test_the_numbers_of_a_run_are_those_that_are_compared() -> None:
    result = seatrial.run(scenario(SPEC))
    numbers = dict(result.measures("pods", "cost").select("number", "value").iter_rows())
    assert numbers == {"pods_bound": 1.0, "pods_preempted": 0.0, "nodes_used": 1.0, "used_price_per_hour": None}
    assert set(numbers) < set(result.measures()["number"])
    assert result.measure("pods")["pod"].to_list() == ["default/p", "default/q"]


def test_a_result_writes_its_page(tmp_path: Path) -> None:
    page = seatrial.run(scenario(SPEC)).report(tmp_path / "page.html")
    assert page.read_text().startswith("<!doctype html>")


def test_a_sweep_gives_a_row_for_each_point_and_goes_on_where_it_was(tmp_path: Path) -> None:
    file = Path(__file__).parents[1] / "examples" / "spread-or-binpack" / "sweep.yaml"
    table = seatrial.sweep(file, tmp_path, processes=1)
    assert (table.height, set(table["phase"])) == (8, {"Succeeded"})
    assert {"axis.nodes", "axis.weight", "nodes_used"} <= set(table.columns)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "outcomes").iterdir()}
    assert seatrial.sweep(file, tmp_path).equals(table)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "outcomes").iterdir()} == kept


def test_every_option_of_a_run_is_explained() -> None:
    text = seatrial.RunOptions.__doc__ or ""
    assert [name for name in seatrial.RunOptions.__annotations__ if f"`{name}`" not in text] == []


def test_an_option_that_does_not_exist_is_named() -> None:
    with pytest.raises(TypeError, match="tiebreak"):
        seatrial.run(scenario(SPEC), tiebreak="name")  # type: ignore[call-arg]
