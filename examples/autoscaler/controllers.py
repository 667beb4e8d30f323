"""A toy cluster autoscaler: a node for pods that fit nowhere, as long as the pool has any left."""

from seatrial.scenario.engine import Cluster, UserController

POOL = 6
ROOM = {"cpu": "4", "memory": "16Gi", "pods": "110"}


class Autoscaler(UserController):
    name = "autoscaler"
    watches = ("v1/Pod",)

    def reconcile(self, cluster: Cluster, object: dict) -> None:
        waiting = [pod for pod in cluster.list("v1/Pod") if not pod["spec"].get("nodeName")]
        nodes = len(cluster.list("v1/Node"))
        if object in waiting and nodes < POOL:
            status = {"capacity": ROOM, "allocatable": ROOM}
            cluster.create_once(
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"pool-{nodes}"}, "status": status}
            )
