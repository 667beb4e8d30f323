"""Columns that shapes share: what one pod changes, the other shape sees; what the state depends on makes them anew."""

from typing import Any

from tests.scheduler.scheduler_world import World

GPU = "example.com/gpu"


def asking_for_devices() -> dict[str, Any]:
    resources = {"requests": {GPU: "1"}, "limits": {GPU: "1"}}
    return {"containers": [{"name": "c", "image": "i", "resources": resources}]}


def test_shapes_with_equal_requests_see_each_others_pods() -> None:
    world = World()
    world.node("n1", cpu="2")
    world.node("n2", cpu="1")
    for number in range(4):
        world.pod(f"p{number}", labels={"app": f"a{number}"})
    outcomes = [(decision.outcome, decision.node) for decision in world.run()]
    assert sorted(node for _, node in outcomes) == ["", "n1", "n1", "n2"]


def test_shapes_with_other_requests_do_not_share() -> None:
    world = World()
    world.node("n1", cpu="2")
    world.pod("small", cpu="1")
    world.pod("large", cpu="2")
    assert [decision.outcome for decision in world.run()] == ["scheduled", "unschedulable"]


def test_a_device_class_that_comes_later_takes_a_resource_over() -> None:
    world = World()
    world.node("n1")
    world.pod("before", **asking_for_devices())
    assert f"1 Insufficient {GPU}" in world.run()[-1].message
    kind = world.kind("DeviceClass", "resource.k8s.io/v1")
    spec = {"extendedResourceName": GPU}
    document = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpus"}, "spec": spec}
    world.store.create(kind, document, writer="user:test")
    world.pod("after", **asking_for_devices())
    last = {decision.pod: decision.message for decision in world.run()}
    assert f"Insufficient {GPU}" not in last["default/after"]
