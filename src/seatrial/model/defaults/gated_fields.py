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
    "DRAPrioritizedList": _of_claims("requests[].firstAvailable"),
}
"""By gate: kind and path of each field. `[]` stands for every item of a list, `{}` for every value of a map."""


def apply_gates(document: Document, gates: Mapping[str, bool]) -> None:
    """Drops the fields of a new object whose gates are off, and sets what others default; `document` is changed."""
    kind = document.get("kind")
    if kind == "Pod" and gates.get("PodLevelResourcesFixDefaulting") and document["spec"].get("resources") is not None:
        default_pod_requests(document["spec"], document["spec"]["resources"])
    for gate, fields in GATED_FIELDS.items():
        if not gates.get(gate, True):
            for owner, path in fields:
                if owner == kind:
                    _drop(document, path.split("."))


def _drop(value: Any, path: list[str]) -> None:
    if not isinstance(value, dict):
        return
    step, rest = path[0], path[1:]
    if not rest:
        value.pop(step, None)
        return
    inner = value.get(step.removesuffix("[]").removesuffix("{}"))
    if step.endswith("[]") and isinstance(inner, list):
        for item in inner:
            _drop(item, rest)
    elif step.endswith("{}") and isinstance(inner, dict):
        for item in inner.values():
            _drop(item, rest)
    else:
        _drop(inner, rest)
