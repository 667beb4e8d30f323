"""DynamicResources in the scheduling cycle: claims are allocated, reserved, shared and freed."""

from typing import Any

import pytest

from seatrial.model.documents import Document
from tests.scheduler.dra.devices import DRIVER, claim, device, one, pool, request
from tests.scheduler.scheduler_world import World

API = "resource.k8s.io/v1"


class Cluster(World):
    """Two nodes, the second with devices."""

    def __init__(self, *devices: Document, **options: Any) -> None:
        super().__init__(**options)
        self.node("n1")
        self.node("n2")
        selectors = [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]
        self.add("DeviceClass", {"metadata": {"name": "gpu"}, "spec": {"selectors": selectors}})
        if devices:
            self.add("ResourceSlice", pool(*devices, node="n2"))

    def add(self, kind: str, document: Document) -> None:
        namespace = "default" if kind == "ResourceClaim" else ""
        document = {"apiVersion": API, "kind": kind, **document}
        document["metadata"].pop("uid", None)
        self.store.create(self.kind(kind, API), document, writer="user:test", namespace=namespace)

    def user(self, name: str, *claims: str, **spec: Any) -> None:
        self.pod(name, resourceClaims=[{"name": f"x{i}", "resourceClaimName": c} for i, c in enumerate(claims)], **spec)

    def claim(self, name: str = "c") -> Document:
        return self.store.get(self.kind("ResourceClaim", API), name, "default").document()

    def claims(self) -> list[Document]:
        return [stored.document() for stored in self.store.list(self.kind("ResourceClaim", API))]

    def set_status(self, name: str, status: Document) -> None:
        self.store.modify(
            self.kind("ResourceClaim", API),
            name,
            lambda document: document.__setitem__("status", status),
            writer="user:test",
            namespace="default",
            subresource="status",
        )


def used(claim: Document) -> list[str]:
    return [result["device"] for result in claim["status"]["allocation"]["devices"]["results"]]


