"""What the scheduler writes into the status of pods, without the way through the API."""

from collections.abc import Callable
from typing import Any

import pytest

from seatrial.model.documents import Document
from seatrial.scheduler.cache.pod_info import PodReader
from seatrial.scheduler.schedule_one.pod_status import PodStatusWriter
from tests.scheduler.scheduler_world import World

Write = Callable[[PodStatusWriter, Any], object]
WRITES: dict[str, Write] = {
    "refused": lambda writer, pod: writer.not_scheduled(pod, "Unschedulable", 'no "room"', None),
    "nominated": lambda writer, pod: writer.not_scheduled(pod, "Unschedulable", "later", "node-1"),
    "released": lambda writer, pod: writer.not_scheduled(pod, "SchedulerError", "broken", ""),
    "renominated": lambda writer, pod: writer.nominate(pod, "node-2"),
    "preempted": lambda writer, pod: writer.preempted(pod, "default-scheduler"),
}


def waiting() -> tuple[World, Any]:
    world = World(start=False)
    world.pod("a")
    return world, PodReader().of(stored(world))


def stored(world: World) -> Any:
    return world.store.get(world.kind("Pod"), "a", "default")


@pytest.mark.parametrize("names", [[name] for name in WRITES] + [list(WRITES), list(reversed(WRITES))])
def test_the_pod_is_written_as_an_update_of_its_status_would_be(names: list[str]) -> None:
    world, pod = waiting()
    writer = PodStatusWriter(world.store)
    for name in names:
        WRITES[name](writer, pod)
        written = stored(world)
        again: Document = written.document()
        again["status"]["phase"] = "Running"
        world.store.update(world.kind("Pod"), again, writer="user:test", subresource="status")
        again["status"]["phase"] = "Pending"
        del again["metadata"]["resourceVersion"]
        updated = world.store.update(world.kind("Pod"), again, writer="user:test", subresource="status")
        old, new = (b'"resourceVersion":"%d"' % one.revision for one in (written, updated))
        assert written.data.replace(old, new) == updated.data


def test_what_stands_is_not_written_again() -> None:
    world, pod = waiting()
    writer = PodStatusWriter(world.store)
    for _ in range(2):
        writer.not_scheduled(pod, "Unschedulable", "no room", None)
    assert world.store.revision == 2


def test_a_pod_that_is_gone_is_left_alone() -> None:
    world, pod = waiting()
    world.store.delete(world.kind("Pod"), "a", writer="user:test", namespace="default")
    assert PodStatusWriter(world.store).preempted(pod, "default-scheduler") is False
