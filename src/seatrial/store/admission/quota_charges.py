"""The usage that a quota charges for an object, and the match of objects with quota scopes.

Upstream: pkg/quota/v1/evaluator/core (pods, services, persistent_volume_claims, resource_claims) and the counting of
all other kinds in k8s.io/apiserver/pkg/quota/v1/generic.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import Requirement
from seatrial.model.pod_resources import Resources
from seatrial.model.quantity import Quantity
from seatrial.model.times import SECOND, parse_time
from seatrial.store.admission.claims import claim_class
from seatrial.store.admission.resources import charged
from seatrial.store.registry.qos import quality_of_service

ONE: Final = Quantity(1)
COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
_POD: Final = ("", "Pod")
_CLAIM: Final = ("", "PersistentVolumeClaim")
_DEVICE_CLASS: Final = ".deviceclass.resource.k8s.io/devices"
_STORAGE_CLASS: Final = ".storageclass.storage.k8s.io/"
_IMPLICIT_DEVICE: Final = "requests.deviceclass.resource.kubernetes.io/"
_MOST_DEVICES: Final = 32
_ALIASES: Final = {
    ("", "ConfigMap"): "configmaps",
    ("", "ResourceQuota"): "resourcequotas",
    ("", "ReplicationController"): "replicationcontrollers",
    ("", "Secret"): "secrets",
}
_POD_NAMES: Final = frozenset(
    {"count/pods", "pods", *COMPUTE, *(f"{part}.{name}" for part in ("requests", "limits") for name in COMPUTE)}
)
_CLAIM_NAMES: Final = ("persistentvolumeclaims", "requests.storage")
_SELECTING: Final = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def charge(kind: Kind, document: Document, now: int) -> Resources:
    """The usage of an object, by the names that quotas limit."""
    special = _CHARGES.get(kind.group_kind)
    if special is not None:
        return special(document, now)
    names = [_count_name(kind)]
    if alias := _ALIASES.get(kind.group_kind):
        names.append(alias)
    return dict.fromkeys(names, ONE)


def limited_names(kind: Kind, names: Iterable[str]) -> list[str]:
    """Those of a quota's names that objects of this kind count towards."""
    match kind.group_kind:
        case ("", "Pod"):
            return [name for name in names if name in _POD_NAMES or _is_pod_resource(name)]
        case ("", "Service"):
            known = ("count/services", "services", "services.nodeports", "services.loadbalancers")
            return [name for name in names if name in known]
        case ("", "PersistentVolumeClaim"):
            endings = tuple(_STORAGE_CLASS + name for name in _CLAIM_NAMES)
            own = (*_CLAIM_NAMES, "count/persistentvolumeclaims")
            return [name for name in names if name in own or name.endswith(endings)]
        case ("resource.k8s.io", "ResourceClaim"):
            return [n for n in names if n == "count/resourceclaims.resource.k8s.io" or n.endswith(_DEVICE_CLASS)]
    own_names = (_count_name(kind), _ALIASES.get(kind.group_kind, ""))
    return [name for name in names if name in own_names]


def is_in_scope(quota: Document, kind: Kind, document: Document) -> bool:
    """Whether an object matches all scopes of a quota; one without scopes takes every object."""
    spec = quota.get("spec") or {}
    selectors = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    selectors += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    return all(_matches_scope(selector, kind, document) for selector in selectors)


def _matches_scope(selector: Document, kind: Kind, document: Document) -> bool:
    scope = selector.get("scopeName")
    spec = document.get("spec") or {}
    if kind.group_kind == _CLAIM:
        return scope == "VolumeAttributesClass" and _selects(selector, scope, _attribute_classes(document))
    if kind.group_kind != _POD:
        return False
    match scope:
        case "Terminating":
            return is_terminating(document)
        case "NotTerminating":
            return not is_terminating(document)
        case "BestEffort":
            return quality_of_service(spec) == "BestEffort"
        case "NotBestEffort":
            return quality_of_service(spec) != "BestEffort"
        case "PriorityClass":
            name = spec.get("priorityClassName")
            return _selects(selector, scope, [name] if name else [])
        case "CrossNamespacePodAffinity":
            return _reaches_other_namespaces(spec.get("affinity") or {})
    return False


def is_terminating(pod: Document) -> bool:
    """Whether a pod has a deadline; what quotas call Terminating."""
    deadline = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return deadline is not None and deadline >= 0


