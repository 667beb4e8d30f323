"""Encoded objects of a store, as extenders are sent them."""

from collections.abc import Mapping

from seatrial.scheduler.cache.node_table import NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.store_cluster import kind_named
from seatrial.store import Store


class StoreObjects:
    """Implements `extenders.Objects`."""

    def __init__(self, store: Store, table: NodeTable) -> None:
        self._store, self._table = store, table
        self._pods, self._nodes = kind_named(store.kinds, "Pod"), kind_named(store.kinds, "Node")

    def pod(self, pod: PodInfo) -> bytes:
        return self._store.get(self._pods, pod.name, pod.namespace).data

    def node(self, name: str) -> bytes:
        return self._store.get(self._nodes, name).data

    def pods_on(self, node: str) -> Mapping[str, PodInfo] | None:
        """The pods of a node by uid; None without such a node."""
        found = self._table.find(node)
        return None if found is None else {pod.uid: pod for pod in found.pods}
