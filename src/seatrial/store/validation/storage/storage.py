"""StorageClasses and CSINodes.

Upstream: pkg/apis/storage/validation/validation.go.
"""

from collections.abc import Iterable, Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import Struct, duplicate, invalid, required, too_long
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.formats import not_negative, qualified
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.pods.volume_sources import driver_name
from seatrial.store.validation.rules import always, among, given, need, need_set, present, rules, valid
from seatrial.store.validation.selectors import topology_terms

_FIXED = ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")


def _parameters(parameters: Document, path: str) -> Iterator[Cause]:
    if len(parameters) > 512:
        yield too_long(path, 512)
        return
    if "" in parameters:
        yield invalid(path, "", "field can not be empty.")
    if sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items()) > 256 * 1024:
        yield too_long(path, 256 * 1024)


_CLASS = rules(
    need("provisioner", lambda name, path: qualified(name.lower(), path)),
    given("parameters", _parameters),
    given("reclaimPolicy", among("Delete", "Retain")),
    need_set("volumeBindingMode", among("Immediate", "WaitForFirstConsumer")),
    given("allowedTopologies", topology_terms),
)


def class_causes(document: Document) -> Iterable[Cause]:
    """Validation errors of a new StorageClass."""
    return _CLASS(document, "")


def class_update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a StorageClass."""
    yield from _CLASS(document, "")
    for key in _FIXED:
        if (document.get(key) or None) != (old.get(key) or None):
            yield invalid(key, document.get(key, "" if key == "provisioner" else None), IMMUTABLE)


def _topology_keys(driver: Document, path: str) -> Iterator[Cause]:
    keys = driver.get("topologyKeys") or []
    for position, key in enumerate(keys):
        if not key:
            yield required(path)
        if key in keys[:position]:
            yield duplicate(path, key)
        yield from qualified(key, path)


_DRIVER = rules(
    always("name", driver_name),
    need("nodeID"),
    given("nodeID", valid(lambda node: ("must be 256 characters or less",) if len(node.encode()) > 256 else ())),
    present("allocatable.count", not_negative),
)


def node_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a CSINode."""
    seen: set[str] = set()
    for index, driver in enumerate((document.get("spec") or {}).get("drivers") or ()):
        path, name = f"spec.drivers[{index}]", driver.get("name", "")
        yield from _DRIVER(driver, path)
        if name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)
        yield from _topology_keys(driver, path)


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
