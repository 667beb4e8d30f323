"""The scheduler on a store: what it writes, what brings pods back, and who it leaves alone."""

from typing import Any

import pytest

from seatrial.scheduler.config import load_configuration
from seatrial.scheduler.versions import VERSIONS
from tests.proofs import proves
from tests.scheduler.scheduler_world import World, profiles


def test_a_pod_is_bound_and_the_cluster_is_told() -> None:
    world = World()
    world.node("n1")
    world.pod("a")
    (decision,) = world.run()
    assert (decision.outcome, decision.node, world.node_of("a")) == ("scheduled", "n1", "n1")
    assert world.condition("a")["status"] == "True"
    (event,) = world.events()
    assert (event["reason"], event["type"], event["action"]) == ("Scheduled", "Normal", "Binding")
    assert event["message"] == "Successfully assigned default/a to n1"
    assert event["reportingComponent"] == "default-scheduler"


def test_a_pod_that_fits_nowhere_says_why() -> None:
    world = World()
    world.node("n1")
    world.pod("a", cpu="9")
    (decision,) = world.run()
    assert decision.outcome == "unschedulable"
    condition = world.condition("a")
    assert (condition["status"], condition["reason"], condition["observedGeneration"]) == ("False", "Unschedulable", 1)
    assert condition["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    (event,) = world.events("FailedScheduling")
    assert (event["message"], event["type"]) == (condition["message"], "Warning")


def test_equal_failures_become_a_series_and_write_no_status() -> None:
    world = World()
    world.node("n1")
    world.pod("a", cpu="9")
    for _ in range(4):
        world.run()
        world.scheduler.sweep()
    world.run()
    first, second = sorted(world.events("FailedScheduling"), key=lambda event: event["metadata"]["name"])
    assert ("series" in first, second["series"]["count"]) == (False, 2)


def test_a_pod_without_any_node_waits_for_one() -> None:
    world = World()
    world.pod("a")
    (decision,) = world.run()
    assert (decision.message, world.clock.next_inner()) == ("no nodes available to schedule pods", None)
    world.node("n1")
    world.run()
    assert world.node_of("a") == "n1"


def test_room_that_becomes_free_is_taken() -> None:
    world = World()
    world.node("n1", cpu="1")
    for name in ("a", "b"):
        world.pod(name)
    world.run()
    assert [world.node_of("a"), world.node_of("b")] == ["n1", ""]
    world.delete("Pod", "a")
    world.run()
    assert world.node_of("b") == "n1"


def test_an_event_that_does_not_help_makes_no_attempt() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.pod("a", cpu="2")
    world.run()
    world.node("n2", cpu="1")
    assert not world.scheduler.has_work()


@pytest.mark.parametrize(("minor", "retried"), [("1.36", ["default/large", "default/picky"]), ("1.37", [])])
def test_a_changed_taint_retries_pods_that_other_plugins_rejected_until_1_37(minor: str, retried: list[str]) -> None:
    world = World(version=VERSIONS[minor])
    world.node("n1", cpu="1")
    world.pod("large", cpu="2")
    world.pod("picky", nodeSelector={"disk": "ssd"})
    world.run()
    taints = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    world.change("Node", "n1", lambda node: node["spec"].update(taints=taints))
    assert sorted(decision.pod for decision in world.run()) == retried


def test_a_node_that_grows_is_tried_again() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.pod("a", cpu="2")
    world.run()
    world.change("Node", "n1", lambda node: node["status"]["allocatable"].update(cpu="4"), "status")
    world.run()
    assert world.node_of("a") == "n1"


def test_a_gated_pod_waits_for_its_gates_and_leaves_no_trace() -> None:
    world = World()
    world.node("n1")
    world.pod("a", schedulingGates=[{"name": "g"}])
    assert (world.run(), world.events()) == ([], [])
    world.scheduler.sweep()
    assert world.run() == []
    world.change("Pod", "a", lambda pod: pod["spec"].pop("schedulingGates"))
    world.run()
    assert world.node_of("a") == "n1"


def test_pods_of_other_schedulers_are_left_alone() -> None:
    world = World()
    world.node("n1")
    world.pod("a", schedulerName="another")
    assert world.run() == []


def test_pods_of_other_schedulers_count_once_they_are_bound() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.pod("foreign", schedulerName="another")
    world.store.bind("default", "foreign", "n1", writer="user:test")
    world.pod("a")
    (decision,) = world.run()
    assert decision.outcome == "unschedulable"


def test_each_profile_schedules_its_own_pods() -> None:
    packing = [
        {
            "name": "NodeResourcesFit",
            "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}},
        }
    ]
    only_fit = {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}]}}
    world = World(
        profiles(
            {"schedulerName": "spreading", "plugins": only_fit},
            {"schedulerName": "packing", "plugins": only_fit, "pluginConfig": packing},
        )
    )
    world.node("n1", cpu="4")
    world.node("n2", cpu="8")
    world.pod("a", schedulerName="packing")
    world.pod("b", schedulerName="spreading")
    world.run()
    assert [world.node_of("a"), world.node_of("b")] == ["n1", "n2"]


