"""Which pods of a node a drain evicts, leaves, or cannot delete.

Upstream: staging/src/k8s.io/kubectl/pkg/drain/filters.go (v1.36), with --ignore-daemonsets.
"""

from collections.abc import Callable, Iterable

from seatrial.controllers.framework.pod_control import controller_of
from seatrial.model.documents import Document

MIRROR = "kubernetes.io/config.mirror"
OVER = ("Succeeded", "Failed")
LOCAL_STORAGE = "Pods with local storage (use --delete-emptydir-data to override)"
UNMANAGED = "cannot delete Pods that declare no controller (use --force to override)"

HasDaemonSet = Callable[[str, str], bool]


def pods_to_evict(
    pods: Iterable[Document], has_daemon_set: HasDaemonSet, *, force: bool, delete_emptydir_data: bool
) -> tuple[list[Document], list[str]]:
    """The pods to evict, and kubectl's errors; where there is an error, kubectl evicts nothing."""
    evicted, failed = [], dict[str, list[str]]()
    for pod in pods:
        error = _error_of(pod, has_daemon_set, force=force, delete_emptydir_data=delete_emptydir_data)
        if error is None:
            evicted.append(pod)
        elif error:
            meta = pod["metadata"]
            failed.setdefault(error, []).append(f"{meta['namespace']}/{meta['name']}")
    return evicted, [_sentence(error, names) for error, names in failed.items()]


def _error_of(pod: Document, has_daemon_set: HasDaemonSet, *, force: bool, delete_emptydir_data: bool) -> str | None:
    """None: the pod is evicted; empty: it is left where it is; otherwise why it cannot be deleted."""
    meta, is_over = pod["metadata"], (pod.get("status") or {}).get("phase") in OVER
    owner = controller_of(pod)
    if owner is not None and (owner["kind"], owner["apiVersion"]) == ("DaemonSet", "apps/v1") and not is_over:
        if has_daemon_set(meta["namespace"], owner["name"]):
            return ""
        if not force:
            return f'daemonsets.apps "{owner["name"]}" not found'
    if MIRROR in (meta.get("annotations") or {}):
        return ""
    if is_over:
        return None
    has_local_storage = any(volume.get("emptyDir") is not None for volume in pod["spec"].get("volumes") or ())
    if has_local_storage and not delete_emptydir_data:
        return LOCAL_STORAGE
    return UNMANAGED if owner is None and not force else None


def _sentence(error: str, pods: list[str]) -> str:
    text = error if error.lower().startswith("cannot delete") else f"cannot delete {error}"
    return f"{text}: {', '.join(pods)}"
