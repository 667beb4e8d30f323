"""The nodes of a simulated cluster: a cordoned control plane, and fake workers as the configuration counts them.

Nodes are born Ready; KWOK's stages keep them so, and the node controller taints those that stop being Ready.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from seatrial.model.documents import Document
from seatrial.scheduler.versions import DEFAULT
from seatrial.vcsim.kinds import NodeSpec, Resources, SimulatorCluster
from seatrial.vcsim.tables import read_nodes

LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""The letters of names that Kubernetes generates."""
SUFFIX: Final = 5
MOST_PODS: Final = "110"
"""Pods of a node whose table says nothing of them."""
CONTROL_PLANE: Final[Resources] = {"cpu": "8", "memory": "16Gi", "pods": "110"}
NOTHING: Final[Resources] = {"cpu": "0", "memory": "0", "pods": "0"}
"""All of the control plane is reserved, so that schedulers count only the nodes that were asked for."""
_ROLE: Final = "node-role.kubernetes.io/"
_TAINT: Final = {"key": f"{_ROLE}master", "effect": "NoSchedule"}
_CORDON: Final = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_CONDITIONS: Final = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def cluster_nodes(cluster: SimulatorCluster, now: str) -> list[Document]:
    """All nodes of a cluster; one configuration always gives the same names."""
    name = f"{cluster.metadata.name}-control-plane"
    plane = _node(name, "master", CONTROL_PLANE, NOTHING, now)
    plane["spec"] = {"unschedulable": True, "taints": [_TAINT, _CORDON]}
    names = _names(cluster.metadata.name)
    workers = [
        _node(next(names).format(group.name), "worker", group.capacity, allocatable(group), now)
        for group in cluster.spec.nodes
        for _ in range(group.count)
    ]
    return [plane, *workers]


def table_nodes(path: Path, now: str) -> list[Document]:
    """The nodes of a CSV file; a group of one keeps its name, others are numbered."""
    found = []
    for group, labels in read_nodes(path):
        names = [group.name] if group.count == 1 else [f"{group.name}-{number}" for number in range(group.count)]
        for name in names:
            amounts = {"pods": MOST_PODS, **group.capacity}
            node = _node(name, "worker", amounts, amounts, now)
            node["metadata"]["labels"] |= labels
            found.append(node)
    return found


def allocatable(group: NodeSpec) -> Resources:
    """What pods may use of a node."""
    return group.capacity if group.allocatable is None else group.allocatable


def _names(cluster: str) -> Iterator[str]:
    dice = random.Random(cluster)
    seen: set[str] = set()
    while True:
        suffix = "".join(dice.choices(LETTERS, k=SUFFIX))
        if suffix not in seen:
            seen.add(suffix)
            yield f"fake-{{}}-{suffix}"


def _node(name: str, role: str, capacity: Resources, free: Resources, now: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                f"{_ROLE}{role}": "",
            },
        },
        "spec": {},
        "status": {
            "capacity": _written(capacity),
            "allocatable": _written(free),
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "reason": reason,
                    "message": message,
                    "lastHeartbeatTime": now,
                    "lastTransitionTime": now,
                }
                for kind, status, reason, message in _CONDITIONS
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": "",
                "containerRuntimeVersion": "",
                "kernelVersion": "",
                "kubeProxyVersion": "",
                "kubeletVersion": DEFAULT.release,
                "machineID": "",
                "operatingSystem": "linux",
                "osImage": "",
                "systemUUID": "",
            },
        },
    }


def _written(amounts: Resources) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}
