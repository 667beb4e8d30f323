"""Pools of nodes, by the labels that node groups of the usual providers have."""

from collections.abc import Mapping

POOL_LABELS = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "node.kubernetes.io/instance-type",
)
"""The labels that name a node's pool; the first one that a node has counts."""
NO_POOL = ""


def pool_of(labels: Mapping[str, str], label: str = "") -> str:
    """The pool of a node, by `label` or else the usual labels; empty where it has none of them."""
    if label:
        return labels.get(label, NO_POOL)
    return next((labels[each] for each in POOL_LABELS if each in labels), NO_POOL)
