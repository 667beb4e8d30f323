"""A node gets addresses, node info and a pod range, sends heartbeats, and its allocatable follows capacity."""

from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.control_plane.kubelet.node_status import REPORTED_EVERY, NodeStatus
from seatrial.controllers.framework.controller import Context
from seatrial.controllers.framework.pod_index import PodIndex
from seatrial.model.times import SECOND, to_time
from seatrial.scenario.cluster import fresh_store
from seatrial.scheduler.versions import DEFAULT
from seatrial.store.options import Patch
from tests.controllers.manifests import node
from tests.known_kinds import known_kind


class Nodes:
    """One node, and the controller of its status."""

    def __init__(self, **status: Any) -> None:
        self.clock = Clock()
        self.store = fresh_store(self.clock)
        self.kind = known_kind(self.store.kinds, "v1", "Node")
        made = node("n")
        made["status"] = made.get("status", {}) | status
        self.store.create(self.kind, made, writer="user:test")
        self.controller = NodeStatus(Context(self.store, self.clock, PodIndex(self.store)))
        self.controller.start()
        self.work()

    def work(self) -> None:
        while self.controller.work():
            pass

    def get(self) -> dict[str, Any]:
        return self.store.get(self.kind, "n").document()

    def patch(self, **status: Any) -> dict[str, Any]:
        patch = Patch("merge", {"status": status})
        self.store.patch(self.kind, "n", patch, subresource="status", writer="user:test")
        self.work()
        allocatable: dict[str, Any] = self.get()["status"]["allocatable"]
        return allocatable

    def pass_time(self, seconds: int) -> None:
        end = self.clock.now() + seconds * SECOND
        while (due := self.clock.next_outer()) is not None and due <= end:
            self.clock.fire_next(outer=True)
            self.work()


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


def test_a_plain_node_gets_addresses_a_pod_range_and_node_info(nodes: Nodes) -> None:
    found = nodes.get()
    kinds = [entry["type"] for entry in found["status"]["addresses"]]
    assert kinds == ["InternalIP", "Hostname"]
    assert found["spec"]["podCIDR"] == found["spec"]["podCIDRs"][0] == "10.128.0.0/24"
    assert found["status"]["nodeInfo"]["kubeletVersion"] == DEFAULT.release
    assert found["status"]["nodeInfo"]["systemUUID"] == found["metadata"]["uid"]


def test_what_a_node_says_of_itself_is_kept() -> None:
    own = {"addresses": [{"type": "InternalIP", "address": "192.0.2.7"}], "nodeInfo": {"kubeletVersion": "v1.30.0"}}
    found = Nodes(**own).get()["status"]
    assert found["addresses"] == own["addresses"]
    assert found["nodeInfo"]["kubeletVersion"] == "v1.30.0"


def test_allocatable_extended_resources_follow_capacity(nodes: Nodes) -> None:
    assert nodes.patch(capacity={"example.com/gpu": "4"})["example.com/gpu"] == "4"
    assert nodes.patch(capacity={"example.com/gpu": "6"})["example.com/gpu"] == "6"
    assert "example.com/gpu" not in nodes.patch(capacity={"example.com/gpu": None})


def test_an_extended_resource_that_only_allocatable_names_stays(nodes: Nodes) -> None:
    assert nodes.patch(allocatable={"example.com/gpu": "2"})["example.com/gpu"] == "2"
    assert nodes.patch(capacity={"cpu": "8"})["example.com/gpu"] == "2"


def test_heartbeats_are_renewed_every_five_minutes() -> None:
    early = to_time(0)
    condition = {"type": "Ready", "status": "True", "lastHeartbeatTime": early, "lastTransitionTime": early}
    nodes = Nodes(conditions=[condition])
    nodes.pass_time(REPORTED_EVERY // SECOND + 10)
    first = nodes.get()["status"]["conditions"][0]
    assert first["lastHeartbeatTime"] > early
    assert first["lastTransitionTime"] == early
    nodes.pass_time(REPORTED_EVERY // SECOND + 10)
    assert nodes.get()["status"]["conditions"][0]["lastHeartbeatTime"] > first["lastHeartbeatTime"]


def test_a_node_that_lost_its_kubelet_sends_no_heartbeat() -> None:
    early = to_time(0)
    condition = {"type": "Ready", "status": "Unknown", "lastHeartbeatTime": early, "lastTransitionTime": early}
    nodes = Nodes(conditions=[condition])
    nodes.pass_time(2 * REPORTED_EVERY // SECOND)
    assert nodes.get()["status"]["conditions"][0]["lastHeartbeatTime"] == early
