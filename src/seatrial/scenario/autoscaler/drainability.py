"""Which pods have to move before their node is removed, and which keep it from being removed.

Upstream: simulator/drainability/rules (rules.go has their order), utils/drain.
"""

from collections.abc import Callable, Mapping

from seatrial.controllers.framework import controller_of
from seatrial.model.documents import Document
from seatrial.model.errors import StatusError
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.times import parse_time
from seatrial.scenario.autoscaler.flags import Flags
from seatrial.store import Store
from seatrial.store.options import DeleteOptions

SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
MIRROR = "kubernetes.io/config.mirror"
SYSTEM = "kube-system"
OVER = ("Succeeded", "Failed")
REPLICATED = ("ReplicationController", "Job", "ReplicaSet", "StatefulSet")
DRY_RUN = DeleteOptions(dry_run=True)


def moves(pod: Document) -> bool:
    """Whether a pod has to be evicted: pods of DaemonSets, mirror pods and pods that are over go with their node."""
    owner = controller_of(pod)
    if owner is not None and owner["kind"] == "DaemonSet":
        return False
    return MIRROR not in _annotations(pod) and (pod.get("status") or {}).get("phase") not in OVER


class Drainability:
    """Judges the pods that have to move."""

    def __init__(self, store: Store, flags: Flags, writer: str, wake_at: Callable[[int], None]) -> None:
        """`wake_at` is called with the instant at which a pod no longer keeps its node."""
        self._store, self._flags, self._writer, self._wake_at = store, flags, writer, wake_at
        self._budgets = store.kinds.served("policy/v1", "PodDisruptionBudget")

    def is_blocked(self, pod: Document) -> bool:
        """Whether a pod keeps its node: the first rule that has something to say decides."""
        flags, owner, safe = self._flags, controller_of(pod), _annotations(pod).get(SAFE_TO_EVICT)
        if flags.skip_nodes_with_custom_controller_pods and owner is not None and self._is_orphan(pod, owner):
            return True
        if safe == "true":
            return not self._may_evict(pod)
        if owner is None or (flags.skip_nodes_with_custom_controller_pods and owner["kind"] not in REPLICATED):
            return True
        if flags.skip_nodes_with_system_pods and self._is_unbudgeted_system_pod(pod):
            return self._is_young(pod) or not self._may_evict(pod)
        if safe == "false" or (flags.skip_nodes_with_local_storage and _has_local_storage(pod)):
            return True
        return not self._may_evict(pod)

    def _is_orphan(self, pod: Document, owner: Document) -> bool:
        """Whether the controller of a pod is gone, of the kinds that upstream looks up."""
        kind = self._store.kinds.named(owner.get("apiVersion", ""), owner["kind"])
        if owner["kind"] not in REPLICATED or kind is None:
            return False
        return self._store.find(kind, owner["name"], pod["metadata"]["namespace"]) is None

    def _is_unbudgeted_system_pod(self, pod: Document) -> bool:
        namespace, labels = pod["metadata"]["namespace"], pod["metadata"].get("labels") or {}
        if namespace != SYSTEM:
            return False
        selectors = [stored.document()["spec"].get("selector") for stored in self._store.list(self._budgets, namespace)]
        return not any(each is not None and LabelSelector.from_document(each).matches(labels) for each in selectors)

    def _is_young(self, pod: Document) -> bool:
        """Whether a pod of kube-system without a budget still keeps its node."""
        until = parse_time(pod["metadata"]["creationTimestamp"]) + self._flags.system_pod_timeout
        if self._store.clock.now() > until:
            return False
        self._wake_at(until + 1)
        return True

    def _may_evict(self, pod: Document) -> bool:
        try:
            namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
            self._store.evict(namespace, name, writer=self._writer, options=DRY_RUN)
        except StatusError:
            return False
        return True


def _has_local_storage(pod: Document) -> bool:
    safe = _annotations(pod).get(SAFE_VOLUMES, "").split(",")
    return any(
        ("hostPath" in each or ("emptyDir" in each and (each["emptyDir"] or {}).get("medium") != "Memory"))
        and each["name"] not in safe
        for each in pod["spec"].get("volumes") or ()
    )


def _annotations(pod: Document) -> Mapping[str, str]:
    annotations: Mapping[str, str] = pod["metadata"].get("annotations") or {}
    return annotations
