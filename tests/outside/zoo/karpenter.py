"""Karpenter with its kwok provider: the objects that its stories need."""

from typing import Any

GROUP = "karpenter.kwok.sh"
ENVIRONMENT = {
    "KUBERNETES_MIN_VERSION": "1.19.0-0",
    "SYSTEM_NAMESPACE": "kube-system",
    "DISABLE_LEADER_ELECTION": "true",
    "METRICS_PORT": "0",
    "HEALTH_PROBE_PORT": "0",
    "BATCH_IDLE_DURATION": "1s",
}
"""What its chart sets for the container, without ports."""


def node_class() -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": "default"}}


def node_pool(consolidate_after: str = "1s", **limits: str) -> dict[str, Any]:
    """A NodePool that takes any type of the kwok provider on demand."""
    requirements = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
    ]
    reference = {"group": GROUP, "kind": "KWOKNodeClass", "name": "default"}
    spec = {"requirements": requirements, "nodeClassRef": reference, "expireAfter": "Never"}
    disruption = {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": consolidate_after}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {"template": {"spec": spec}, "disruption": disruption, "limits": limits or {"cpu": "1000"}},
    }
