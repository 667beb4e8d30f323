"""What is compared of a cluster: every object, without what differs from run to run.

Times become `<time>`, uids the kind and name they belong to, hashes of templates `<hash N>` in the order of their
revisions, generated suffixes `*`. Objects that are then equal are told apart by their number only.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

Document = dict[str, Any]

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SUFFIX = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}(?=$|\" is forbidden)")
LEFT_OUT = {
    "CustomResourceDefinition",
    "Event",
    "Lease",
    "APIService",
    "CSINode",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "Scenario",
    "ServiceCIDR",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
}
"""Kinds that no recorded controller writes, most of them of the bootstrap objects of a server."""
BOOTSTRAP = {
    ("Namespace", "default"),
    ("Service", "kubernetes"),
    ("Endpoints", "kubernetes"),
    ("EndpointSlice", "kubernetes"),
    ("ConfigMap", "kube-root-ca.crt"),
}
SCHEDULED = "PodScheduled"
"""The condition of a pod that no kubelet sets."""
BY_KUBELETS = ("hostIP", "hostIPs", "podIP", "podIPs", "observedGeneration")
"""Fields of a pod's status that a live cluster has and a run has not."""
SYSTEM = ("kube-system", "kube-public", "kube-node-lease")
HASH_LABELS = ("pod-template-hash", "controller-revision-hash", "controller.kubernetes.io/hash")
FROM_RUN_TO_RUN = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink")


def normalised(objects: Iterable[Document]) -> list[Document]:
    """The objects as they are compared, in a fixed order."""
    kept = [item for item in objects if _is_compared(item)]
    names = _new_names(kept)
    shown = [_plain(_without_chance(item), names) for item in kept]
    return sorted(
        shown, key=lambda item: json.dumps([item["kind"], item["metadata"].get("name"), item], sort_keys=True)
    )


def _is_compared(item: Document) -> bool:
    meta = item["metadata"]
    if item["kind"] in LEFT_OUT or meta.get("namespace") in SYSTEM or meta["name"] in SYSTEM:
        return False
    if item["kind"] == "PriorityClass" and meta["name"].startswith("system-"):
        return False
    return (item["kind"], meta["name"]) not in BOOTSTRAP


def _new_names(objects: list[Document]) -> dict[str, str]:
    """What uids, hashes and generated names are replaced by, longest first."""
    hashes: dict[str, str] = {}
    for item in sorted(objects, key=_revision):
        labels = item["metadata"].get("labels", {})
        for label in HASH_LABELS:
            if label in labels and item["kind"] in ("ReplicaSet", "ControllerRevision"):
                hashes.setdefault(labels[label], f"<hash {_revision(item)}>")
    names = {}
    for item in objects:
        meta = item["metadata"]
        stem = meta.get("generateName")
        if stem and SUFFIX.fullmatch("-" + meta["name"].removeprefix(stem)):
            names[meta["name"]] = stem + "*"
        names[meta["uid"]] = f"<uid of {item['kind']}>"
    return dict(sorted((names | hashes).items(), key=lambda pair: -len(pair[0])))


def _revision(item: Document) -> int:
    if item["kind"] == "ControllerRevision":
        return int(item.get("revision", 0))
    return int(item["metadata"].get("annotations", {}).get("deployment.kubernetes.io/revision", 0))


def _without_chance(item: Document) -> Document:
    meta = {key: value for key, value in item["metadata"].items() if key not in FROM_RUN_TO_RUN}
    shown = item | {"metadata": meta}
    owners = {owner["kind"] for owner in meta.get("ownerReferences", [])}
    if item["kind"] == "Pod" and "DaemonSet" not in owners and item["spec"].get("nodeName"):
        shown["spec"] = item["spec"] | {"nodeName": "<node>"}
    if item["kind"] == "Pod":
        shown["status"] = _without_kubelet(item.get("status", {}))
    if item["kind"] == "ReplicaSet":
        _hide_generation(shown)
    return shown


def _without_kubelet(status: Document) -> Document:
    kept = {key: value for key, value in status.items() if key not in BY_KUBELETS}
    if "conditions" in kept:
        kept["conditions"] = [
            {key: value for key, value in condition.items() if key not in BY_KUBELETS or condition["type"] == SCHEDULED}
            for condition in kept["conditions"]
        ]
    return kept


def _hide_generation(replica_set: Document) -> None:
    """How many steps a rollout takes depends on how fast its pods come up."""
    generation = replica_set["metadata"].pop("generation", None)
    status = dict(replica_set.get("status", {}))
    if status.get("observedGeneration") == generation:
        status["observedGeneration"] = "<generation>"
    replica_set["status"] = status


def _plain(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            _text(key, names): _plain(item, names)
            for key, item in sorted(value.items())
            if key not in ("resourceVersion", "deletionGracePeriodSeconds") or not isinstance(item, str | int)
        }
    if isinstance(value, list):
        return [_plain(item, names) for item in value]
    return _text(value, names) if isinstance(value, str) else value


def _text(text: str, names: dict[str, str]) -> str:
    for name, shown in names.items():
        if name in text:
            text = text.replace(name, shown)
    return SUFFIX.sub("-*", UID.sub("<uid>", TIME.sub("<time>", text)))