def test_a_claim_is_allocated_reserved_and_protected_with_its_pod() -> None:
    world = Cluster(device("d0"))
    world.add("ResourceClaim", claim(request()))
    world.user("p", "c")
    world.run()
    document = world.claim()
    assert world.node_of("p") == "n2"
    assert used(document) == ["d0"]
    assert document["status"]["reservedFor"] == [
        {"resource": "pods", "name": "p", "uid": world.document("p")["metadata"]["uid"]}
    ]
    assert document["status"]["allocation"]["allocationTimestamp"] == "2030-01-01T00:00:00Z"
    assert document["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]


def test_pods_share_an_allocated_claim() -> None:
    world = Cluster(device("d0"))
    world.add("ResourceClaim", claim(request()))
    world.user("p1", "c")
    world.user("p2", "c")
    world.run()
    assert [entry["name"] for entry in world.claim()["status"]["reservedFor"]] == ["p1", "p2"]


def test_a_pod_without_devices_waits_for_a_slice() -> None:
    world = Cluster()
    world.add("ResourceClaim", claim(request()))
    world.user("p", "c")
    world.run()
    assert world.condition("p")["message"] == (
        "0/2 nodes are available: 2 cannot allocate all claims. "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )
    world.add("ResourceSlice", pool(device("d0"), node="n2"))
    world.run()
    assert world.node_of("p") == "n2"


def a_rule(name: str, **selector: str) -> Document:
    taint = {"key": "example.com/broken", "effect": "NoSchedule"}
    return {"metadata": {"name": name}, "spec": {"deviceSelector": selector, "taint": taint}}


def test_a_taint_rule_keeps_pods_from_the_devices_it_names_until_it_goes() -> None:
    world = Cluster(device("d0"), device("d1"))
    world.add("DeviceTaintRule", a_rule("all", driver=DRIVER, pool="n2"))
    world.add("ResourceClaim", claim(request()))
    world.user("p", "c")
    world.run()
    assert not world.node_of("p")
    for name in ("driver", "pool", "device"):
        world.add("DeviceTaintRule", a_rule(name, **{name: "another"}))
    assert world.run() == []
    world.add("DeviceTaintRule", a_rule("first", device="d0"))
    world.store.delete(world.kind("DeviceTaintRule", API), "all", writer="user:test")
    world.run()
    assert (world.node_of("p"), used(world.claim())) == ("n2", ["d1"])


def test_taint_rules_are_not_read_where_their_gate_is_off() -> None:
    world = Cluster(device("d0"), gates={"DRADeviceTaintRules": False})
    world.add("DeviceTaintRule", a_rule("all"))
    world.add("ResourceClaim", claim(request()))
    world.user("p", "c")
    world.run()
    assert world.node_of("p") == "n2"


def test_a_missing_claim_gates_the_pod() -> None:
    world = Cluster(device("d0"))
    world.user("p", "c")
    assert world.run() == []
    world.add("ResourceClaim", claim(request()))
    world.run()
    assert world.node_of("p") == "n2"


def test_a_missing_class_is_told_before_any_node_is_looked_at() -> None:
    world = Cluster(device("d0"))
    world.add("ResourceClaim", claim(request(device_class="nope")))
    world.user("p", "c")
    world.run()
    assert world.condition("p")["message"].startswith(
        "0/2 nodes are available: request r: device class nope does not exist. "
    )


def test_the_node_with_the_better_alternative_is_preferred() -> None:
    world = Cluster(device("good", model="a"))
    world.add("ResourceSlice", pool(device("poor", model="b"), node="n1"))
    model = f'device.attributes["{DRIVER}"].model == '
    alternatives = [{"name": "best", **one(1, model + '"a"')}, {"name": "any", **one(1, model + '"b"')}]
    world.add("ResourceClaim", claim({"name": "r", "firstAvailable": alternatives}))
    world.user("p", "c")
    decision = world.run()[0]
    scores = {part.plugin: list(part.raw) for part in decision.scores}
    assert sorted(scores["DynamicResources"]) == [7, 8]
    assert world.node_of("p") == "n2"


def test_a_claim_that_no_node_can_use_is_freed() -> None:
    world = Cluster(device("d0"))
    world.add("ResourceClaim", claim(request()))
    gone = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]}
    result = {"request": "r", "driver": DRIVER, "pool": "gone", "device": "d9"}
    world.set_status("c", {"allocation": {"devices": {"results": [result]}, "nodeSelector": gone}})
    world.user("p", "c")
    first = world.run()[0]
    assert "deallocation of ResourceClaim completed" in first.message
    assert world.node_of("p") == "n2"
    assert used(world.claim()) == ["d0"]


def test_a_claim_in_use_by_others_is_not_freed() -> None:
    world = Cluster(device("d0"))
    world.add("ResourceClaim", claim(request()))
    gone = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]}
    result = {"request": "r", "driver": DRIVER, "pool": "gone", "device": "d9"}
    other = {"resource": "pods", "name": "other", "uid": "other"}
    allocation = {"devices": {"results": [result]}, "nodeSelector": gone}
    world.set_status("c", {"allocation": allocation, "reservedFor": [other]})
    world.user("p", "c")
    world.run()
    assert world.condition("p")["message"].startswith(
        "0/2 nodes are available: 2 resourceclaim not available on the node. "
    )
    assert used(world.claim()) == ["d9"]