def test_the_sweep_retries_what_is_pending() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.pod("a", cpu="2")
    world.run()
    world.scheduler.sweep()
    (decision,) = world.run()
    assert (decision.outcome, decision.attempt) == ("unschedulable", 2)


def test_a_pod_being_deleted_is_not_scheduled() -> None:
    world = World()
    world.pod("a")
    world.change("Pod", "a", lambda pod: pod["metadata"].update(finalizers=["x/y"]))
    world.delete("Pod", "a")
    world.node("n1")
    assert world.run() == []
    (event,) = world.events()
    assert event["message"] == "skip schedule deleting pod: default/a"


def test_a_pod_that_is_over_makes_room() -> None:
    world = World()
    world.node("n1", cpu="1")
    for name in ("a", "b"):
        world.pod(name)
    world.run()
    world.change("Pod", "a", lambda pod: pod["status"].update(phase="Succeeded"), "status")
    world.run()
    assert world.node_of("b") == "n1"


def test_what_is_there_before_the_start_is_taken_in() -> None:
    world = World(start=False)
    world.node("n1", cpu="2")
    world.pod("old")
    world.store.bind("default", "old", "n1", writer="user:test")
    for name in ("a", "b"):
        world.pod(name)
    world.scheduler.start()
    world.run()
    assert [world.node_of("a"), world.node_of("b")] == ["n1", ""]


def test_a_stopped_scheduler_hears_nothing_and_starts_afresh() -> None:
    world = World()
    world.scheduler.stop()
    world.node("n1")
    world.pod("a")
    assert not world.scheduler.has_work()
    world.scheduler.start()
    world.run()
    assert world.node_of("a") == "n1"


@proves("MP-043")
def test_another_configuration_takes_over_where_the_first_left_off() -> None:
    """Taking MultiPoint out again brings the default behaviour back."""
    off: dict[str, Any] = {"plugins": {"multiPoint": {"disabled": [{"name": "NodeUnschedulable"}]}}}
    world = World(profiles(off))
    world.node("n1", unschedulable=True)
    world.pod("a")
    world.run()
    assert world.node_of("a") == "n1"
    world.scheduler.reconfigure(load_configuration(None))
    world.pod("b")
    (decision,) = world.run()
    assert "1 node(s) were unschedulable" in decision.message


def test_higher_priority_goes_first() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.pod("low", priority=1)
    world.pod("high", priority=5)
    first, _ = world.run()
    assert (first.pod, world.node_of("high")) == ("default/high", "n1")


def test_two_runs_write_the_same() -> None:
    def exported() -> list[bytes]:
        world = World()
        for number in range(5):
            world.node(f"n{number}", cpu="2")
        for number in range(12):
            world.pod(f"p{number}")
        world.run()
        return [stored.data for stored in world.store.list(world.kind("Pod"))]

    assert exported() == exported()
