"""What feature gates change in new objects: the API server drops fields whose gate is off, and defaults others.

Upstream: the dropDisabledFields functions in pkg/registry/resource, DefaultPodLevelResources in pkg/api/pod. A gate
that is not in the mapping is on for fields (it is gone), and off for defaults (it is still to come).
"""

from collections.abc import Mapping
from typing import Any

from seatrial.model.defaults.pods import default_pod_requests
from seatrial.model.documents import Document

_CLAIM = ("ResourceClaim", "spec.devices"), ("ResourceClaimTemplate", "spec.spec.devices")
_EXACT, _FIRST = "requests[].exactly", "requests[].firstAvailable[]"
_DEVICE = "spec.devices[]"


def _of_claims(*fields: str) -> tuple[tuple[str, str], ...]:
    return tuple((kind, f"{devices}.{field}") for kind, devices in _CLAIM for field in fields)


def _of_slices(*fields: str) -> tuple[tuple[str, str], ...]:
    return tuple(("ResourceSlice", field) for field in fields)


GATED_FIELDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "DRAAdminAccess": _of_claims(f"{_EXACT}.adminAccess"),
    "DRAConsumableCapacity": (
        *_of_claims(f"{_EXACT}.capacity", f"{_FIRST}.capacity", "constraints[].distinctAttribute"),
        *_of_slices(f"{_DEVICE}.allowMultipleAllocations", f"{_DEVICE}.capacity{{}}.requestPolicy"),
    ),
    "DRADeviceBindingConditions": _of_slices(
        *(f"{_DEVICE}.{field}" for field in ("bindsToNode", "bindingConditions", "bindingFailureConditions"))
    ),
    "DRADeviceTaints": (
        *_of_claims(f"{_EXACT}.tolerations", f"{_FIRST}.tolerations"),
        *_of_slices(f"{_DEVICE}.taints"),
    ),
    "DRAExtendedResource": (("DeviceClass", "spec.extendedResourceName"),),
    "DRAPartitionableDevices": _of_slices(
        "spec.sharedCounters",
        "spec.perDeviceNodeSelection",
        *(f"{_DEVICE}.{field}" for field in ("consumesCounters", "nodeName", "nodeSelector", "allNodes")),
    ),
    "DRANodeAllocatableResources": _of_slices(f"{_DEVICE}.nodeAllocatableResourceMappings"),
    "DRAPrioritizedList": _of_claims("requests[].firstAvailable"),
    "GenericWorkload": (("Pod", "spec.schedulingGroup"),),
    "NodeDeclaredFeatures": (("Node", "status.declaredFeatures"),),
    "PodLevelResources": (("Pod", "spec.resources"),),
    "VolumeLimitScaling": (("CSIDriver", "spec.preventPodSchedulingIfMissing"),),
}
"""By gate: kind and path of each field. `[]` stands for every item of a list, `{}` for every value of a map."""


class GatedFields:
    """What the gates of a version change in objects, with the paths of the fields that are off prepared."""

    def __init__(self, gates: Mapping[str, bool]) -> None:
        self._off: dict[str, list[tuple[str, ...]]] = {}
        for gate, fields in GATED_FIELDS.items():
            if not gates.get(gate, True):
                for kind, path in fields:
                    self._off.setdefault(kind, []).append(_steps(path))
        self._pod_requests = gates.get("PodLevelResourcesFixDefaulting", False)

    def apply(self, document: Document) -> None:
        """Drops the fields of a new object whose gates are off, and sets what others default; it is changed."""
        self.drop(document)
        if self._pod_requests and document.get("kind") == "Pod":
            spec = document["spec"]
            if spec.get("resources") is not None:
                default_pod_requests(spec, spec["resources"])

    def drop(self, document: Document, old: Document | None = None) -> None:
        """Drops the fields whose gates are off, but for those that the object has had before."""
        for path in self._off.get(document.get("kind", ""), ()):
            name = path[-1]
            having = [owner for owner in _owners(document, path) if name in owner]
            if having and (old is None or not any(name in owner for owner in _owners(old, path))):
                for owner in having:
                    del owner[name]


def _steps(path: str) -> tuple[str, ...]:
    """The names of a path, with each mark of a list or of a map as a step of its own."""
    return tuple(path.replace("[]", ".[]").replace("{}", ".{}").split("."))


def _owners(value: Any, path: tuple[str, ...]) -> list[dict[str, Any]]:
    """The objects that may have the last field of a path."""
    found = [value]
    for step in path[:-1]:
        if step == "[]":
            found = [item for listed in found if isinstance(listed, list) for item in listed]
        elif step == "{}":
            found = [item for mapped in found if isinstance(mapped, dict) for item in mapped.values()]
        else:
            found = [each[step] for each in found if isinstance(each, dict) and step in each]
        if not found:
            break
    return [each for each in found if isinstance(each, dict)]