def test_devices_that_failed_to_get_ready_are_given_up() -> None:
    world = Cluster(device("d0"), device("d1"))
    world.add("ResourceClaim", claim(request()))
    conditions = {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Failed"]}
    result = {"request": "r", "driver": DRIVER, "pool": "n2", "device": "d0", **conditions}
    failed = {
        "type": "Failed",
        "status": "True",
        "reason": "No",
        "message": "no",
        "lastTransitionTime": "2030-01-01T00:00:00Z",
    }
    status = {"driver": DRIVER, "pool": "n2", "device": "d0", "conditions": [failed]}
    world.set_status("c", {"allocation": {"devices": {"results": [result]}}, "devices": [status]})
    world.user("p", "c")
    world.run()
    assert world.node_of("p") == "n2"
    assert "bindingConditions" not in world.claim()["status"]["allocation"]["devices"]["results"][0]


def test_a_pod_that_is_held_keeps_its_devices_and_gives_them_back() -> None:
    from seatrial.scheduler.cache.node_info import NodeInfo
    from seatrial.scheduler.cache.pod_info import PodInfo
    from seatrial.scheduler.framework.interface import Plugin, Wait

    class Hold(Plugin):
        def permit(self, pod: PodInfo, node: NodeInfo, state: object) -> Wait | None:
            return Wait(60_000_000) if pod.name == "held" else None

    from tests.scheduler.scheduler_world import enabled

    world = Cluster(device("d0"), config=enabled("Hold"), plugins=[Hold])
    world.add("ResourceClaim", claim(request(), name="c1"))
    world.add("ResourceClaim", claim(request(), name="c2"))
    world.user("held", "c1")
    world.run()
    world.user("late", "c2")
    world.user("same", "c1")
    world.run()
    assert "2 cannot allocate all claims" in world.condition("late")["message"]
    assert "resource claim default/c1 is in the process of being allocated" in world.condition("same")["message"]


@pytest.mark.parametrize("plugin_devices", [True, False])
def test_extended_resources_come_from_devices_where_no_device_plugin_has_them(plugin_devices: bool) -> None:
    world = Cluster(device("d0"), device("d1"), device("d2"))
    world.store.modify(
        world.kind("DeviceClass", API),
        "gpu",
        lambda document: document["spec"].__setitem__("extendedResourceName", "example.com/gpu"),
        writer="user:test",
    )
    if plugin_devices:
        world.change("Node", "n1", lambda d: d["status"]["allocatable"].__setitem__("example.com/gpu", "2"), "status")
    resources = {"requests": {"example.com/gpu": "2"}, "limits": {"example.com/gpu": "2"}}
    world.pod("p", containers=[{"name": "c", "image": "i", "resources": resources}])
    if plugin_devices:
        world.change("Node", "n2", lambda d: d["spec"].__setitem__("unschedulable", True))
    world.run()
    claims = world.claims()
    if plugin_devices:
        assert world.node_of("p") == "n1"
        assert claims == []
        return
    assert world.node_of("p") == "n2"
    assert [used(document) for document in claims] == [["d0", "d1"]]
    assert claims[0]["metadata"]["generateName"] == "p-extended-resources-"
    mapping = {"containerName": "c", "resourceName": "example.com/gpu", "requestName": "container-0-request-0"}
    assert world.document("p")["status"]["extendedResourceClaimStatus"] == {
        "resourceClaimName": claims[0]["metadata"]["name"],
        "requestMappings": [mapping],
    }


def test_each_of_several_pods_gets_devices_for_its_extended_resources() -> None:
    world = Cluster(device("d0"), device("d1"), device("d2"))
    world.change("Node", "n2", lambda d: d["spec"].__setitem__("unschedulable", True))
    world.store.modify(
        world.kind("DeviceClass", API),
        "gpu",
        lambda document: document["spec"].__setitem__("extendedResourceName", "example.com/gpu"),
        writer="user:test",
    )
    resources = {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}
    names = ("p0", "p1", "p2")
    for name in names:
        world.pod(name, containers=[{"name": "c", "image": "i", "resources": resources}])
    world.run()
    assert not any(world.node_of(name) for name in names)
    world.change("Node", "n2", lambda d: d["spec"].__setitem__("unschedulable", False))
    world.run()
    assert [world.node_of(name) for name in names] == ["n2"] * 3
    claims = {one["metadata"]["name"]: one for one in world.claims()}
    given = [world.document(name)["status"]["extendedResourceClaimStatus"]["resourceClaimName"] for name in names]
    assert sorted(used(claims[name])[0] for name in given) == ["d0", "d1", "d2"]


def test_plugins_read_pods_and_nodes_as_they_are_now() -> None:
    world = Cluster()
    cluster = world.scheduler.cluster
    world.pod("p")
    assert cluster.get("Pod", "p", "default") is not None
    assert [node["metadata"]["name"] for node in cluster.list("Node")] == ["n1", "n2"]
    before = cluster.version("Pod")
    world.run()
    bound = cluster.get("Pod", "p", "default")
    assert bound is not None
    assert bound["spec"]["nodeName"] == world.node_of("p")
    assert cluster.version("Pod") > before
    world.delete("Node", "n1")
    assert [node["metadata"]["name"] for node in cluster.list("Node")] == ["n2"]