def compute_charge(requests: Resources, limits: Resources) -> Resources:
    """Requests and limits under the names that quotas know them by."""
    result: Resources = {"pods": ONE}
    for name in COMPUTE:
        if name in requests:
            result[name] = result[f"requests.{name}"] = requests[name]
        if name in limits:
            result[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith("hugepages-"):
            result[name] = result[f"requests.{name}"] = amount
        elif "/" in name and ("kubernetes.io/" not in name or f"requests.{name}".startswith(_IMPLICIT_DEVICE)):
            result[f"requests.{name}"] = amount
    return result


def _pod_charge(pod: Document, now: int) -> Resources:
    result: Resources = {"count/pods": ONE}
    return {**result, **compute_charge(*charged(pod))} if _is_charged(pod, now) else result


def _is_charged(pod: Document, now: int) -> bool:
    """Pods that have ended, or should be gone by now, cost nothing but their place."""
    if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return False
    metadata = pod["metadata"]
    deletion, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    return deletion is None or grace is None or now <= parse_time(deletion) + grace * SECOND


def _service_charge(service: Document, now: int) -> Resources:
    spec = service.get("spec") or {}
    ports = spec.get("ports") or ()
    balancers = node_ports = 0
    match spec.get("type"):
        case "NodePort":
            node_ports = len(ports)
        case "LoadBalancer":
            balancers = 1
            fixed = spec.get("allocateLoadBalancerNodePorts") is False
            node_ports = sum(1 for port in ports if port.get("nodePort")) if fixed else len(ports)
    return {
        "count/services": ONE,
        "services": ONE,
        "services.loadbalancers": Quantity(balancers),
        "services.nodeports": Quantity(node_ports),
    }


def _claim_charge(claim: Document, now: int) -> Resources:
    result: Resources = {"persistentvolumeclaims": ONE, "count/persistentvolumeclaims": ONE}
    storage_class = claim_class(claim)
    if storage_class:
        result[f"{storage_class}{_STORAGE_CLASS}persistentvolumeclaims"] = ONE
    asked = (((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage")
    if asked is not None:
        amount = Quantity.parse(asked).round_up(0)
        allocated = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage")
        if allocated is not None and Quantity.parse(allocated) > amount:
            amount = Quantity.parse(allocated).round_up(0)
        result["requests.storage"] = amount
        if storage_class:
            result[f"{storage_class}{_STORAGE_CLASS}requests.storage"] = amount
    return result


def _device_charge(claim: Document, now: int) -> Resources:
    """Devices by class; of alternatives the dearest, of "all" as many as a claim can hold."""
    result: Resources = {"count/resourceclaims.resource.k8s.io": ONE}
    for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ():
        wanted: dict[str, int] = {}
        for option in request.get("firstAvailable") or [request.get("exactly") or {}]:
            name = f"{option.get('deviceClassName', '')}{_DEVICE_CLASS}"
            count = _MOST_DEVICES if option.get("allocationMode") == "All" else int(option.get("count", 1))
            wanted[name] = max(wanted.get(name, 0), count)
        for name, count in wanted.items():
            result[name] = result.get(name, Quantity(0)) + Quantity(count)
    return result


_CHARGES: Final[dict[tuple[str, str], Callable[[Document, int], Resources]]] = {
    _POD: _pod_charge,
    ("", "Service"): _service_charge,
    _CLAIM: _claim_charge,
    ("resource.k8s.io", "ResourceClaim"): _device_charge,
}


def _count_name(kind: Kind) -> str:
    return f"count/{kind.resource}"


def _is_pod_resource(name: str) -> bool:
    if name.startswith(("hugepages-", "requests.hugepages-")):
        return True
    foreign = "/" in name and "kubernetes.io/" not in name
    return name.startswith("requests.") and (foreign or name.startswith(_IMPLICIT_DEVICE))


def _selects(selector: Document, scope: str, values: list[str]) -> bool:
    operator = _SELECTING.get(selector.get("operator", ""))
    if operator is None:
        return False
    requirement = Requirement(scope, operator, selector.get("values") or ())
    if not values:
        return requirement.matches({})
    return any(requirement.matches({scope: value}) for value in values)


def _attribute_classes(claim: Document) -> list[str]:
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    target = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
    names: list[Any] = [
        spec.get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        target,
    ]
    return [name for name in names if name]


def _reaches_other_namespaces(affinity: Document) -> bool:
    terms: list[Document] = []
    for name in ("podAffinity", "podAntiAffinity"):
        part = affinity.get(name) or {}
        terms += part.get("requiredDuringSchedulingIgnoredDuringExecution") or []
        preferred = part.get("preferredDuringSchedulingIgnoredDuringExecution") or []
        terms += [weighted.get("podAffinityTerm") or {} for weighted in preferred]
    return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms)
