"""The admission steps of each kind, in upstream's order (pkg/kubeapiserver/options/plugins.go)."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from seatrial.model.kinds import Kind
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


_PLUGINS: Final[dict[str, tuple[Step, ...]]] = {
    "CertificateSubjectRestriction": (certificates.restrict_subject,),
    "DefaultIngressClass": (ingresses.set_default_class,),
    "DefaultStorageClass": (claims.set_default_class,),
    "DefaultTolerationSeconds": (pods.tolerate_outages,),
    "LimitRanger": (limits.fill_in_defaults, limits.check_pod, limits.check_claim),
    "NamespaceLifecycle": (namespaces.check_namespace,),
    "PersistentVolumeClaimResize": (claims.check_expansion,),
    "PodTopologyLabels": (topology.copy_topology_labels,),
    "Priority": (priorities.set_priority, priorities.check_default),
    "ResourceQuota": (quotas.check_quota,),
    "RuntimeClass": (runtimes.apply_runtime_class, runtimes.check_overhead),
    "ServiceAccount": (pods.set_service_account,),
    "StorageObjectInUseProtection": (
        claims.protect_volume,
        claims.protect_claim,
        claims.protect_attributes_class,
    ),
    "TaintNodesByCondition": (nodes.taint_unready,),
}
PLUGINS: Final = frozenset(_PLUGINS)
"""The admission plugins here that can be disabled, by upstream's name."""


_READ: Final[dict[tuple[str, str], tuple[tuple[str, str], ...]]] = {
    ("", "Pod"): (
        ("", "Namespace"),
        ("", "LimitRange"),
        ("", "ServiceAccount"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("node.k8s.io", "RuntimeClass"),
    ),
    ("", "Node"): (),
    ("", "Event"): (("", "Namespace"),),
    ("coordination.k8s.io", "Lease"): (("", "Namespace"),),
}
"""By kind: the other kinds that its steps read for a new object; a pod on a node also reads the Node."""
_READ_FOR_DEFINED: Final = (("", "Namespace"), ("apiextensions.k8s.io", "CustomResourceDefinition"))
"""The same for an object of a defined kind, which its definition prunes, defaults and validates."""


class StandardAdmission:
    """The admission plugins that kube-apiserver runs by default; given to a Store as its `admission`."""

    def __init__(self, disabled: Iterable[str] = ()) -> None:
        off = {step for plugin in disabled for step in _PLUGINS.get(plugin, ())}
        self._admitting = _without(_ADMITTING, off)
        self._validating = _without(_VALIDATING, off)
        self._checks_namespaces = namespaces.check_namespace not in off
        self._checks_quotas = quotas.check_quota not in off
        self._reader = Reader()
        self._labels_of_node: dict[str, tuple[int, dict[str, str]]] = {}

    def admit(self, request: Request) -> None:
        """Run the mutating steps: fill in fields, or refuse."""
        if self._checks_namespaces:
            namespaces.check_namespace(request, self._reader)
        if request.operation in ("CREATE", "UPDATE"):
            for step in self._admitting.get(request.kind.group_kind, ()):
                step(request, self._reader)

    def validate(self, request: Request) -> None:
        """Run the validating steps on the final document."""
        if request.operation in ("CREATE", "UPDATE"):
            for step in self._validating.get(request.kind.group_kind, ()):
                step(request, self._reader)
            if self._checks_quotas:
                quotas.check_quota(request, self._reader)

    def inputs(self, store: "Store", kind: Kind, namespace: str) -> tuple[int, ...] | None:
        """The numbers of writes to the kinds that are read; None where a quota is charged for each object."""
        read = _READ_FOR_DEFINED if kind.custom else _READ.get(kind.group_kind)
        if read is None or (self._checks_quotas and quotas.is_charged_in(store, kind, namespace)):
            return None
        return store.writes_of(read)

    def binding_labels(self, store: "Store", node: str) -> dict[str, str]:
        """The labels that a pod takes over from the node it is bound to."""
        stored = store.find_node(node)
        if stored is None:
            return {}
        known = self._labels_of_node.get(node)
        if known is None or known[0] != stored.revision:
            known = self._labels_of_node[node] = (stored.revision, topology.taken_over_from(stored))
        return known[1]


def _without(steps: dict[tuple[str, str], tuple[Step, ...]], off: set[Step]) -> dict[tuple[str, str], tuple[Step, ...]]:
    """The steps of each kind but for those of disabled plugins."""
    return {kind: tuple(step for step in own if step not in off) for kind, own in steps.items()}
