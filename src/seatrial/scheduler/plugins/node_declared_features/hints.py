"""Hints of NodeDeclaredFeatures. Upstream: plugins/nodedeclaredfeatures/nodedeclaredfeatures.go (v1.36.3)."""

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Action, Plugin, Requeue


def features_declared(_: Plugin, __: PodInfo, old: NodeInfo | None, new: NodeInfo) -> bool:
    return old is None or old.declared_features != new.declared_features


def features_no_longer_needed(_: Plugin, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> bool:
    return new.uid == pod.uid and (old is None or _features(old.spec) != _features(new.spec))


def _features(spec: Document) -> tuple[bool, bool]:
    """Whether the pod restarts all containers, and whether it has user namespaces in the host's network."""
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    rules = (rule for container in containers for rule in container.get("restartPolicyRules") or ())
    return any(rule.get("action") == "RestartAllContainers" for rule in rules), bool(
        spec.get("hostNetwork") and spec.get("hostUsers") is False
    )


HINTS: tuple[Requeue, ...] = (
    Requeue("Node", Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE, features_declared),
    Requeue("Pod", Action.UPDATE, features_no_longer_needed),
)
