"""Takes the nodes from a snapshot's pods, so that they are all scheduled again.

Pods of DaemonSets and mirror pods always stay: no scheduling decision put them where they are. Pods that are over or
being deleted stay, too. A claim keeps its volume, and with it the nodes where the volume can be used.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final, Literal

from seatrial.model.documents import Document
from seatrial.store.snapshots.owners import controller_of

Unbind = Literal["all", "workloads", "none"]
UnbindOrder = Literal["created", "priority", "random"]
UNBIND_NONE: Final[Unbind] = "none"
MIRROR = "kubernetes.io/config.mirror"
SYSTEM = "kube-system"
OVER = ("Succeeded", "Failed")


def unbind(documents: Sequence[Document], which: Unbind) -> list[Document]:
    """The objects of a snapshot, its pods without their nodes.

    `workloads` are the pods with a controller outside kube-system; `all` adds those without one and in kube-system.
    """
    if which == UNBIND_NONE:
        return list(documents)
    freed = {_key(pod) for pod in documents if _is_unbound(pod, which)}
    return [
        _without_node(document) if document["kind"] == "Pod" and _key(document) in freed else _released(document, freed)
        for document in documents
    ]


def arrival_order(documents: Iterable[Document], order: UnbindOrder, seed: int = 0) -> dict[str, int]:
    """The place of every pending pod, by namespace/name, in the order in which the scheduler tries them first."""
    pending = [pod for pod in documents if pod["kind"] == "Pod" and _is_pending(pod)]

    def created(pod: Document) -> tuple[str, str]:
        return str(pod["metadata"].get("creationTimestamp", "")), _key(pod)

    def by_priority(pod: Document) -> tuple[int, str, str]:
        priority = pod["spec"].get("priority")
        return -priority if isinstance(priority, int) else 0, *created(pod)

    def at_random(pod: Document) -> str:
        return sha256(f"{seed}/{_key(pod)}".encode()).hexdigest()

    keys: Mapping[UnbindOrder, object] = {"created": created, "priority": by_priority, "random": at_random}
    pending.sort(key=keys[order])  # type: ignore[arg-type]
    return {_key(pod): place for place, pod in enumerate(pending)}


def _is_unbound(pod: Document, which: Unbind) -> bool:
    if pod["kind"] != "Pod" or not isinstance(pod.get("spec"), dict) or not pod["spec"].get("nodeName"):
        return False
    metadata, owner = pod["metadata"], controller_of(pod)
    if MIRROR in (metadata.get("annotations") or {}) or (owner or {}).get("kind") == "DaemonSet":
        return False
    if (pod.get("status") or {}).get("phase") in OVER or metadata.get("deletionTimestamp"):
        return False
    return which == "all" or (owner is not None and metadata.get("namespace") != SYSTEM)


def _is_pending(pod: Document) -> bool:
    if not isinstance(pod.get("spec"), dict) or pod["spec"].get("nodeName"):
        return False
    return (pod.get("status") or {}).get("phase") not in OVER


def _without_node(pod: Document) -> Document:
    """The pod as it was before it was bound."""
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    status = pod.get("status") or {}
    kept = {key: status[key] for key in ("qosClass", "resourceClaimStatuses") if key in status}
    return {**pod, "spec": spec, "status": {"phase": "Pending", **kept}}


def _released(document: Document, freed: set[str]) -> Document:
    """A ResourceClaim without the pods that lost their nodes; without its devices if no pod is left."""
    status = document.get("status")
    if document["kind"] != "ResourceClaim" or not isinstance(status, dict) or not status.get("reservedFor"):
        return document
    namespace = document["metadata"].get("namespace", "default")
    users = [user for user in status["reservedFor"] if f"{namespace}/{user.get('name')}" not in freed]
    if users:
        return {**document, "status": {**status, "reservedFor": users}}
    kept = {key: value for key, value in status.items() if key not in ("reservedFor", "allocation", "devices")}
    return {**document, "status": kept}


def _key(pod: Document) -> str:
    return f"{pod['metadata'].get('namespace', 'default')}/{pod['metadata']['name']}"
