"""The plugins of examples/plugins do what they say."""

from pathlib import Path

import pytest

from seatrial.model.times import SECOND
from seatrial.model.yaml_reader import load
from seatrial.scheduler.plugins.out_of_tree import load_plugins
from tests.scheduler.scheduler_world import World

EXAMPLES = Path(__file__).parents[3] / "examples" / "plugins"


def world(name: str) -> World:
    config = load((EXAMPLES / f"{name}.yaml").read_text())
    return World(config, load_plugins([str(EXAMPLES / f"{name}.py")]))


def test_every_example_has_a_configuration_and_is_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text()
    for path in sorted(EXAMPLES.glob("*.py")):
        assert path.with_suffix(".yaml").is_file()
        assert f"`{path.name}`" in listed


def test_quiet_nodes() -> None:
    made = world("quiet_nodes")
    made.node("n1", labels={"noisy": "true"})
    made.node("n2")
    for name in ("a", "b"):
        made.pod(name)
    made.run()
    assert [made.node_of("a"), made.node_of("b")] == ["n2", "n2"]
    made.pod("c", nodeSelector={"noisy": "true"})
    (decision,) = made.run()
    assert "1 node(s) were noisy" in decision.message


def test_cheapest_nodes() -> None:
    made = world("cheapest_nodes")
    kind = "node.kubernetes.io/instance-type"
    for name, value in (("n1", "large"), ("n2", "small"), ("n3", "unknown")):
        made.node(name, labels={kind: value})
    made.pod("a")
    (decision,) = made.run()
    assert decision.node == "n2"
    (scores,) = [column for column in decision.scores if column.plugin == "CheapestNodes"]
    assert dict(zip(decision.feasible, scores.normalized.tolist(), strict=True)) == {"n1": 0, "n2": 100, "n3": 0}


def test_a_group_starts_together() -> None:
    made = world("all_or_nothing")
    made.node("n1")
    labels = {"group": "g", "group-size": "3"}
    for name in ("a", "b"):
        made.pod(name, labels=labels)
    assert [decision.outcome for decision in made.run()] == ["waiting", "waiting"]
    made.pod("c", labels=labels)
    made.run()
    assert {made.node_of(name) for name in "abc"} == {"n1"}


def test_a_group_that_is_never_complete_gives_its_places_back() -> None:
    made = world("all_or_nothing")
    made.node("n1", cpu="2")
    labels = {"group": "g", "group-size": "3"}
    for name in ("a", "b"):
        made.pod(name, labels=labels)
    made.run()
    start = made.clock.now()
    assert made.clock.fire_next(outer=False)
    assert made.clock.now() - start == 30 * SECOND
    first, second, *_ = made.run()
    assert "rejected due to timeout after waiting 30s at plugin AllOrNothing" in first.message
    assert "group g is not complete" in second.message


@pytest.mark.parametrize("module", ["no.such.module", "nothing.py", "json"])
def test_a_module_without_plugins_is_refused_by_name(module: str) -> None:
    from seatrial.model.errors import ConfigError

    with pytest.raises(ConfigError, match=module.replace(".", r"\.")):
        load_plugins([module])
