"""Twenty clusters for the built-in cluster-autoscaler and the real one: groups of nodes, and workloads that need them.

No workload fills a node to the last tenth of a core: a template of the kwok provider has a kube-proxy of 100m.
"""

from dataclasses import dataclass, field
from typing import Any

NODE_GROUP = "seatrial.dev/node-group"
ZONE = "topology.kubernetes.io/zone"


@dataclass(frozen=True)
class Group:
    """A group of equal nodes."""

    cpu: str
    memory: str = "32Gi"
    most: int = 10
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[dict[str, str], ...] = ()


@dataclass(frozen=True)
class Work:
    """A Deployment, the replicas that it has first, and those that it has later."""

    replicas: int
    cpu: str
    memory: str = "1Gi"
    spec: dict[str, Any] = field(default_factory=dict)
    later: int | None = None


@dataclass(frozen=True)
class Shape:
    """One case."""

    groups: dict[str, Group]
    work: dict[str, Work]
    expander: str = "least-waste"


def _selected(**labels: str) -> dict[str, Any]:
    return {"nodeSelector": labels}


def _apart(name: str, key: str = "kubernetes.io/hostname") -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": name}}, "topologyKey": key}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def _spread(name: str, skew: int, key: str) -> dict[str, Any]:
    selector = {"matchLabels": {"app": name}}
    constraint = {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
    }
    return {"topologySpreadConstraints": [constraint]}


_TAINT = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
_TOLERATION = {"key": "gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
_SMALL, _LARGE = Group("4", "16Gi"), Group("16", "64Gi")

SHAPES = {
    "one group": Shape({"a": _SMALL}, {"w": Work(7, "1200m")}),
    "one pod": Shape({"a": _SMALL}, {"w": Work(1, "200m")}),
    "up to the maximum": Shape({"a": Group("4", "16Gi", most=2)}, {"w": Work(9, "1500m")}),
    "nothing fits": Shape({"a": _SMALL}, {"w": Work(2, "6")}),
    "memory decides": Shape({"a": _SMALL}, {"w": Work(5, "100m", "7Gi")}),
    "two sizes of pods": Shape({"a": _SMALL}, {"w": Work(4, "2500m"), "v": Work(6, "600m")}),
    "less waste in small nodes": Shape({"a": _SMALL, "b": _LARGE}, {"w": Work(3, "3500m", "13Gi")}),
    "less waste in large nodes": Shape({"a": Group("3", "8Gi"), "b": _LARGE}, {"w": Work(6, "2200m", "9Gi")}),
    "more pods in large nodes": Shape(
        {"a": Group("2", "8Gi", most=2), "b": _LARGE}, {"w": Work(9, "1500m", "3Gi")}, expander="most-pods"
    ),
    "a second group when the first is full": Shape(
        {"a": Group("4", "16Gi", most=1), "b": Group("6", "40Gi")}, {"w": Work(6, "1700m", "7Gi")}
    ),
    "selectors": Shape(
        {"a": Group("4", labels={"disk": "ssd"}), "b": Group("4", labels={"disk": "hdd"})},
        {"w": Work(3, "1500m", spec=_selected(disk="ssd")), "v": Work(5, "1500m", spec=_selected(disk="hdd"))},
    ),
    "taints": Shape(
        {"a": _SMALL, "b": Group("4", "16Gi", taints=(_TAINT,), labels={"gpu": "true"})},
        {"w": Work(3, "1500m", spec={"tolerations": [_TOLERATION], **_selected(gpu="true")}), "v": Work(3, "1500m")},
    ),
    "one pod on each node": Shape({"a": _SMALL}, {"w": Work(4, "300m", spec=_apart("w"))}),
    "one pod on each node beside others": Shape(
        {"a": _SMALL}, {"w": Work(3, "300m", spec=_apart("w")), "v": Work(8, "1100m")}
    ),
    "spread over nodes": Shape({"a": _SMALL}, {"w": Work(5, "300m", spec=_spread("w", 1, "kubernetes.io/hostname"))}),
    "zones": Shape(
        {"a": Group("4", labels={ZONE: "a"}), "b": Group("4", labels={ZONE: "b"})},
        {"w": Work(5, "1500m", spec=_selected(**{ZONE: "a"})), "v": Work(2, "1500m", spec=_selected(**{ZONE: "b"}))},
    ),
    "all nodes empty later": Shape({"a": _SMALL}, {"w": Work(7, "1200m", later=0)}),
    "half of the pods later": Shape({"a": _SMALL}, {"w": Work(8, "1200m", later=2)}),
    "another workload holds nodes": Shape({"a": _SMALL}, {"w": Work(6, "1700m", later=0), "v": Work(2, "1700m")}),
    "two groups shrink": Shape(
        {"a": Group("4", labels={"disk": "ssd"}), "b": Group("4", labels={"disk": "hdd"})},
        {
            "w": Work(6, "1500m", spec=_selected(disk="ssd"), later=1),
            "v": Work(4, "1500m", spec=_selected(disk="hdd"), later=0),
        },
    ),
}
