"""Pods that wait in PreBind: for volumes, for devices, until their time is up, and when they have to make room."""

from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.model.times import SECOND
from tests.scheduler.dra.devices import DRIVER, claim, device, request
from tests.scheduler.dra.test_dynamic_resources import Cluster as Devices
from tests.scheduler.scheduler_world import World, profiles
from tests.scheduler.volumes.test_volume_plugins import Cluster as Volumes

CLAIM = "PersistentVolumeClaim"


def arguments(plugin: str, **args: Any) -> Document:
    return profiles({"pluginConfig": [{"name": plugin, "args": args}]})


def pass_time(world: World, seconds: float) -> None:
    """Let virtual time pass, with what is due."""
    end = world.clock.now() + int(seconds * SECOND)
    while any(due is not None and due <= end for due in (world.clock.next_inner(), world.clock.next_outer())):
        world.clock.fire_next(outer=True)
        world.run()
    world.clock.advance(end)
    world.run()


def failure_of(world: World, name: str) -> str:
    condition = world.condition(name)
    return f"{condition.get('reason')}: {condition.get('message')}"


class WithVolumes(Volumes):
    """A pod `p` whose claim has to be provisioned."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.claim()
        self.user("p", "c")
        self.run()

    def provision(self, node: str = "a1") -> None:
        """Do what a provisioner and the volume controller do."""
        self.volume("made", on=node)

        def bind(document: Document) -> None:
            document["spec"]["volumeName"] = "made"
            document["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"

        self.set("c", CLAIM, bind, subresource="")


def test_a_pod_is_bound_at_the_next_second_after_its_volume_is() -> None:
    world = WithVolumes()
    assert (world.node_of("p"), world.waits_for("p")) == ("", "a1")
    pass_time(world, 7.3)
    world.provision()
    world.run()
    assert world.node_of("p") == ""
    start = world.clock.now()
    assert world.clock.fire_next(outer=False)
    assert world.clock.now() - start == 700_000
    (decision,) = world.run()
    assert (world.node_of("p"), decision.outcome, decision.attempt) == ("a1", "scheduled", 1)


@pytest.mark.parametrize("seconds", [3, 600])
def test_a_pod_is_tried_again_when_its_volumes_are_not_bound_in_time(seconds: int) -> None:
    config = None if seconds == 600 else arguments("VolumeBinding", bindTimeoutSeconds=seconds)
    world = WithVolumes(config=config)
    pass_time(world, seconds - 0.1)
    assert failure_of(world, "p") == "None: None"
    pass_time(world, 0.1)
    expected = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    assert failure_of(world, "p") == f"SchedulerError: {expected}"
    pass_time(world, 2)
    assert world.waits_for("p") == "a1"


def test_a_wait_without_end_does_not_keep_the_scheduler_busy() -> None:
    world = WithVolumes()
    assert not world.scheduler.has_work()
    assert world.clock.next_inner() is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda d: d["metadata"]["annotations"].pop("volume.kubernetes.io/selected-node"),
            'selectedNode annotation reset for PVC "c"',
        ),
        (
            lambda d: d["metadata"]["annotations"].__setitem__("volume.kubernetes.io/selected-node", "a2"),
            'provisioning failed for PVC "c"',
        ),
    ],
)
def test_a_provisioner_that_gives_up_ends_the_wait(change: Any, why: str) -> None:
    world = WithVolumes()
    world.set("c", CLAIM, change, subresource="")
    pass_time(world, 1)
    assert failure_of(world, "p") == f'SchedulerError: running PreBind plugin "VolumeBinding": binding volumes: {why}'


def test_a_volume_out_of_reach_ends_the_wait() -> None:
    world = WithVolumes()
    world.provision("b1")
    pass_time(world, 1)
    why = 'binding volumes: pv "made" node affinity doesn\'t match node "a1": no matching NodeSelectorTerms'
    assert failure_of(world, "p") == f'SchedulerError: running PreBind plugin "VolumeBinding": {why}'


def test_a_pod_that_is_deleted_while_it_waits_gives_its_place_back() -> None:
    world = WithVolumes()
    world.delete("Pod", "p")
    pass_time(world, 1)
    assert not world.scheduler.watcher.assumed
    events = [each.document() for each in world.store.list(world.store.kinds.served("v1", "Event"))]
    why = 'binding volumes: pod does not exist any more: pod "p" not found'
    assert [event["message"] for event in events] == [f'running PreBind plugin "VolumeBinding": {why}']
    world.pod("large", cpu="4", nodeSelector={"kubernetes.io/hostname": "a1"})
    world.run()
    assert world.node_of("large") == "a1"


def test_a_pod_that_waits_holds_its_place_and_makes_room_without_being_deleted() -> None:
    world = WithVolumes()
    here = {"kubernetes.io/hostname": "a1"}
    world.pod("equal", cpu="4", nodeSelector=here)
    world.run()
    assert world.node_of("equal") == ""
    world.pod("high", cpu="4", priority=100, nodeSelector=here)
    world.run()
    assert failure_of(world, "p") == (
        'SchedulerError: running PreBind plugin "VolumeBinding": preempted by DefaultPreemption'
    )
    assert world.document("p")["metadata"].get("deletionTimestamp") is None
    assert world.events("Preempted")[0]["message"].endswith("(in kube-scheduler memory).")
    pass_time(world, 2)
    assert world.node_of("high") == "a1"


# Devices.


class WithDevices(Devices):
    """A pod `p` with a device that must be made ready."""

    def __init__(self, **options: Any) -> None:
        conditions: Any = {"bindsToNode": True, "bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}
        super().__init__(device("d0", **conditions), **options)
        self.add("ResourceClaim", claim(request()))
        self.user("p", "c")
        self.run()

    def tell(self, type: str, reason: str = "R", message: str = "m") -> None:
        """The driver writes a condition of the device."""
        condition = {"type": type, "status": "True", "reason": reason, "message": message}
        condition["lastTransitionTime"] = "2030-01-01T00:00:00Z"
        device = {"driver": DRIVER, "pool": "n2", "device": "d0", "conditions": [condition]}
        self.set_status("c", self.claim()["status"] | {"devices": [device]})


def test_a_pod_waits_until_its_devices_are_ready() -> None:
    world = WithDevices()
    assert world.node_of("p") == ""
    assert world.document("p")["status"]["nominatedNodeName"] == "n2"
    (event,) = world.events("BindingConditionsPending")
    assert (event["type"], event["action"]) == ("Normal", "Scheduling")
    assert event["message"] == "waiting for binding conditions for device on node n2"
    pass_time(world, 7)
    world.tell("Ready")
    start = world.clock.now()
    assert world.clock.fire_next(outer=False)
    assert world.clock.now() - start == 3 * SECOND
    world.run()
    assert world.node_of("p") == "n2"


def test_a_device_that_fails_ends_the_wait() -> None:
    world = WithDevices()
    world.tell("Broken", "Cable", "no link")
    pass_time(world, 5)
    why = 'device binding failed: claim=c, reason=Cable, message="no link"'
    assert failure_of(world, "p") == f'SchedulerError: running PreBind plugin "DynamicResources": {why}'


def test_devices_that_are_not_ready_in_time_are_given_up() -> None:
    world = WithDevices()
    pass_time(world, 599)
    assert failure_of(world, "p") == "None: None"
    pass_time(world, 1)
    why = "device binding timeout: context deadline exceeded"
    assert failure_of(world, "p") == f'SchedulerError: running PreBind plugin "DynamicResources": {why}'
    assert "reservedFor" not in world.claim()["status"]
    pass_time(world, 3)
    assert "deallocation of ResourceClaim completed" in failure_of(world, "p")


def test_a_claim_whose_devices_had_their_time_is_noticed_at_a_tick() -> None:
    world = Devices(config=arguments("DynamicResources", bindingTimeout="7s"))
    world.clock.advance(world.clock.now() + 2 * SECOND)
    world.add("ResourceClaim", claim(request()))
    result = {"request": "r", "driver": DRIVER, "pool": "n2", "device": "d0", "bindingConditions": ["Ready"]}
    allocation = {"allocationTimestamp": "2029-12-31T23:59:59Z", "devices": {"results": [result]}}
    world.set_status("c", {"allocation": allocation})
    world.user("p", "c")
    world.run()
    pass_time(world, 5)
    why = "device binding timeout: claim=c"
    assert failure_of(world, "p") == f'SchedulerError: running PreBind plugin "DynamicResources": {why}'
