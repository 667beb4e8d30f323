"""Feature gates that are on by default and switched off: what the scheduler does without them."""

from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.scheduler.config import load_configuration
from seatrial.scheduler.framework.interface import Plugin, Wait
from tests.scheduler.scheduler_world import World, enabled

RESTART_ALL = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]


def world_without(*gates: str, config: Any = None, **options: Any) -> World:
    """A world with a scheduler of which some gates are off."""
    return World(config, gates=dict.fromkeys(gates, False), **options)


@pytest.mark.parametrize("gate", ["SchedulerQueueingHints", "SidecarContainers", "DynamicResourceAllocation"])
def test_a_locked_gate_is_refused_with_upstreams_text(gate: str) -> None:
    with pytest.raises(ConfigError, match=f"cannot set feature gate {gate} to false, feature is locked to true"):
        load_configuration(None, gates={gate: False})


def test_a_gate_that_others_depend_on_goes_off_with_them_only() -> None:
    others = ["InPlacePodLevelResourcesVerticalScaling"]
    with pytest.raises(ConfigError, match=f"{others[0]} is enabled, but depends on features that are disabled"):
        load_configuration(None, gates={"PodLevelResources": False})
    loaded = load_configuration(None, gates=dict.fromkeys(["PodLevelResources", *others], False))
    assert loaded.gates_off == {"PodLevelResources"}


def test_without_popping_from_the_backoff_queue_a_pod_waits_its_backoff_out() -> None:
    world = world_without("SchedulerPopFromBackoffQ")
    world.node("n1", cpu="1")
    world.pod("a", cpu="2")
    world.run()
    world.change("Node", "n1", lambda node: node["status"]["allocatable"].update(cpu="4"), "status")
    assert world.run() == []
    due = world.clock.next_inner()
    assert due is not None
    assert world.clock.fire_next(outer=False)
    assert [decision.node for decision in world.run()] == ["n1"]


def test_without_async_preemption_victims_leave_before_the_preemptor_is_queued_again() -> None:
    world = world_without("SchedulerAsyncPreemption")
    world.node("n1", cpu="1")
    world.pod("low", priority=1)
    world.run()
    places: list[bool] = []
    world.store.subscribe(
        lambda change: (
            places.append("default/high" in world.scheduler.queue.unschedulable)
            if change.stored.name == "low"
            else None
        ),
        [world.kind("Pod")],
    )
    world.pod("high", priority=5)
    world.run()
    assert places == [False, False]
    assert world.document("high")["status"]["nominatedNodeName"] == "n1"


class Holds(Plugin):
    """Holds every pod."""

    def permit(self, pod: Any, node: Any, state: Any) -> Wait:
        return Wait(10**9)


@pytest.mark.parametrize(("gates", "nominated"), [((), "n1"), (("NominatedNodeNameForExpectation",), None)])
def test_a_waiting_pod_is_nominated_only_with_the_gate(gates: tuple[str, ...], nominated: str | None) -> None:
    world = world_without(*gates, config=enabled("Holds"), plugins=[Holds])
    world.node("n1")
    world.pod("a")
    world.run()
    assert world.document("a")["status"].get("nominatedNodeName") == nominated


def test_without_declared_features_any_node_will_do() -> None:
    others = ["ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling"]
    more = ["InPlacePodVerticalScalingInitContainers", "RestartAllContainersOnContainerExits"]
    rules = {"name": "c", "image": "i", "restartPolicy": "Never", "restartPolicyRules": RESTART_ALL}
    for world, expected in ((World(), ""), (world_without("NodeDeclaredFeatures", *others, *more), "n1")):
        world.node("n1")
        world.pod("a", containers=[rules])
        world.run()
        assert world.node_of("a") == expected


def test_without_pod_level_resources_the_containers_count() -> None:
    level = {"requests": {"cpu": "9"}}
    for world, expected in (
        (World(), ""),
        (world_without("PodLevelResources", "InPlacePodLevelResourcesVerticalScaling"), "n1"),
    ):
        world.node("n1")
        world.pod("a", resources=level)
        world.run()
        assert world.node_of("a") == expected


def test_without_extended_resources_of_devices_the_node_must_offer_them() -> None:
    for world, reason in (
        (World(), "cannot allocate all claims"),
        (world_without("DRAExtendedResource"), "Insufficient example.com/gpu"),
    ):
        document = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu"},
            "spec": {"extendedResourceName": "example.com/gpu"},
        }
        world.store.create(world.kind("DeviceClass", "resource.k8s.io/v1"), document, writer="user:test")
        world.node("n1")
        amounts = {"example.com/gpu": "1"}
        container = {"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}
        world.pod("a", containers=[container])
        (decision,) = world.run()
        assert reason in decision.message


def world_with_devices(*gates: str, devices: list[Document], request: Document) -> World:
    """A node with devices, a claim for one of them, and a pod that uses it."""
    world = world_without(*gates)
    api = "resource.k8s.io/v1"
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.example.com", "nodeName": "n1", "pool": pool, "devices": devices}
    for kind, name, namespace, body in (
        ("DeviceClass", "gpu", "", {}),
        ("ResourceSlice", "n1", "", spec),
        ("ResourceClaim", "one", "default", {"devices": {"requests": [{"name": "r", **request}]}}),
    ):
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        document = {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": body}
        world.store.create(world.kind(kind, api), document, writer="user:test", namespace=namespace)
    world.node("n1")
    world.pod("a", resourceClaims=[{"name": "one", "resourceClaimName": "one"}])
    return world


EXACTLY = {"exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
FIRST = {"firstAvailable": [{"name": "x", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}]}
TAINTED = {"name": "d", "taints": [{"key": "k", "effect": "NoSchedule"}]}
CONDITIONAL = {"name": "d", "bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}


@pytest.mark.parametrize(("gates", "node"), [((), ""), (("DRADeviceTaints",), "n1")])
def test_without_device_taints_a_tainted_device_is_as_good_as_any(gates: tuple[str, ...], node: str) -> None:
    world = world_with_devices(*gates, devices=[TAINTED], request=EXACTLY)
    world.run()
    assert world.node_of("a") == node


@pytest.mark.parametrize(("gates", "outcome"), [((), "waiting"), (("DRADeviceBindingConditions",), "unschedulable")])
def test_without_binding_conditions_a_device_that_has_some_is_not_there(gates: tuple[str, ...], outcome: str) -> None:
    world = world_with_devices(*gates, devices=[CONDITIONAL], request=EXACTLY)
    assert world.run()[0].outcome == outcome


@pytest.mark.parametrize(("gates", "text"), [((), ""), (("DRAPrioritizedList",), "the DRAPrioritizedList feature is")])
def test_without_prioritized_lists_alternatives_are_refused(gates: tuple[str, ...], text: str) -> None:
    world = world_with_devices(*gates, devices=[{"name": "d"}], request=FIRST)
    assert text in world.run()[0].message
    assert bool(world.node_of("a")) == (not gates)
