"""Fields that a request cannot own because the kind's strategy throws them away (upstream's GetResetFields).

A write to the main resource never sets status, one to the status never sets spec; a few kinds protect more.
"""

from typing import Final

from seatrial.model.apply.comparing import Filter
from seatrial.model.apply.fieldsets import ANY, FieldSet, field, from_paths
from seatrial.model.kinds import Kind

_STATUS_KEEPS_METADATA: Final = frozenset(
    {
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        ("", "PersistentVolumeClaim"),
        ("", "ReplicationController"),
        ("", "ResourceQuota"),
        ("", "Service"),
        ("apps", "DaemonSet"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("batch", "CronJob"),
        ("batch", "Job"),
        ("networking.k8s.io", "Ingress"),
        ("policy", "PodDisruptionBudget"),
        ("certificates.k8s.io", "PodCertificateRequest"),
    }
)
_CSR: Final = ("certificates.k8s.io", "CertificateSigningRequest")
_SPECIAL: Final[dict[tuple[tuple[str, str], str], tuple[str, ...]]] = {
    (("", "Pod"), "status"): ("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
    (("apps", "Deployment"), "status"): ("spec", "metadata.labels"),
    (("", "Namespace"), "finalize"): ("status",),
    (_CSR, ""): ("spec", "status"),
    (_CSR, "status"): ("spec", "status.conditions"),
    (_CSR, "approval"): ("spec", "status.certificate"),
}
_RESIZED: Final = ("resources", "resizePolicy")
_POD_PARTS: Final = {
    "ephemeralcontainers": ("spec.ephemeralContainers",),
    "resize": tuple(
        f"spec.{containers}.*.{part}" for containers in ("containers", "initContainers") for part in _RESIZED
    ),
}


def _fields(*names: str) -> FieldSet:
    return from_paths(tuple(ANY if part == ANY else field(part) for part in name.split(".")) for name in names)


_NOTHING: Final = Filter()
_MAIN: Final = Filter(_fields("status"))
_STATUS: Final = Filter(_fields("spec"))
_STATUS_AND_METADATA: Final = Filter(_fields("metadata", "spec"))
_SPECIAL_FILTERS: Final = {place: Filter(_fields(*names)) for place, names in _SPECIAL.items()}
_POD_FILTERS: Final = {part: Filter(keep=_fields(*names)) for part, names in _POD_PARTS.items()}


def owned_fields(kind: Kind, subresource: str = "") -> Filter:
    """The fields that a write to this part of a kind can own."""
    if kind.group_kind == ("", "Pod") and subresource in _POD_FILTERS:
        return _POD_FILTERS[subresource]
    special = _SPECIAL_FILTERS.get((kind.group_kind, subresource))
    if special is not None:
        return special
    if subresource == "status":
        return _STATUS if kind.group_kind in _STATUS_KEEPS_METADATA else _STATUS_AND_METADATA
    return _MAIN if not subresource and "status" in kind.subresources else _NOTHING
