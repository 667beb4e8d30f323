"""The scheduler's copy of the cluster follows the store."""

from seatrial.volcano.apis import NODEINFO, NUMATOPOLOGY, kind_of
from seatrial.volcano.cache.scheduler_cache import SchedulerCache
from tests.volcano.objects import create, volcano_store


def test_numatopologies_of_the_store_come_and_go_with_their_objects_and_nodes() -> None:
    store = volcano_store()
    for name in ("n1", "n2"):
        create(store, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    kind = kind_of(store, NUMATOPOLOGY)
    spec = {"numares": {"cpu": {"allocatable": "0-1", "capacity": 2}}, "cpuDetail": {"0": {}, "1": {"numa": 1}}}
    create(store, {"apiVersion": NODEINFO, "kind": "Numatopology", "metadata": {"name": "n1"}, "spec": spec})
    cache = SchedulerCache(store)
    cache.start()
    create(store, {"apiVersion": NODEINFO, "kind": "Numatopology", "metadata": {"name": "n2"}, "spec": spec})
    found = cache.snapshot(0).numatopologies.refresh()
    assert {name: info.free for name, info in found.items()} == {"n1": {"cpu": {0, 1}}, "n2": {"cpu": {0, 1}}}
    assert found["n1"].numa_nodes == [0, 1]
    store.delete(kind, "n1", writer="test")
    store.delete(kind_of(store, ("v1", "Node")), "n2", writer="test")
    assert cache.snapshot(0).numatopologies.refresh() == {}
    cache.stop()
