"""In-tree plugins are found by looking, and declare what upstream's tables say about them."""

import subprocess
import sys
from pathlib import Path

import pytest

from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.plugins.registry import in_tree, in_tree_points, is_in_tree
from seatrial.scheduler.versions import VERSIONS
from tests.scheduler.plugins.upstream_plugins import DEFAULT_PLUGINS, POINTS


@pytest.mark.parametrize("name", POINTS)
def test_a_plugin_has_the_extension_points_of_upstreams(name: str) -> None:
    assert set(in_tree_points(VERSIONS["1.36"])[name]) == set(POINTS[name])


def test_the_default_plugins_are_upstreams_in_order_and_weight() -> None:
    assert VERSIONS["1.36"].default_plugins == DEFAULT_PLUGINS


def test_a_users_plugin_is_not_in_tree() -> None:
    class Own(Plugin):
        def filter_one(self, pod: object, node: object) -> bool:
            return True

    assert not is_in_tree(Own)
    assert all(is_in_tree(kind) for kind in in_tree().values())


def test_a_new_file_is_a_new_plugin(tmp_path: Path) -> None:
    """Adding an in-tree plugin touches no file but its own (and its test)."""
    own = tmp_path / "quiet_nodes.py"
    own.write_text(
        "from seatrial.scheduler.framework.interface import Action, Plugin, requeue\n"
        "class QuietNodes(Plugin):\n"
        "    def score_one(self, pod, node): return 0\n"
        "    def filter_one(self, pod, node): return True\n"
        "    @requeue.on('Node', Action.ADD)\n"
        "    def node_added(self, pod, old, new): return True\n"
    )
    program = (
        "import seatrial.scheduler.plugins as folder\n"
        f"folder.__path__.append({str(tmp_path)!r})\n"
        "from seatrial.scheduler.config import load_configuration\n"
        "sets = {'multiPoint': {'enabled': [{'name': 'QuietNodes', 'weight': 4}]}}\n"
        "head = {'apiVersion': 'kubescheduler.config.k8s.io/v1', 'kind': 'KubeSchedulerConfiguration'}\n"
        "plugins = load_configuration({**head, 'profiles': [{'plugins': sets}]}).profiles[0].plugins\n"
        "print([(ref.name, ref.weight) for ref in plugins['score']][-1:], len(plugins['filter']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    filters = sum("filter" in POINTS[name] for name, _ in DEFAULT_PLUGINS)
    assert done.stdout.strip() == f"[('QuietNodes', 4)] {filters + 1}"
