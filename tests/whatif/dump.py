"""A cluster of 126 nodes in four pools and three zones, as `kubectl get -o json` writes it.

The cluster is made by a run of our own controllers and scheduler, so that it is at rest; Deployments that were scaled
down afterwards leave nodes half empty, as in a real cluster. Everything derives from the numbers below: two calls give
the same bytes.
"""

import sys
from functools import lru_cache
from typing import Any

import orjson

from seatrial.model.times import MINUTE
from tests.controllers.replaying import Cluster

Document = dict[str, Any]
ZONES = ("eu-a", "eu-b", "eu-c")
NODEPOOL, NODEGROUP = "karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup"
CAPACITY = {NODEPOOL: "karpenter.sh/capacity-type", NODEGROUP: "eks.amazonaws.com/capacityType"}
POOLS: dict[str, Document] = {
    "general": {"nodes": 60, "type": "m6i.2xlarge", "cpu": "8", "memory": "32Gi", "label": NODEPOOL},
    "spot": {"nodes": 30, "type": "c6i.xlarge", "cpu": "4", "memory": "8Gi", "label": NODEPOOL, "capacity": "spot"},
    "memory": {"nodes": 24, "type": "r6i.2xlarge", "cpu": "8", "memory": "64Gi", "label": NODEGROUP},
    "gpu": {"nodes": 12, "type": "g5.12xlarge", "cpu": "16", "memory": "192Gi", "label": NODEGROUP, "gpus": "4"},
}
NAMESPACES = ("shop", "data", "ml", "batch")
KINDS = (
    "Namespace", "Node", "Pod", "Service", "ServiceAccount", "PersistentVolume", "PersistentVolumeClaim",
    "StorageClass", "PriorityClass", "PodDisruptionBudget", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet",
    "ControllerRevision", "Job", "HorizontalPodAutoscaler",
)  # fmt: skip
SEED = 7
"""Names are generated from it: a run of seed 0 would generate those that are taken already."""
SPOT = {"key": "spot", "operator": "Exists"}
GPU = {"key": "nvidia.com/gpu", "operator": "Exists"}


def node(pool: str, number: int) -> Document:
    """One node of a pool; zones take turns."""
    facts, zone, name = POOLS[pool], ZONES[number % 3], f"{pool}-{number:02}"
    label = facts["label"]
    labels = {
        "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": facts["type"], label: pool,
        CAPACITY[label]: facts.get("capacity", "on-demand" if label == NODEPOOL else "ON_DEMAND"),
    }  # fmt: skip
    resources = {"cpu": facts["cpu"], "memory": facts["memory"], "pods": "58"}
    taints = []
    if "gpus" in facts:
        resources["nvidia.com/gpu"] = facts["gpus"]
        taints.append({"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"})
    if pool == "spot":
        taints.append({"key": "spot", "value": "true", "effect": "NoSchedule"})
    status = {"allocatable": resources, "capacity": resources}
    spec = {"taints": taints} if taints else {}
    return made("Node", name, spec=spec, status=status) | {"metadata": {"name": name, "labels": labels}}


def made(kind: str, name: str, namespace: str = "", api: str = "v1", **more: Any) -> Document:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}


def template(app: str, cpu: str, memory: str, **spec: Any) -> Document:
    gpus = {"nvidia.com/gpu": spec.pop("gpus")} if "gpus" in spec else {}
    requests = {"cpu": cpu, "memory": memory, **gpus}
    container = {"name": "main", "image": f"{app}:1", "resources": {"requests": requests, "limits": gpus}}
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container], **spec}}


def workload(kind: str, name: str, namespace: str, pods: Document, **spec: Any) -> Document:
    selector = {"matchLabels": {"app": name}}
    return made(kind, name, namespace, "apps/v1", spec={"selector": selector, "template": pods, **spec})


def budget(app: str, namespace: str, **spec: Any) -> Document:
    selector = {"matchLabels": {"app": app}}
    return made("PodDisruptionBudget", app, namespace, "policy/v1", spec={"selector": selector, **spec})


def stateful(name: str, replicas: int, policy: str = "OrderedReady") -> Document:
    """A StatefulSet whose replicas each have a volume of one zone, and are spread over the zones."""
    spread = {
        "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": name}},
    }  # fmt: skip
    pods = template(name, "2", "8Gi", topologySpreadConstraints=[spread])
    resources = {"requests": {"storage": "10Gi"}}
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "zonal", "resources": resources}
    claims = [{"metadata": {"name": "data"}, "spec": claim}]
    return workload(
        "StatefulSet", name, "data", pods, replicas=replicas, serviceName=name, podManagementPolicy=policy,
        volumeClaimTemplates=claims,
    )  # fmt: skip


