"""The NodeSet of KEP-140: like a ReplicaSet, but it makes nodes."""

from seatrial.scenario.engine import Cluster, UserController


class NodeSet(UserController):
    name = "nodeset"
    watches = ("example.com/v1/NodeSet",)

    def reconcile(self, cluster: Cluster, object: dict) -> None:
        name, spec = object["metadata"]["name"], object["spec"]
        status = {"capacity": spec["room"], "allocatable": spec["room"]}
        for number in range(spec["replicas"]):
            meta = {"name": f"{name}-{number:04}"}
            cluster.create_once({"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status})
