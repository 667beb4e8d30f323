"""Extended resources backed by devices: a pod requests `example.com/gpu: 2` and gets a claim made for it.

Upstream: dynamicresources/extendeddynamicresources.go, deviceclass/extendedresourcecache (DRAExtendedResource is on).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.cache.pod_requests import is_extended
from seatrial.scheduler.framework.cluster import ObjectLister
from seatrial.scheduler.volumes.claims import metadata_of, spec_of

SPECIAL_NAME = "<extended-resources>"
"""The name of the claim while it exists in memory only; no object can have it."""
ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"


class DeviceClasses:
    """The device classes, and the extended resources they back; read again when a class changes."""

    def __init__(self, cluster: ObjectLister) -> None:
        self._cluster = cluster
        self._version = -1
        self._by_resource: dict[str, Document] = {}

    def get(self, name: str) -> Document | None:
        return self._cluster.get("DeviceClass", name)

    def for_resource(self, resource: str) -> Document | None:
        """The class behind an extended resource: of several the newest, then the first by name."""
        version = self._cluster.version("DeviceClass")
        if version != self._version:
            self._by_resource = _by_resource(self._cluster.list("DeviceClass"))
            self._version = version
        return self._by_resource.get(resource)

    def backs(self, resources: Iterable[str]) -> bool:
        """Whether devices back one of these resources."""
        return any(is_backed_name(name) and self.for_resource(name) is not None for name in resources)


def _by_resource(classes: Sequence[Document]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    newest_last = sorted(classes, key=lambda c: metadata_of(c).get("name", ""), reverse=True)
    newest_last.sort(key=lambda c: metadata_of(c).get("creationTimestamp") or "")
    for device_class in newest_last:
        found[CLASS_PREFIX + metadata_of(device_class).get("name", "")] = device_class
        resource = spec_of(device_class).get("extendedResourceName")
        if resource is not None:
            found[resource] = device_class
    return found


def is_backed_name(resource: str) -> bool:
    """Whether devices can back a resource of this name."""
    return is_extended(resource) or resource.startswith(CLASS_PREFIX)


def existing_claim(pod: PodInfo, claims: Iterable[Document]) -> Document | None:
    """The claim that an earlier attempt has made for the pod."""
    for claim in claims:
        metadata = metadata_of(claim)
        if (metadata.get("annotations") or {}).get(ANNOTATION) == "true" and any(
            owner.get("name") == pod.name and owner.get("controller") and owner.get("uid") == pod.uid
            for owner in metadata.get("ownerReferences") or ()
        ):
            return claim
    return None


def new_claim(pod: PodInfo) -> Document:
    """The claim for the pod's extended resources, before its requests are known."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid, "controller": True}
    metadata = {
        "namespace": pod.namespace,
        "name": SPECIAL_NAME,
        "uid": f"extended-resources/{pod.uid}",
        "generateName": f"{pod.name}-extended-resources-",
        "ownerReferences": [owner],
        "annotations": {ANNOTATION: "true"},
    }
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {}}


def is_special(claim: Document) -> bool:
    return bool(metadata_of(claim).get("name") == SPECIAL_NAME)


def resources_for(pod: PodInfo, allocatable: Mapping[str, int], classes: DeviceClasses) -> frozenset[str] | None:
    """The resources a node has to provide by devices; None where it can provide one of the pod's in no way."""
    wanted: set[str] = set()
    for name, amount in pod.shape.requests.scalars.items():
        if not is_backed_name(name) or amount == 0:
            continue
        if classes.for_resource(name) is not None and allocatable.get(name, 0) == 0:
            wanted.add(name)
        elif name not in allocatable:
            return None
    return frozenset(wanted)


@dataclass(frozen=True, slots=True)
class Derived:
    """Device requests derived from containers, and which container uses which."""

    requests: tuple[Document, ...]
    mappings: tuple[Document, ...]


def derive(pod: PodInfo, resources: Iterable[str], classes: DeviceClasses) -> Derived:
    """One request per container and resource; init containers take what later containers will use, first."""
    containers = [*(pod.spec.get("initContainers") or ()), *(pod.spec.get("containers") or ())]
    init = len(pod.spec.get("initContainers") or ())
    short = [i for i in range(init) if containers[i].get("restartPolicy") != "Always"]
    requests: list[Document] = []
    mappings: list[Document] = []
    for resource in sorted(resources):
        device_class = classes.for_resource(resource)
        if device_class is None:
            continue
        class_name = metadata_of(device_class).get("name", "")
        lasting: list[Document | None] = [None] * len(containers)
        lasting_mappings: list[Document] = []
        for i, container in enumerate(containers):
            if i not in short:
                lasting[i], used = _request(i, container, resource, class_name, ())
                lasting_mappings.extend(used)
        largest, short_mappings = _short_lived(short, containers, resource, class_name, lasting)
        requests.extend(request for request in (largest, *lasting) if request is not None)
        mappings.extend((*lasting_mappings, *short_mappings))
    return Derived(tuple(sorted(requests, key=lambda r: r["name"])), tuple(mappings))


def _short_lived(
    short: Sequence[int],
    containers: Sequence[Document],
    resource: str,
    class_name: str,
    lasting: Sequence[Document | None],
) -> tuple[Document | None, list[Document]]:
    """Init containers run one after the other, so the largest of their requests serves them all."""
    largest: Document | None = None
    names: set[str] = set()
    mappings: list[Document] = []
    for i in short:
        reusable = [request for request in lasting[i:] if request is not None]
        request, used = _request(i, containers[i], resource, class_name, reusable)
        mappings.extend(used)
        if request is not None:
            names.add(request["name"])
            if largest is None or largest["exactly"]["count"] < request["exactly"]["count"]:
                largest = request
    if largest is not None:
        for mapping in mappings:
            if mapping["requestName"] in names:
                mapping["requestName"] = largest["name"]
    return largest, mappings


def _request(
    index: int, container: Document, resource: str, class_name: str, reusable: Sequence[Document]
) -> tuple[Document | None, list[Document]]:
    wanted = (container.get("resources") or {}).get("requests") or {}
    amount = Quantity.parse(wanted[resource]).as_int64() if resource in wanted else None
    if not amount:
        return None, []
    mappings: list[Document] = []
    covered = 0
    for request in reusable:
        covered += request["exactly"]["count"]
        mappings.append(_mapping(container, resource, request["name"]))
        if covered >= amount:
            return None, mappings
    name = f"container-{index}-request-{sorted(wanted).index(resource)}"
    exactly = {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": amount - covered}
    mappings.append(_mapping(container, resource, name))
    return {"name": name, "exactly": exactly}, mappings


def _mapping(container: Document, resource: str, request: str) -> Document:
    return {"containerName": container.get("name", ""), "resourceName": resource, "requestName": request}
