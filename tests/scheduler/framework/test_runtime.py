"""Pods of one spec share columns only where all plugins are in tree: a user's plugin may read labels."""

from typing import Any

import pytest

from seatrial.plugins import Plugin, Reads
from seatrial.scheduler.framework.runtime import Framework
from tests.scheduler.cluster_builders import SmallCluster, a_node
from tests.scheduler.scheduler_world import World, enabled

NODES = ("n1", "n2", "n3")


class LabelFilter(Plugin):
    """Lets a pod onto the node that its label names."""

    reads = Reads.NODE

    def filter_one(self, pod: Any, node: Any) -> bool | str:
        return pod.labels.get("home") == node.name or "node(s) were not its home"


class LabelScore(Plugin):
    """Prefers the node that a pod's label names."""

    reads = Reads.NODE

    def score_one(self, pod: Any, node: Any) -> int:
        return 100 if pod.labels.get("home") == node.name else 0


def framework_of(*plugins: type[Plugin]) -> Framework:
    config = enabled(*[plugin.__name__ for plugin in plugins]) if plugins else None
    return SmallCluster(a_node("n1"), config=config, plugins=plugins).framework


@pytest.mark.parametrize("plugin", [LabelFilter, LabelScore])
def test_pods_of_one_spec_are_judged_each_by_its_own_labels(plugin: type[Plugin]) -> None:
    world = World(enabled(plugin.__name__), [plugin])
    for name in NODES:
        world.node(name, cpu="64")
    for name in (*NODES, *NODES[::-1]):
        world.pod(f"pod-{len(world.recorder.decisions)}", labels={"home": name})
        assert world.run()[-1].node == name


@pytest.mark.parametrize("plugin", [LabelFilter, LabelScore])
def test_one_plugin_of_a_user_makes_a_framework_other_than_in_tree(plugin: type[Plugin]) -> None:
    assert framework_of().is_in_tree
    assert not framework_of(plugin).is_in_tree
