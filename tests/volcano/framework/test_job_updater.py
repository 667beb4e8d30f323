"""What a session leaves to be written when it ends."""

from seatrial.store.registry.status_writes import write_status
from seatrial.volcano.apis import kind_of
from seatrial.volcano.cache.cluster_info import read_tasks
from seatrial.volcano.cache.scheduler_cache import SchedulerCache
from seatrial.volcano.cache.status_updater import StatusUpdater
from seatrial.volcano.framework.job_updater import PodUpdate
from seatrial.volcano.metrics.measures import NoMeasures
from tests.volcano.objects import create, volcano_store
from tests.volcano.sessions import READER, cycle, group, node, pod, queue


def test_queues_above_hold_what_the_queues_below_hold() -> None:
    queues = [queue("root"), queue("top", parent="root"), queue("leaf", parent="top"), queue("other")]
    _, result = cycle([node("n")], [pod("p", "g", cpu="2", on="n")], [group("g", queue="leaf")], queues)
    assert {name: held["cpu"] for name, held in result.queues.items()} == {
        "root": "2",
        "top": "2",
        "leaf": "2",
        "other": "0",
    }


def test_a_session_ends_where_queues_are_parents_of_each_other() -> None:
    queues = [queue("root"), queue("a", parent="b"), queue("b", parent="a"), queue("leaf", parent="a")]
    _, result = cycle([node("n")], [pod("p", "g", cpu="2", on="n")], [group("g", queue="leaf")], queues)
    assert {name: held["cpu"] for name, held in result.queues.items()} == {"root": "0", "a": "2", "b": "2", "leaf": "2"}


def test_a_nomination_that_allocate_took_away_is_written_as_none() -> None:
    (waiting,) = read_tasks([pod("t-0", "job", status={"nominatedNodeName": "n1"})], READER)
    update = PodUpdate(waiting, "Unschedulable", "no room", "")
    assert update.nomination == "n1", "kept: the session says nothing of it"
    waiting.nominated_node = ""
    assert update.nomination == ""
    assert PodUpdate(waiting, "Unschedulable", "no room", "n2").nomination == "n2"


def test_a_pod_whose_nomination_was_taken_away_loses_it_in_the_store() -> None:
    store = volcano_store()
    create(store, {"apiVersion": "v1", "kind": "Pod", **pod("t-0", "job")})
    kind = kind_of(store, ("v1", "Pod"))
    write_status(store, store.get(kind, "t-0", "default"), {"phase": "Pending", "nominatedNodeName": "n1"}, "test")
    document = store.get(kind, "t-0", "default").document()
    (waiting,) = read_tasks([document], READER)
    updater = StatusUpdater(store, store.clock, SchedulerCache(store), None, NoMeasures())
    updater._write_pod(PodUpdate(waiting, "Unschedulable", "no room", ""))
    assert store.get(kind, "t-0", "default").document()["status"]["nominatedNodeName"] == "n1"
    waiting.nominated_node = ""
    updater._write_pod(PodUpdate(waiting, "Unschedulable", "still no room", ""))
    assert "nominatedNodeName" not in store.get(kind, "t-0", "default").document()["status"]
