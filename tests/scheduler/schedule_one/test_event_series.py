"""Events of the scheduler: which version of a pod they name, and how series are counted, refreshed and finished."""

from typing import Any

from seatrial.model.times import MINUTE
from seatrial.scheduler.schedule_one.recorder import ANNOTATOR
from tests.scheduler.scheduler_world import World


def failing_world() -> World:
    world = World()
    world.node("n1")
    world.pod("a", cpu="9")
    world.run()
    return world


def fail_again(world: World, times: int = 1) -> None:
    for _ in range(times):
        world.scheduler.sweep()
        world.run()


def counts(world: World) -> list[int]:
    """The counts of all series, as the store has them."""
    return [event["series"]["count"] for event in world.events("FailedScheduling") if "series" in event]


def version(world: World, name: str) -> Any:
    return world.document(name)["metadata"]["resourceVersion"]


def test_a_series_is_written_when_it_has_been_silent_for_six_minutes() -> None:
    world = failing_world()
    fail_again(world, 5)
    assert counts(world) == [2]
    world.clock.advance(world.clock.now() + 6 * MINUTE)
    assert counts(world) == [2]
    world.clock.advance(world.clock.now() + 6 * MINUTE)
    assert counts(world) == [5]


def test_a_series_is_forgotten_once_it_is_finished() -> None:
    world = failing_world()
    fail_again(world, 3)
    world.clock.advance(world.clock.now() + 12 * MINUTE)
    fail_again(world)
    assert len(world.events("FailedScheduling")) == 3


def test_a_series_that_goes_on_is_written_every_thirty_minutes() -> None:
    world = failing_world()
    for _ in range(8):
        fail_again(world)
        world.clock.advance(world.clock.now() + 4 * MINUTE)
    assert counts(world) == [8]
    fail_again(world)
    assert counts(world) == [8]


def test_a_series_whose_event_is_gone_is_created_with_its_count() -> None:
    world = failing_world()
    fail_again(world)
    for event in world.events():
        world.store.delete(world.kind("Event"), event["metadata"]["name"], writer="user:test", namespace="default")
    fail_again(world)
    assert counts(world) == [2]


def test_result_annotations_do_not_disturb_a_series() -> None:
    world = failing_world()

    def annotate(pod: Any) -> None:
        annotations = pod["metadata"].setdefault("annotations", {})
        annotations["result"] = f"{len(annotations.get('result', ''))} and one more"

    for _ in range(3):
        world.store.modify(world.kind("Pod"), "a", annotate, writer=ANNOTATOR, namespace="default")
        fail_again(world)
    assert len(world.events("FailedScheduling")) == 2
    assert counts(world) == [2]


def test_scheduled_names_the_version_that_the_attempt_began_with() -> None:
    world = World()
    world.node("n1")
    world.pod("a")
    before = version(world, "a")
    world.run()
    (event,) = world.events("Scheduled")
    assert event["involvedObject"]["resourceVersion"] == before != version(world, "a")


def test_preempted_names_the_bound_version_of_the_victim_and_no_related_object() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.pod("low", priority=1)
    world.run()
    bound = version(world, "low")
    world.pod("high", priority=5)
    world.run()
    (event,) = world.events("Preempted")
    assert event["involvedObject"]["resourceVersion"] == bound
    assert "related" not in event
