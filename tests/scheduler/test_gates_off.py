"""Feature gates that are on by default and switched off: what the scheduler does without them."""

from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.scheduler.config import ConfigurationError, load_configuration, write_config
from seatrial.scheduler.framework.interface import Plugin, Wait
from seatrial.scheduler.versions import VERSIONS
from tests.scheduler.scheduler_world import World, enabled, profiles

DEVICES = "resource.k8s.io/v1"
V1_36 = VERSIONS["1.36"]
"""The newest version in which all of these gates can be switched off."""
RESTART_ALL = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]


def world_without(*gates: str, config: Any = None, **options: Any) -> World:
    """A world with a scheduler of which some gates are off."""
    return World(config, gates=dict.fromkeys(gates, False), version=V1_36, **options)


@pytest.mark.parametrize("gate", ["SchedulerQueueingHints", "SidecarContainers", "DynamicResourceAllocation"])
def test_a_locked_gate_is_refused_with_upstreams_text(gate: str) -> None:
    with pytest.raises(ConfigError, match=f"cannot set feature gate {gate} to false, feature is locked to true"):
        load_configuration(None, gates={gate: False}, version=V1_36)


def test_a_gate_that_others_depend_on_goes_off_with_them_only() -> None:
    others = ["InPlacePodLevelResourcesVerticalScaling"]
    with pytest.raises(ConfigError, match=f"{others[0]} is enabled, but depends on features that are disabled"):
        load_configuration(None, gates={"PodLevelResources": False}, version=V1_36)
    loaded = load_configuration(None, gates=dict.fromkeys(["PodLevelResources", *others], False), version=V1_36)
    assert loaded.switched == dict.fromkeys(["PodLevelResources", *others], False)


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


SHARED = {"name": "d", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "8Gi"}}}
PART = {"requests": {"memory": "2Gi"}}


def second_pod(world: World) -> None:
    """Another claim for a device of the same class, and a pod that uses it."""
    api = "resource.k8s.io/v1"
    metadata = {"name": "two", "namespace": "default"}
    spec = {"devices": {"requests": [{"name": "r", **EXACTLY}]}}
    document = {"apiVersion": api, "kind": "ResourceClaim", "metadata": metadata, "spec": spec}
    world.store.create(world.kind("ResourceClaim", api), document, writer="user:test", namespace="default")
    world.pod("b", resourceClaims=[{"name": "two", "resourceClaimName": "two"}])


@pytest.mark.parametrize(("gates", "shares"), [((), True), (("DRAConsumableCapacity",), False)])
def test_without_consumable_capacity_a_device_goes_to_one_claim(gates: tuple[str, ...], shares: bool) -> None:
    device = {**SHARED, "capacity": {"memory": {"value": "8Gi", "requestPolicy": {"default": "2Gi"}}}}
    world = world_with_devices(*gates, devices=[device], request=EXACTLY)
    second_pod(world)
    world.run()
    assert world.node_of("a") == "n1"
    assert bool(world.node_of("b")) == shares


def test_without_consumable_capacity_requests_for_some_are_an_error() -> None:
    request = {"exactly": {**EXACTLY["exactly"], "capacity": PART}}
    world = world_with_devices("DRAConsumableCapacity", devices=[SHARED], request=request)
    text = "claim default/one, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled"
    (decision, *_) = world.run()
    assert (decision.outcome, text in decision.message) == ("error", True)


def change_slice(world: World, change: Any) -> None:
    world.store.modify(world.kind("ResourceSlice", DEVICES), "n1", change, writer="user:test")


@pytest.mark.parametrize(("gates", "node"), [((), "n1"), (("DRAPartitionableDevices",), "")])
def test_without_partitions_a_device_that_consumes_counters_is_not_given(gates: tuple[str, ...], node: str) -> None:
    consumes = [{"counterSet": "c", "counters": {"memory": {"value": "1Gi"}}}]
    world = world_with_devices(*gates, devices=[{"name": "d", "consumesCounters": consumes}], request=EXACTLY)
    change_slice(world, lambda one: one["spec"]["pool"].update(resourceSliceCount=2))
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    counters = [{"name": "c", "counters": {"memory": {"value": "4Gi"}}}]
    spec = {"driver": "gpu.example.com", "nodeName": "n1", "pool": pool, "sharedCounters": counters}
    document = {"apiVersion": DEVICES, "kind": "ResourceSlice", "metadata": {"name": "n1-counters"}, "spec": spec}
    world.store.create(world.kind("ResourceSlice", DEVICES), document, writer="user:test")
    world.run()
    assert world.node_of("a") == node


