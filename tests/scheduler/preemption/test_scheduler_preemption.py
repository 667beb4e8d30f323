"""Preemption in the loop: who leaves, what is written, and how the preemptor gets its place."""

from typing import Any

from seatrial.model.errors import Forbidden
from seatrial.store.objects import Change
from tests.scheduler.metrics.test_scheduler_metrics import measured
from tests.scheduler.scheduler_world import World


def full_world() -> World:
    world = World()
    world.node("n1", cpu="1")
    world.pod("low", priority=1)
    world.run()
    return world


def test_a_victim_is_marked_deleted_and_told() -> None:
    world = full_world()
    world.pod("high", priority=5)
    (decision,) = world.run()
    assert decision.preemption is not None
    assert (decision.preemption.node, decision.preemption.victims) == ("n1", ("default/low",))
    condition = world.condition("low", "DisruptionTarget")
    assert (condition["status"], condition["reason"]) == ("True", "PreemptionByScheduler")
    assert condition["message"] == "default-scheduler: preempting to accommodate a higher priority pod"
    assert world.document("low")["metadata"]["deletionTimestamp"]
    (event,) = world.events("Preempted")
    uid = world.document("high")["metadata"]["uid"]
    assert event["message"] == f"Preempted by pod {uid} on node n1"
    assert event["involvedObject"]["name"] == "low"


def test_the_preemptor_is_nominated_and_waits_for_the_end_of_its_victim() -> None:
    world = full_world()
    world.pod("high", priority=5)
    world.run()
    assert world.document("high")["status"]["nominatedNodeName"] == "n1"
    assert world.condition("high")["reason"] == "Unschedulable"
    assert not world.scheduler.has_work()
    world.delete("Pod", "low")
    (decision,) = world.run()
    assert (decision.attempt, world.node_of("high")) == (2, "n1")
    assert "nominatedNodeName" not in world.document("high")["status"]


class Refusing:
    """An API that does not let pods go, so many times."""

    def __init__(self, world: World, times: int) -> None:
        self.left, self.asked = times, 0
        self._delete = world.store.delete
        world.store.delete = self  # type: ignore[method-assign]

    def __call__(self, *given: Any, **options: Any) -> Any:
        self.asked += 1
        if self.left:
            self.left -= 1
            raise Forbidden("pods is forbidden: no pod leaves")
        return self._delete(*given, **options)


def test_a_preemptor_whose_victim_could_not_be_deleted_is_tried_again_at_once() -> None:
    world = full_world()
    api = Refusing(world, 1)
    world.pod("high", priority=5)
    assert [(decision.attempt, decision.preemption is not None) for decision in world.run()] == [(1, True), (2, True)]
    assert api.asked == 2
    assert world.document("low")["metadata"]["deletionTimestamp"]
    assert len(world.events("Preempted")) == 1


def test_a_preemptor_whose_victim_can_never_be_deleted_rests_until_something_changes() -> None:
    world = full_world()
    Refusing(world, 1000)
    world.pod("high", priority=5)
    assert 1 < len(world.run()) < 10
    assert "deletionTimestamp" not in world.document("low")["metadata"]
    world.node("n2", cpu="1")
    world.run()
    assert world.node_of("high") == "n2"


def test_without_async_preemption_a_preemptor_whose_victim_stays_is_not_nominated() -> None:
    world = World(gates={"SchedulerAsyncPreemption": False})
    world.node("n1", cpu="1")
    world.pod("low", priority=1)
    world.run()
    Refusing(world, 1000)
    world.pod("high", priority=5)
    assert len(world.run()) == 1
    assert "nominatedNodeName" not in world.document("high")["status"]


def test_a_pod_does_not_preempt_again_while_its_victim_is_leaving() -> None:
    world = full_world()
    world.pod("high", priority=5)
    world.run()
    world.scheduler.sweep()
    (decision,) = world.run()
    assert decision.preemption is None
    assert "not eligible due to a terminating pod on the nominated node" in decision.message
    assert world.document("high")["status"]["nominatedNodeName"] == "n1"


def test_room_kept_for_a_nominated_pod_is_not_given_away() -> None:
    world = full_world()
    world.pod("high", priority=5)
    world.run()
    world.pod("small", cpu="1", priority=1)
    world.delete("Pod", "low")
    world.run()
    assert [world.node_of("high"), world.node_of("small")] == ["n1", ""]


def test_a_more_important_pod_takes_over_a_nomination() -> None:
    world = full_world()
    world.pod("high", priority=5)
    world.run()
    world.pod("higher", priority=9)
    world.delete("Pod", "low")
    world.run()
    assert [world.node_of("high"), world.node_of("higher")] == ["", "n1"]


def test_lesser_nominations_are_cleared_by_a_preemption() -> None:
    world = World()
    world.node("n1", cpu="2")
    for name in ("a", "b"):
        world.pod(name, priority=1)
    world.run()
    world.pod("middle", priority=5)
    world.run()
    assert world.document("middle")["status"]["nominatedNodeName"] == "n1"
    world.pod("high", cpu="2", priority=9)
    world.run()
    assert world.document("high")["status"]["nominatedNodeName"] == "n1"
    assert "nominatedNodeName" not in world.document("middle")["status"]


def test_a_nominated_pod_that_is_deleted_gives_its_room_back() -> None:
    world = full_world()
    world.pod("high", priority=5)
    world.pod("other", priority=2)
    world.run()
    world.delete("Pod", "low")
    world.delete("Pod", "high")
    world.run()
    assert world.node_of("other") == "n1"


def test_a_pod_that_never_preempts_says_so() -> None:
    world = full_world()
    world.pod("polite", priority=5, preemptionPolicy="Never")
    (decision,) = world.run()
    assert (decision.preemption, "preemptionPolicy=Never." in decision.message) == (None, True)


def test_equals_are_never_victims() -> None:
    world = full_world()
    world.pod("equal", priority=1)
    (decision,) = world.run()
    assert decision.preemption is None
    assert "No preemption victims found for incoming pod" in decision.message


def test_a_preemptor_is_gated_until_the_deletion_of_its_last_victim_was_sent() -> None:
    world = World()
    world.node("n1", cpu="2")
    for name in ("low1", "low2"):
        world.pod(name, priority=1, terminationGracePeriodSeconds=0)
    world.run()
    gates: list[str] = []

    def look(change: Change) -> None:
        if change.type == "DELETED":
            queued = world.scheduler.queue.unschedulable.get("default/high")
            gates.append(queued.gating_plugin if queued is not None else "queued")

    world.store.subscribe(look, [world.kind("Pod")])
    world.pod("high", cpu="2", priority=5)
    decisions = world.run()
    assert gates == ["DefaultPreemption", "queued"]
    assert [decision.node for decision in decisions] == ["", "n1"]


def test_every_question_to_the_preemption_plugin_counts_as_an_attempt() -> None:
    world = measured()
    world.node("n1", cpu="1")
    world.pod("never", cpu="9", preemptionPolicy="Never")
    world.pod("large", cpu="9")
    world.run()
    world.pod("alike", cpu="9")
    world.run()
    assert world.scheduler.metrics["preemption_attempts_total"].values[()] == 3
