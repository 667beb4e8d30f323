"""The scheduling queue: order, backoff, hints, gates, the flush and what happens while a pod is in flight.

Tests: scheduler/queue/*.py
"""

from collections.abc import Callable
from typing import Any

import pytest

from seatrial.clock.virtual import Clock
from seatrial.model.times import MINUTE, SECOND
from seatrial.scheduler.cache.pod_info import PodInfo, PodReader, replace_pod
from seatrial.scheduler.framework.events import ASSIGNED_ADD, ASSIGNED_DELETE, NODE_ADD, ClusterEvent, Registration
from seatrial.scheduler.framework.interface import Action
from seatrial.scheduler.framework.status import SUCCESS, Status, unschedulable
from seatrial.scheduler.queue import PodNominator, QueuedPod, SchedulingQueue

READER = PodReader()
FIT = [Registration(ClusterEvent("Pod", Action.DELETE)), Registration(ClusterEvent("Node", Action.ADD))]


def pod(name: str, priority: int = 0, **spec: Any) -> PodInfo:
    return READER.read(
        {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": {"priority": priority, **spec}}
    )


class World:
    """A queue with a clock, and what there is outside it."""

    def __init__(self, **options: Any) -> None:
        self.clock = Clock()
        self.gone: set[str] = set()
        self.nominator = PodNominator(lambda pod: None if pod.uid in self.gone else pod)
        settings = {"hints": {"default-scheduler": {"Fit": FIT}}, "gates": {}} | options
        self.queue = SchedulingQueue(self.clock, self.nominator, **settings)

    def popped(self) -> str:
        queued = self.queue.pop()
        return queued.pod.name if queued else ""

    def fail(self, queued: QueuedPod | None, *plugins: str, pending: tuple[str, ...] = ()) -> QueuedPod:
        assert queued is not None
        queued.unschedulable_plugins, queued.pending_plugins = frozenset(plugins), frozenset(pending)
        self.queue.add_unschedulable(queued)
        return queued


def test_higher_priority_goes_first_and_equals_in_order_of_arrival() -> None:
    world = World()
    for one in (pod("a"), pod("b", 10), pod("c"), pod("d", 10)):
        world.queue.add(one)
    assert [world.popped() for _ in range(5)] == ["b", "d", "a", "c", ""]


def test_a_rejected_pod_waits_for_an_event_its_plugin_registered() -> None:
    world = World()
    world.queue.add(pod("a"))
    world.fail(world.queue.pop(), "Fit")
    assert not world.queue.has_work()
    world.queue.move_all(ASSIGNED_ADD, None, pod("other"))
    assert not world.queue.has_work()
    world.queue.move_all(ASSIGNED_DELETE, pod("other"), None)
    assert world.popped() == "a"


@pytest.mark.parametrize(("answer", "moved"), [(True, True), (False, False)])
def test_a_hint_decides_whether_an_event_helps(answer: bool, moved: bool) -> None:
    seen = []

    def hint(pod: PodInfo, old: Any, new: Any) -> bool:
        seen.append((pod.name, old, new))
        return answer

    world = World(hints={"default-scheduler": {"Fit": [Registration(ClusterEvent("Node", Action.ADD), hint)]}})
    world.queue.add(pod("a"))
    world.fail(world.queue.pop(), "Fit")
    world.queue.move_all(NODE_ADD, None, "node")
    assert (seen, world.queue.has_work()) == ([("a", None, "node")], moved)


@pytest.mark.parametrize(
    ("event", "about", "asked"),
    [
        (NODE_ADD, "node", ["a", "b"]),
        (ASSIGNED_DELETE, pod("other"), ["a", "b"]),
        (ASSIGNED_DELETE, pod("a"), ["a", "b", "c"]),
        (ClusterEvent("ResourceClaim", Action.ADD), "claim", ["a", "b", "c"]),
    ],
    ids=["a node", "another pod", "one of them", "an object that may be of one of them"],
)
def test_equal_pods_share_the_answer_of_a_hint_about(event: ClusterEvent, about: Any, asked: list[str]) -> None:
    seen = []

    def hint(pod: PodInfo, old: Any, new: Any) -> bool:
        seen.append(pod.name)
        return False

    kinds = ("Node", "Pod", "ResourceClaim")
    registered = [Registration(ClusterEvent(kind, Action.ADD | Action.DELETE), hint) for kind in kinds]
    world = World(hints={"default-scheduler": {"Fit": registered}}, alike_in=("default-scheduler",))
    for one in (pod("a"), pod("b", 5), pod("c")):
        world.queue.add(one)
    for _ in "abc":
        world.fail(world.queue.pop(), "Fit")
    world.queue.move_all(event, about, None)
    assert sorted(set(seen)) == asked


def test_a_plugin_that_did_not_reject_the_pod_is_not_asked() -> None:
    world = World(hints={"default-scheduler": {"Fit": FIT, "Other": []}})
    world.queue.add(pod("a"))
    world.fail(world.queue.pop(), "Other")
    world.queue.move_all(NODE_ADD, None, "node")
    assert not world.queue.has_work()


def test_backoff_orders_pods_but_an_empty_active_queue_takes_them_early() -> None:
    world = World()
    for one in (pod("tired"), pod("fresh")):
        world.queue.add(one)
    tired = world.fail(world.queue.pop(), "Fit")
    world.queue.move_all(NODE_ADD, None, "node")
    assert tired.key in world.queue.backoff
    assert [world.popped(), world.popped()] == ["fresh", "tired"]


def test_pods_of_one_backoff_window_go_by_priority() -> None:
    world = World()
    for one in (pod("low"), pod("high", 5)):
        world.queue.add(one)
    high, low = world.queue.pop(), world.queue.pop()
    world.fail(low, "Fit")
    world.clock.advance(world.clock.now() + SECOND // 3)
    world.fail(high, "Fit")
    world.queue.move_all(NODE_ADD, None, "node")
    assert [world.popped(), world.popped()] == ["high", "low"]


def test_backoff_doubles_up_to_the_longest() -> None:
    backoff = World().queue.backoff
    assert [backoff.duration(count) // SECOND for count in (1, 2, 3, 4, 5, 6, 99)] == [1, 2, 4, 8, 10, 10, 10]


def test_a_pod_that_failed_with_an_error_waits_its_backoff_out() -> None:
    world = World()
    world.queue.add(pod("a"))
    world.fail(world.queue.pop())
    assert (world.queue.has_work(), world.popped()) == (False, "")
    start = world.clock.now()
    assert world.clock.fire_next(outer=False)
    assert world.clock.now() - start == 2 * SECOND
    assert world.popped() == "a"


def test_an_event_during_the_attempt_brings_the_pod_back_at_once() -> None:
    world = World()
    world.queue.add(pod("a"))
    queued = world.queue.pop()
    world.queue.move_all(NODE_ADD, None, "node")
    world.fail(queued, "Fit")
    assert world.popped() == "a"


def test_an_event_that_helps_counts_also_after_one_that_does_not() -> None:
    registered = [Registration(ClusterEvent("Node", Action.ADD), lambda pod, old, new: new == "large")]
    world = World(hints={"default-scheduler": {"Fit": registered}})
    world.queue.add(pod("a"))
    queued = world.queue.pop()
    for size in ("small", "large"):
        world.queue.move_all(NODE_ADD, None, size)
    world.fail(queued, "Fit")
    assert world.popped() == "a"


def test_an_event_before_the_attempt_does_not_bring_the_pod_back() -> None:
    world = World()
    for one in (pod("waiting"), pod("a")):
        world.queue.add(one)
    world.queue.pop()
    world.queue.move_all(NODE_ADD, None, "node")
    world.fail(world.queue.pop(), "Fit")
    assert not world.queue.has_work()


def test_events_nobody_waits_for_are_forgotten() -> None:
    world = World()
    for one in (pod("a"), pod("b")):
        world.queue.add(one)
    world.queue.pop()
    world.queue.move_all(NODE_ADD, None, "node")
    world.queue.pop()
    world.queue.done("a")
    assert world.queue.in_flight.events_for("b") == []


def test_a_pending_plugin_brings_its_pod_back_without_backoff() -> None:
    world = World()
    world.queue.add(pod("a"))
    queued = world.fail(world.queue.pop(), pending=("Fit",))
    world.queue.move_all(NODE_ADD, None, "node")
    assert queued.key in world.queue.active


def gate(closed: set[str]) -> Callable[[PodInfo], Status]:
    return lambda pod: unschedulable("waiting for gates") if pod.name in closed else SUCCESS


def test_a_gated_pod_never_becomes_active_until_its_gate_opens() -> None:
    closed = {"a"}
    opened = Registration(ClusterEvent("Pod", Action.UPDATE_POD_GATES_ELIMINATED))
    world = World(
        hints={"default-scheduler": {"Fit": FIT, "Gates": [opened]}},
        gates={"default-scheduler": [("Gates", gate(closed))]},
    )
    old = pod("a", schedulingGates=[{"name": "g"}])
    world.queue.add(old)
    world.queue.move_all(NODE_ADD, None, "node")
    world.queue.sweep()
    assert not world.queue.has_work()
    closed.clear()
    world.queue.update(old, pod("a"))
    assert world.popped() == "a"


def test_a_pod_that_waited_five_minutes_is_tried_again() -> None:
    world = World()
    world.clock.advance(world.clock.now() + 10 * SECOND)
    world.queue.add(pod("a"))
    world.fail(world.queue.pop(), "Fit")
    start = world.clock.now()
    assert world.clock.next_inner() is None
    assert world.clock.fire_next(outer=True)
    assert world.clock.now() - start == 5 * MINUTE + 20 * SECOND
    assert world.popped() == "a"


def test_a_gated_pod_does_not_keep_the_flush_going() -> None:
    world = World(gates={"default-scheduler": [("Gates", gate({"a"}))]})
    world.queue.add(pod("a"))
    assert world.clock.next_outer() is None


def test_the_sweep_brings_back_all_but_gated_and_deleting_pods() -> None:
    world = World(gates={"default-scheduler": [("Gates", gate({"gated"}))]})
    for one in (pod("a"), pod("gated"), replace_pod(pod("leaving"), deleting=True)):
        world.queue.add(one)
    while (queued := world.queue.pop()) is not None:
        world.fail(queued, "Fit")
    world.queue.sweep()
    assert (world.popped(), world.popped()) == ("a", "")


def test_a_deleted_pod_is_nowhere() -> None:
    world = World()
    world.queue.add(pod("a"))
    world.queue.delete(pod("a"))
    assert (world.queue.has_work(), world.popped(), list(world.queue.pending())) == (False, "", [])


def test_an_update_of_an_active_pod_gives_it_a_new_place() -> None:
    world = World()
    old = pod("a")
    world.queue.add(old)
    world.queue.add(pod("b", 5))
    world.queue.update(old, pod("a", 9))
    assert [world.popped(), world.popped()] == ["a", "b"]


def test_activation_skips_the_backoff() -> None:
    world = World()
    world.queue.add(pod("a"))
    queued = world.fail(world.queue.pop(), "Fit")
    world.queue.activate([pod("a")])
    assert queued.key in world.queue.active


def test_a_nomination_outlives_an_update_that_does_not_know_it() -> None:
    world = World()
    old = pod("a")
    world.nominator.nominate(old, "n1")
    world.nominator.update(old, pod("a"))
    assert [one.name for one in world.nominator.nominated_to("n1")] == ["a"]


def test_a_pod_that_is_gone_cannot_be_nominated() -> None:
    world = World()
    world.gone.add("a")
    world.nominator.nominate(pod("a"), "n1")
    assert world.nominator.nominated_to("n1") == ()


def test_a_status_names_the_node_a_pod_is_nominated_to() -> None:
    world = World()
    world.queue.add(replace_pod(pod("a"), nominated_node="n1"))
    assert (list(world.nominator.nominated_nodes()), world.nominator.node_of(pod("a"))) == (["n1"], "n1")


def test_a_pod_that_was_queued_before_a_binding_is_tried_again_when_it_fails() -> None:
    """Upstream tries it while the binding is on its way, and the event of the binding finds it unschedulable."""
    world = World(hints={"default-scheduler": {"Spread": [Registration(ClusterEvent("Pod", Action.ADD))], "Fit": FIT}})
    for name in ("first", "second", "third"):
        world.queue.add(pod(name))
    bound = world.queue.pop()
    assert bound is not None
    world.queue.expect_binding(bound.pod)
    world.queue.done("first")
    world.fail(world.queue.pop(), "Spread")
    world.fail(world.queue.pop(), "Fit")
    assert world.popped() == "second"
    world.queue.add(pod("later"))
    assert [queued.pod.name for queued in world.queue.pending()] == ["later", "third"]


def test_a_binding_brings_a_pod_back_once() -> None:
    world = World(hints={"default-scheduler": {"Spread": [Registration(ClusterEvent("Pod", Action.ADD))]}})
    for name in ("first", "second"):
        world.queue.add(pod(name))
    bound = world.queue.pop()
    assert bound is not None
    world.queue.expect_binding(bound.pod)
    world.queue.done("first")
    for _ in range(2):
        world.fail(world.queue.pop(), "Spread")
    assert not world.queue.has_work()
