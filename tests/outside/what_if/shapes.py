"""What is drained beside kubectl: each shape has a namespace and nodes of its own, so that all are played at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.outside.what_if.kubelets import ENDS

Document = dict[str, Any]
NODES = 2
TIMEOUT = "60s"
FORCED = ("--force", "--delete-emptydir-data")
SOON = 5
"""Seconds that pods tolerate a node that does not answer."""


@dataclass(frozen=True)
class Shape:
    """Objects on the first node of a shape; the other nodes are free when the question is asked."""

    name: str
    objects: Sequence[Document]
    flags: Sequence[str] = ()
    question: str = "drain"
    unready: int = 0
    """So many pods of the first workload run and are not ready."""
    is_held: bool = False
    """Whether a budget holds a pod for ever, so that the drain needs a timeout."""
    are_started: bool = True
    """Whether the containers of the pods are created."""
    options: Sequence[str] = ()
    """Of `seatrial what-if` alone."""

    @property
    def nodes(self) -> list[str]:
        return [f"{self.name}-{number}" for number in range(NODES)]

    @property
    def arguments(self) -> list[str]:
        timeout = ["--timeout", TIMEOUT] if self.is_held else []
        return [self.nodes[0], *self.flags, *timeout]


def node(shape: str, name: str) -> Document:
    resources = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    conditions = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    labels = {"shape": shape, "kubernetes.io/hostname": name}
    status = {"allocatable": resources, "capacity": resources, "conditions": conditions}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def made(kind: str, name: str, api: str = "v1", **more: Any) -> Document:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **more.pop("metadata", {})}, **more}


def pods(app: str, **spec: Any) -> Document:
    requests = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    labels = {"app": app, **spec.pop("labels", {})}
    container = {"name": "main", "image": f"{app}:1", "resources": requests}
    tolerations = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SOON}
        for key in ("unreachable", "not-ready")
    ]
    return {"metadata": {"labels": labels}, "spec": {"containers": [container], "tolerations": tolerations, **spec}}


def workload(kind: str, name: str, replicas: int | None = None, **template: Any) -> Document:
    spec: Document = {"selector": {"matchLabels": {"app": name}}, "template": pods(name, **template)}
    spec |= {"replicas": replicas} if replicas is not None else {}
    spec |= {"serviceName": name} if kind == "StatefulSet" else {}
    return made(kind, name, "apps/v1", spec=spec)


def job(name: str, **spec: Any) -> Document:
    template = pods(name, restartPolicy="Never")
    return made("Job", name, "batch/v1", spec={"parallelism": 2, "completions": 2, **spec, "template": template})


def pod(name: str, owner: Document | None = None, annotations: dict[str, str] | None = None, **spec: Any) -> Document:
    made_like = pods(name, **spec)
    metadata = {**made_like["metadata"], "name": name, "annotations": annotations or {}}
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": made_like["spec"]}


def budget(app: str, name: str = "", **spec: Any) -> Document:
    selector = {"matchLabels": {"app": app}}
    return made("PodDisruptionBudget", name or app, "policy/v1", spec={"selector": selector, **spec})


def owned(kind: str, name: str, **more: Any) -> Document:
    """A reference whose uid is filled in when the owner is there."""
    return {"apiVersion": "v1", "kind": kind, "name": name, "uid": "", **more}


LOCAL: Document = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
MIRROR = {"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": "x"}
EVERYTHING = (
    workload("Deployment", "web", 3), workload("StatefulSet", "db", 2), workload("DaemonSet", "agent"),
    pod("alone"), job("work"), budget("web", minAvailable=3),
)  # fmt: skip

DRAINS = (
    Shape("one", (workload("Deployment", "web", 3), budget("web", maxUnavailable=1))),
    Shape("none", (workload("Deployment", "web", 2), budget("web", minAvailable=2)), is_held=True),
    Shape("zero", (workload("Deployment", "web", 2), budget("web", maxUnavailable=0)), is_held=True),
    Shape("percent", (workload("Deployment", "web", 4), budget("web", minAvailable="50%"))),
    Shape("percent-up", (workload("Deployment", "web", 3), budget("web", maxUnavailable="34%"))),
    Shape("unready-held", (workload("Deployment", "web", 3), budget("web", minAvailable=3)), unready=1, is_held=True),
    Shape("unready-goes", (workload("Deployment", "web", 3), budget("web", minAvailable=2)), unready=1),
    Shape("unready-always", (
        workload("Deployment", "web", 3), budget("web", minAvailable=3, unhealthyPodEvictionPolicy="AlwaysAllow"),
    ), unready=1, is_held=True),
    Shape("unready-only-if", (
        workload("Deployment", "web", 3), budget("web", minAvailable=3, unhealthyPodEvictionPolicy="IfHealthyBudget"),
    ), unready=2, is_held=True),
    Shape("two-budgets", (workload("Deployment", "web", 2), budget("web", maxUnavailable=1),
                          budget("web", "again", maxUnavailable=1))),
    Shape("no-pods", (workload("Deployment", "web", 1), budget("other", minAvailable=1))),
    Shape("stateful", (workload("StatefulSet", "db", 3), budget("db", maxUnavailable=1))),
    Shape("bare", (workload("Deployment", "web", 1), pod("alone"))),
    Shape("bare-forced", (workload("Deployment", "web", 1), pod("alone"), pod("guarded"),
                          budget("guarded", minAvailable=1)), ("--force",), is_held=True),
    Shape("local", (workload("Deployment", "web", 2, **LOCAL), workload("Deployment", "plain", 1))),
    Shape("local-deleted", (workload("Deployment", "web", 2, **LOCAL),), ("--delete-emptydir-data",)),
    Shape("both-missing", (pod("alone"), pod("scratch", **LOCAL), workload("Deployment", "web", 1, **LOCAL))),
    Shape("daemons", (workload("DaemonSet", "agent"), workload("DaemonSet", "local", **LOCAL),
                      workload("Deployment", "web", 2), pod("static", annotations=MIRROR))),
    Shape("unmanaged", (made("ConfigMap", "owner"), pod("kept", owned("ConfigMap", "owner")))),
    Shape("managed-by-other", (made("ConfigMap", "owner"),
                               pod("made", owned("ConfigMap", "owner", controller=True)))),
    Shape("over", (pod("over", labels={ENDS: "y"}, restartPolicy="Never", **LOCAL), workload("Deployment", "web", 1))),
    Shape("unstarted", (workload("Deployment", "web", 2), budget("web", minAvailable=2)), are_started=False),
    Shape("job", (job("work"),)),
    Shape("job-held", (job("work"), budget("work", minAvailable=2)), is_held=True),
)  # fmt: skip
OUTAGES = (
    Shape("silent", EVERYTHING, question="outage"),
    Shape("vanished", EVERYTHING, ("--vanish",), question="outage"),
)
UPGRADES = (
    Shape("upgrade", (workload("Deployment", "web", 3, **LOCAL), workload("StatefulSet", "db", 2),
                      workload("DaemonSet", "agent"), pod("alone"), budget("web", maxUnavailable=1)),
          question="upgrade", options=("--node-start", "1s")),
    Shape("upgrade-held", (workload("Deployment", "web", 2), workload("DaemonSet", "agent"),
                           budget("web", minAvailable=2)), question="upgrade", is_held=True,
          options=("--node-start", "1s")),
)  # fmt: skip
ALL = (*DRAINS, *OUTAGES, *UPGRADES)