def test_without_device_status_there_are_no_binding_conditions() -> None:
    status, *others = "DRAResourceClaimDeviceStatus", "DRADeviceBindingConditions"
    more = "DRAResourceClaimGranularStatusAuthorization"
    with pytest.raises(ConfigError, match=f"{others[0]} is enabled, but depends on features that are disabled"):
        load_configuration(None, gates={status: False, more: False}, version=V1_36)
    world = world_with_devices(status, *others, more, devices=[CONDITIONAL], request=EXACTLY)
    assert world.run()[0].outcome == "unschedulable"


def test_without_a_filter_timeout_a_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seatrial.scheduler.dra.allocator.MOST_TRIED", 0)
    for gates, node in (((), ""), (("DRASchedulerFilterTimeout",), "n1")):
        world = world_with_devices(*gates, devices=[{"name": "d"}], request=EXACTLY)
        world.run()
        assert world.node_of("a") == node


@pytest.mark.parametrize(
    ("gate", "argument", "text"),
    [
        ("DRASchedulerFilterTimeout", "filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled"),
        ("DRADeviceBindingConditions", "bindingTimeout", "DRAResourceClaimDeviceStatus feature gate is disabled"),
    ],
)
def test_an_argument_without_its_gate_is_forbidden(gate: str, argument: str, text: str) -> None:
    config = profiles({"pluginConfig": [{"name": "DynamicResources", "args": {argument: "30s"}}]})
    with pytest.raises(ConfigurationError, match=rf"pluginConfig\[0\]\.args\.{argument}: Forbidden: .*{text}"):
        load_configuration(config, gates={gate: False}, version=V1_36)
    args = load_configuration(None, gates={gate: False}, version=V1_36).profiles[0].args["DynamicResources"]
    assert argument not in args


def test_without_pod_level_resizes_only_the_spec_of_a_pod_counts() -> None:
    level = {"requests": {"cpu": "1"}}
    for world, expected in ((World(), ""), (world_without("InPlacePodLevelResourcesVerticalScaling"), "n1")):
        world.node("n1")
        world.pod("a", resources=level)
        world.run()
        resized = {"resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "3"}}
        world.change("Pod", "a", lambda pod: pod["status"].update(resized), "status")  # noqa: B023
        world.pod("b", cpu="2")
        world.run()
        assert world.node_of("b") == expected


def test_without_declared_features_the_plugin_is_not_among_the_defaults() -> None:
    gates = ["NodeDeclaredFeatures", *V1_36.dependents["NodeDeclaredFeatures"].split()]
    loaded = load_configuration(None, gates=dict.fromkeys(gates, False), version=V1_36)
    assert "NodeDeclaredFeatures" not in [ref.name for ref in loaded.profiles[0].plugins["filter"]]


def test_without_the_filter_timeout_null_is_written() -> None:
    text = write_config(load_configuration(None, gates={"DRASchedulerFilterTimeout": False}, version=V1_36))
    assert "filterTimeout: null" in text


@pytest.mark.parametrize("minor", VERSIONS)
def test_a_version_refuses_its_own_locked_and_unknown_gates(minor: str) -> None:
    version = VERSIONS[minor]
    for name, gate in version.gates.items():
        if gate.is_locked:
            value, default = str(not gate.default).lower(), str(gate.default).lower()
            text = f"cannot set feature gate {name} to {value}, feature is locked to {default}"
            with pytest.raises(ConfigError, match=text):
                load_configuration(None, gates={name: not gate.default}, version=version)
    others = {name for other in VERSIONS.values() for name in other.gates} - set(version.gates)
    assert others
    for name in others:
        with pytest.raises(ConfigError, match=f"unrecognized feature gate: {name}"):
            load_configuration(None, gates={name: True}, version=version)