def disks(name: str, replicas: int) -> list[Document]:
    """The bound claims and the zonal volumes of a StatefulSet."""
    found = []
    for number in range(replicas):
        claim, volume = f"data-{name}-{number}", f"pv-{name}-{number}"
        zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [ZONES[number % 3]]}
        affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
        common: Document = {"accessModes": ["ReadWriteOnce"], "storageClassName": "zonal"}
        reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": claim, "namespace": "data"}
        csi = {"driver": "disk.example.com", "volumeHandle": volume}
        spec = {**common, "capacity": {"storage": "10Gi"}, "claimRef": reference, "csi": csi, "nodeAffinity": affinity}
        found.append(made("PersistentVolume", volume, spec=spec))
        asked = {**common, "volumeName": volume, "resources": {"requests": {"storage": "10Gi"}}}
        found.append(made("PersistentVolumeClaim", claim, "data", spec=asked))
    return found


def objects() -> list[Document]:
    """What is created first; `shrink` comes after it."""
    found = [made("Namespace", name) for name in NAMESPACES]
    found += [node(pool, number) for pool, facts in POOLS.items() for number in range(facts["nodes"])]
    binding = {"provisioner": "disk.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    found += [made("StorageClass", "zonal", api="storage.k8s.io/v1", **binding)]
    found += [made("PriorityClass", "important", api="scheduling.k8s.io/v1", value=1000)]
    everywhere = [{"operator": "Exists"}]
    for name in ("logs", "network"):
        found.append(workload("DaemonSet", name, "kube-system", template(name, "50m", "64Mi", tolerations=everywhere)))
    for name, replicas, policy in (
        ("orders", 6, "OrderedReady"),
        ("events", 9, "Parallel"),
        ("ledger", 3, "OrderedReady"),
    ):
        found += [*disks(name, replicas), stateful(name, replicas, policy)]
    found += [budget("orders", "data", maxUnavailable=1), budget("ledger", "data", minAvailable=3)]
    for number in range(24):
        name = f"web-{number:02}"
        pods = template(name, "700m", "1Gi", priorityClassName="important" if number % 4 == 0 else "")
        found.append(workload("Deployment", name, "shop", pods, replicas=24))
        if number % 3 == 0:
            found.append(budget(name, "shop", maxUnavailable="25%"))
    memory = {"nodeSelector": {NODEGROUP: "memory"}}
    found.append(workload("Deployment", "cache", "data", template("cache", "1500m", "20Gi", **memory), replicas=40))
    for number in range(6):
        pods = template(f"train-{number}", "4", "24Gi", gpus="2", tolerations=[GPU])
        found.append(workload("Deployment", f"train-{number}", "ml", pods, replicas=3))
    found.append(workload("Deployment", "render", "batch", template("render", "900m", "1Gi", tolerations=[SPOT],
                 nodeSelector={NODEPOOL: "spot"}), replicas=60))  # fmt: skip
    found.append(workload("Deployment", "scratch", "batch", template("scratch", "500m", "1Gi",
                 volumes=[{"name": "tmp", "emptyDir": {}}]), replicas=8))  # fmt: skip
    job = template("sort", "500m", "1Gi", restartPolicy="Never")
    found.append(made("Job", "sort", "batch", "batch/v1", spec={"parallelism": 4, "completions": 4, "template": job}))
    for number in range(3):
        found.append(made("Pod", f"bare-{number}", "batch", **template("bare", "500m", "1Gi")))
        found[-1]["metadata"] = {"name": f"bare-{number}", "namespace": "batch", "labels": {"app": "bare"}}
    for number in (0, 3):
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": f"web-{number:02}"}
        spec = {"scaleTargetRef": target, "minReplicas": 4, "maxReplicas": 40}
        found.append(made("HorizontalPodAutoscaler", f"web-{number:02}", "shop", "autoscaling/v2", spec=spec))
    return found


def shrink(cluster: Cluster) -> None:
    """Scale down what was larger once: the nodes it leaves are half empty, some of them empty."""
    sizes = {f"web-{number:02}": 4 + number for number in range(24)} | {"render": 14, "cache": 22}
    places = {"render": "batch", "cache": "data"}
    for name, replicas in sizes.items():
        body = {"spec": {"replicas": replicas}}
        cluster.patch({"kind": "Deployment", "name": name, "namespace": places.get(name, "shop"), "body": body})


@lru_cache(maxsize=1)
def cluster_dump() -> bytes:
    """The dump, in JSON."""
    cluster = Cluster(seed=SEED)
    cluster.create(*objects())
    cluster.settle(MINUTE)
    shrink(cluster)
    cluster.settle(MINUTE)
    wanted = [cluster.kind(name) for name in KINDS]
    items = [stored.document() for kind in wanted for stored in cluster.store.list(kind)]
    return orjson.dumps({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})


def small_dump(*documents: Document) -> bytes:
    """Any objects at rest, as a dump: for answers that are checked by hand."""
    cluster = Cluster(seed=SEED)
    cluster.create(*documents)
    cluster.settle(MINUTE)
    items = [stored.document() for name in KINDS for stored in cluster.store.list(cluster.kind(name))]
    return orjson.dumps({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})


if __name__ == "__main__":
    sys.stdout.buffer.write(cluster_dump())
