"""StorageClasses and CSINodes.

Upstream: pkg/apis/storage/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import Struct, duplicate, invalid, required, too_long, unsupported
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.formats import not_negative, qualified
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.pods.volume_sources import driver_name
from seatrial.store.validation.selectors import topology_terms

_POLICIES, _MODES = ("Delete", "Retain"), ("Immediate", "WaitForFirstConsumer")
_FIXED = ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")


def class_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new StorageClass."""
    provisioner, parameters = document.get("provisioner", ""), document.get("parameters") or {}
    if not provisioner:
        yield required("provisioner")
    else:
        yield from qualified(provisioner.lower(), "provisioner")
    if len(parameters) > 512:
        yield too_long("parameters", 512)
    else:
        if "" in parameters:
            yield invalid("parameters", "", "field can not be empty.")
        if sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items()) > 256 * 1024:
            yield too_long("parameters", 256 * 1024)
    policy, mode = document.get("reclaimPolicy"), document.get("volumeBindingMode")
    if policy and policy not in _POLICIES:
        yield unsupported("reclaimPolicy", policy, _POLICIES)
    if mode is None:
        yield required("volumeBindingMode")
    elif mode not in _MODES:
        yield unsupported("volumeBindingMode", mode, _MODES)
    yield from topology_terms(document.get("allowedTopologies") or (), "allowedTopologies")


def class_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a StorageClass."""
    yield from class_causes(document)
    for key in _FIXED:
        if (document.get(key) or None) != (old.get(key) or None):
            yield invalid(key, document.get(key, "" if key == "provisioner" else None), IMMUTABLE)


def node_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a CSINode."""
    seen: set[str] = set()
    for index, driver in enumerate((document.get("spec") or {}).get("drivers") or ()):
        path, name, node = f"spec.drivers[{index}]", driver.get("name", ""), driver.get("nodeID", "")
        yield from driver_name(name, f"{path}.name")
        if not node:
            yield required(f"{path}.nodeID")
        if len(node.encode()) > 256:
            yield invalid(f"{path}.nodeID", node, "must be 256 characters or less")
        yield from not_negative((driver.get("allocatable") or {}).get("count"), f"{path}.allocatable.count")
        if name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)
        keys = driver.get("topologyKeys") or []
        for position, key in enumerate(keys):
            if not key:
                yield required(path)
            if key in keys[:position]:
                yield duplicate(path, key)
            yield from qualified(key, path)


def node_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a CSINode: a driver stays as it is, save for how many volumes it takes."""
    yield from node_causes(document)
    drivers = (document.get("spec") or {}).get("drivers") or ()
    for before in (old.get("spec") or {}).get("drivers") or ():
        for driver in drivers:
            if driver.get("name") == before.get("name") and _shown(driver) != _shown(before):
                yield invalid("spec.drivers", _shown(driver), IMMUTABLE)


def _shown(driver: Document) -> Struct:
    fields = ("name", "nodeID", "topologyKeys", "allocatable")
    return go_struct({**driver, "allocatable": None}, fields, {"name": "", "nodeID": ""})
