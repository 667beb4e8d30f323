"""What a user's plugin is given cannot be changed: an attempt to write fails the attempt, and nothing else happens."""

from collections.abc import Callable
from typing import Any

import pytest

from seatrial.plugins import NodeInfo, Plugin, PodInfo
from seatrial.scheduler.framework.read_only import ReadOnlyNode, read_only_pod
from tests.proofs import proves
from tests.scheduler.scheduler_world import World, enabled


def set_label(pod: Any, node: Any) -> None:
    node.labels["zone"] = "b"


def set_name(pod: Any, node: Any) -> None:
    node.name = "other"


def add_room(pod: Any, node: Any) -> None:
    node.allocatable["cpu"] = 10**9


def add_pod(pod: Any, node: Any) -> None:
    node.add(pod)


def drop_pods(pod: Any, node: Any) -> None:
    node.pods.clear()


def shrink_pod(pod: Any, node: Any) -> None:
    pod.spec["containers"][0]["resources"]["requests"]["cpu"] = "1m"


def drop_containers(pod: Any, node: Any) -> None:
    pod.spec["containers"].clear()


def label_pod(pod: Any, node: Any) -> None:
    pod.labels["zone"] = "b"


def raise_priority(pod: Any, node: Any) -> None:
    pod.shape.priority = 10**6


def move_pod(pod: Any, node: Any) -> None:
    pod.node = node.name


def change_other_pod(pod: Any, node: Any) -> None:
    for other in node.pods:
        other.spec["priority"] = 0
    raise TypeError("read-only")


WRITES = [
    set_label, set_name, add_room, add_pod, drop_pods, shrink_pod, drop_containers, label_pod, raise_priority, move_pod,
    change_other_pod,
]  # fmt: skip


def world_with(write: Callable[[Any, Any], None]) -> World:
    class Writer(Plugin):
        def filter_one(self, pod: PodInfo, node: NodeInfo) -> bool:
            if pod.name == "bad":
                write(pod, node)
            return True

    world = World(enabled("Writer"), [Writer])
    world.node("n1", labels={"zone": "a"})
    world.pod("there")
    world.run()
    world.pod("bad")
    return world


@proves("MP-011")
@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
def test_a_write_of_a_plugin_is_an_error_with_file_and_line(
    write: Callable[[Any, Any], None], caplog: pytest.LogCaptureFixture
) -> None:
    world = world_with(write)
    (decision,) = world.run()[-1:]
    assert decision.outcome == "error"
    assert "(test_read_only.py, line " in decision.message
    node = world.scheduler.table.info(0)
    assert (node.name, dict(node.labels)["zone"]) == ("n1", "a")
    assert [pod.name for pod in node.pods] == ["there"]
    pending = world.scheduler.queue.find("default/bad")
    assert pending is not None
    assert pending.pod.shape.priority == 0
    assert pending.pod.labels.get("zone") is None


@proves("MP-011")
def test_columns_of_all_nodes_cannot_be_written(caplog: pytest.LogCaptureFixture) -> None:
    class Writer(Plugin):
        def filter(self, pod: PodInfo, nodes: Any) -> None:
            nodes.allocatable("cpu")[:] = 10**9

    world = World(enabled("Writer"), [Writer])
    world.node("n1")
    world.pod("a")
    (decision, *_) = world.run()
    assert decision.outcome == "error"
    assert "ValueError: assignment destination is read-only (test_read_only.py, line " in decision.message
    assert world.scheduler.table.all().allocatable("cpu")[0] < 10**9


@proves("MP-011")
def test_the_nodes_of_the_handle_cannot_be_written() -> None:
    class Writer(Plugin):
        def filter_one(self, pod: PodInfo, node: NodeInfo) -> bool:
            self.handle.nodes.remove_node(node.name)
            return True

    world = World(enabled("Writer"), [Writer])
    world.node("n1")
    world.pod("a")
    (decision, *_) = world.run()
    assert "remove_node of the nodes is read-only" in decision.message
    assert world.scheduler.table.find("n1") is not None


def test_a_view_reads_like_what_it_shows() -> None:
    world = World(enabled())
    world.node("n1", labels={"zone": "a"})
    world.pod("a")
    world.run()
    node = world.scheduler.table.info(0)
    view = ReadOnlyNode(node)
    for name in ("name", "labels", "annotations", "taints", "allocatable", "images", "conditions", "zone", "uid"):
        assert getattr(view, name) == getattr(node, name)
    assert isinstance(view, NodeInfo)
    assert [pod.key for pod in view.pods] == ["default/a"] == [pod.key for pod in view.pods[:]]
    assert view.copy().pods == node.pods
    pod = read_only_pod(node.pods[0])
    assert pod.spec == node.pods[0].spec
    assert pod.requests == node.pods[0].requests
    assert read_only_pod(pod) is pod
