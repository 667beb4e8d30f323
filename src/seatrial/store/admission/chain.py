"""The admission steps of each kind, in upstream's order (pkg/kubeapiserver/options/plugins.go)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from seatrial.store.admission import (
    certificates,
    claims,
    ingresses,
    limits,
    namespaces,
    nodes,
    pods,
    priorities,
    quotas,
    runtimes,
    topology,
)
from seatrial.store.admission.namespaced_reader import Reader
from seatrial.store.requests import Request

if TYPE_CHECKING:
    from seatrial.store.store import Store

Step = Callable[[Request, Reader], None]

_ADMITTING: Final[dict[tuple[str, str], tuple[Step, ...]]] = {
    ("", "Pod"): (
        limits.fill_in_defaults,
        pods.set_service_account,
        priorities.set_priority,
        pods.tolerate_outages,
        runtimes.apply_runtime_class,
        topology.copy_topology_labels,
        pods.merge_label_keys,
    ),
    ("", "Node"): (nodes.taint_unready,),
    ("", "PersistentVolume"): (claims.protect_volume,),
    ("", "PersistentVolumeClaim"): (claims.set_default_class, claims.protect_claim),
    ("storage.k8s.io", "VolumeAttributesClass"): (claims.protect_attributes_class,),
    ("certificates.k8s.io", "CertificateSigningRequest"): (certificates.record_requester,),
    ("networking.k8s.io", "Ingress"): (ingresses.set_default_class,),
}
_VALIDATING: Final[dict[tuple[str, str], tuple[Step, ...]]] = {
    ("", "Pod"): (limits.check_pod, runtimes.check_overhead),
    ("", "PersistentVolumeClaim"): (limits.check_claim, claims.check_expansion),
    ("certificates.k8s.io", "CertificateSigningRequest"): (certificates.restrict_subject,),
    ("scheduling.k8s.io", "PriorityClass"): (priorities.check_default,),
}


class StandardAdmission:
    """The admission plugins that kube-apiserver runs by default; given to a Store as its `admission`."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._labels_of_node: dict[str, tuple[int, dict[str, str]]] = {}

    def admit(self, request: Request) -> None:
        """Run the mutating steps: fill in fields, or refuse."""
        namespaces.check_namespace(request, self._reader)
        if request.operation in ("CREATE", "UPDATE"):
            for step in _ADMITTING.get(request.kind.group_kind, ()):
                step(request, self._reader)

    def validate(self, request: Request) -> None:
        """Run the validating steps on the final document."""
        if request.operation in ("CREATE", "UPDATE"):
            for step in _VALIDATING.get(request.kind.group_kind, ()):
                step(request, self._reader)
            quotas.check_quota(request, self._reader)

    def binding_labels(self, store: "Store", node: str) -> dict[str, str]:
        """The labels that a pod takes over from the node it is bound to."""
        kind = store.kinds.named("v1", "Node")
        stored = store.find_current(kind, node, "") if kind is not None else None
        if stored is None:
            return {}
        known = self._labels_of_node.get(node)
        if known is None or known[0] != stored.revision:
            labels = topology.taken_over(stored.document())
            known = self._labels_of_node[node] = (stored.revision, labels)
        return known[1]
