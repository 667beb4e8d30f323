"""After a write of its status a pod is not read in full; what the scheduler knows of it must be the same."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.model.documents import Document, encode
from seatrial.scheduler.cache.pod_info import PodInfo, PodReader
from seatrial.scheduler.cache.pod_status_fields import only_status_changed
from seatrial.scheduler.schedule_one.recorder import ANNOTATOR
from seatrial.store.objects import Stored
from seatrial.store.registry.status_writes import write_status
from seatrial.store.store import Store
from tests.scheduler.scheduler_world import World

HEAD: Document = {"metadata": {"name": "p", "resourceVersion": "9"}, "spec": {"containers": []}}


def fields(pod: PodInfo) -> dict[str, object]:
    found = msgspec.structs.asdict(pod)
    shape, found["requests"] = found.pop("shape"), str(pod.requests)
    return {**found, "labels": dict(shape.labels), "spec": shape.spec}


def after(**changes: object) -> bytes:
    return encode({**HEAD, "metadata": {"name": "p", "resourceVersion": "10"}, **changes})


def test_a_new_status_alone_is_told_apart() -> None:
    before = encode({**HEAD, "status": {"phase": "Pending"}})
    assert only_status_changed(after(status={"phase": "Running"}), 10, before, 9) == encode({"phase": "Running"})


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata": {"name": "p", "resourceVersion": "10", "labels": {"a": "b"}}, "status": {}},
        {"metadata": {"name": "p", "resourceVersion": "9", "labels": {"resourceVersion": "10"}}, "status": {}},
        {"spec": {"nodeName": "n"}, "status": {}},
        {"status": None},
        {},
    ],
)
def test_other_changes_are_not_taken_for_a_new_status(changes: Document) -> None:
    before = encode({**HEAD, "status": {"phase": "Pending"}})
    assert only_status_changed(after(**changes), 10, before, 9) is None


def test_a_status_that_is_not_the_last_field_is_read_in_full() -> None:
    world = World()
    world.pod("p")
    stored = world.store.get(world.kind("Pod"), "p", "default")
    first, second = (
        Stored(stored.kind, "default", "p", number, encode({**HEAD, "status": {"phase": phase}, "more": {}}))
        for number, phase in ((9, "Pending"), (9, "Running"))
    )
    reader = PodReader()
    assert reader.with_status(reader.of(first), second, first) is None


def _of_status(store: Store, stored: Stored, number: int) -> None:
    status: Document = {"phase": "Running", "nominatedNodeName": f"n{number}", "startTime": "2030-01-01T00:00:00Z"}
    if number % 2:
        status["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
        status["containerStatuses"] = [{"name": "c", "resources": {"requests": {"cpu": f"{number}"}}}]
    write_status(store, stored, status, "kubelet")


def _of_labels(store: Store, stored: Stored, number: int, subresource: str = "") -> None:
    def change(pod: Document) -> None:
        pod["metadata"].setdefault("labels", {})["number"] = str(number)
        pod["status"]["phase"] = f"Phase{number}"

    store.modify(stored.kind, "p", change, writer="user:test", namespace="default", subresource=subresource)


def _of_status_and_labels(store: Store, stored: Stored, number: int) -> None:
    _of_labels(store, stored, number, "status")


def _of_annotations(store: Store, stored: Stored, number: int) -> None:
    def change(pod: Document) -> None:
        pod["metadata"].setdefault("annotations", {})["number"] = "9" * (5000 if number == 3 else number + 1)

    store.modify(stored.kind, "p", change, writer=ANNOTATOR, namespace="default")


WRITES = (_of_status, _of_labels, _of_status_and_labels, _of_annotations)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(WRITES), st.integers(0, 3)), max_size=8), st.booleans())
def test_the_scheduler_knows_a_pod_as_it_is_stored(writes: list[tuple[object, int]], is_bound: bool) -> None:
    world = World()
    world.node("n1")
    world.pod("p", labels={"app": "p"})
    if is_bound:
        world.run()
    kind, reader = world.kind("Pod"), PodReader()
    for write, number in [*writes, (_of_status, 2), (_of_status, 3)]:
        write(world.store, world.store.get(kind, "p", "default"), number)  # type: ignore[operator]
    known = world.scheduler._watcher.pods["default/p"]
    bare = msgspec.structs.replace(world.store.get(kind, "p", "default"), facets=None, views=None)
    assert fields(known) == fields(reader.of(bare))
