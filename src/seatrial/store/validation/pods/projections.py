"""Files made from other objects: the downward API, projected volumes and tokens.

Upstream: validateDownwardAPIVolumeSource and validateProjectionSources of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.quantity import Quantity, canonical_quantity
from seatrial.store.field_errors import forbidden, invalid, required, unsupported
from seatrial.store.validation.formats import file_mode, needed, qualified, unreserved
from seatrial.store.validation.pods.volume_sources import key_to_path

VOLUME_FIELDS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
ENVIRONMENT_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_FIELDS = {*VOLUME_FIELDS, *ENVIRONMENT_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase"}
_RESOURCES = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE = ("requests.hugepages-", "limits.hugepages-")
_UNITS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
# Trust bundles and pod certificates are behind gates that are off: upstream drops them before it looks at them.
_PROJECTIONS = ("secret", "configMap", "downwardAPI", "serviceAccountToken")


def field_reference(reference: Document, allowed: tuple[str, ...], path: str) -> Iterator[Cause]:
    """A field of the pod itself."""
    version, field = reference.get("apiVersion", ""), reference.get("fieldPath", "")
    if not version or not field:
        yield required(f"{path}.fieldPath" if version else f"{path}.apiVersion")
        return
    base, subscript = _subscript(field)
    subscripted = subscript is not None
    if version != "v1":
        why = f"unsupported pod version: {version}"
    elif subscripted and base not in ("metadata.annotations", "metadata.labels"):
        why = f"field label does not support subscript: {field}"
    elif not subscripted and field not in _FIELDS and field != "spec.host":
        why = f"field label not supported: {field}"
    else:
        why = ""
    if why:
        yield invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {why}")
    elif subscript is not None:
        yield from qualified(subscript.lower() if base == "metadata.annotations" else subscript, path)
    else:
        internal = "spec.nodeName" if field == "spec.host" else field
        if internal not in allowed:
            yield unsupported(f"{path}.fieldPath", internal, allowed)


def _subscript(field: str) -> tuple[str, str | None]:
    base, bracket, key = field.removesuffix("']").partition("['")
    return (base, key) if field.endswith("']") and bracket and base else (field, None)


def resource_reference(reference: Document, path: str, *, volume: bool) -> Iterator[Cause]:
    """A resourceFieldRef: a request or limit of a container of the pod."""
    resource = reference.get("resource", "")
    if volume and not reference.get("containerName"):
        yield required(f"{path}.containerName")
    elif not resource:
        yield required(f"{path}.resource")
    elif resource not in _RESOURCES and not resource.startswith(_HUGE):
        yield unsupported(f"{path}.resource", resource, _RESOURCES)
    divisor = canonical_quantity(reference.get("divisor") or "0")
    if not Quantity.parse(divisor).sign:
        return
    name = resource.partition(".")[2]
    if name == "cpu":
        if divisor not in ("1m", "1"):
            why = "only divisor's values 1m and 1 are supported with the cpu resource"
            yield invalid(f"{path}.divisor", resource, why)
    elif divisor not in _UNITS and (resource in _RESOURCES or resource.startswith(_HUGE)):
        kind = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}.get(name, "hugepages")
        why = f"only divisor's values {', '.join(_UNITS)} are supported with the {kind} resource"
        yield invalid(f"{path}.divisor", resource, why)


def downward_file(file: Document, path: str) -> Iterator[Cause]:
    """One file of the downward API."""
    yield from needed(file, path, "path")
    yield from unreserved(file.get("path", ""), f"{path}.path")
    field, resource = file.get("fieldRef"), file.get("resourceFieldRef")
    if field is not None:
        yield from field_reference(field, VOLUME_FIELDS, f"{path}.fieldRef")
        if resource is not None:
            yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif resource is not None:
        yield from resource_reference(resource, f"{path}.resourceFieldRef", volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from file_mode(file.get("mode"), f"{path}.mode")


def downward(source: Document, path: str) -> Iterator[Cause]:
    """A volume of the downward API."""
    yield from file_mode(source.get("defaultMode"), f"{path}.defaultMode")
    for file in source.get("items") or ():
        yield from downward_file(file, path)


def projected(source: Document, path: str) -> Iterator[Cause]:
    """A volume of several sources, whose files must not clash."""
    yield from file_mode(source.get("defaultMode"), f"{path}.defaultMode")
    taken: set[str] = set()
    for index, each in enumerate(source.get("sources") or ()):
        where = f"{path}.sources[{index}]"
        kinds = [key for key in _PROJECTIONS if each.get(key) is not None]
        for key in kinds:
            yield from _projection(key, each[key], f"{where}.{key}", path, taken)
        if len(kinds) > 1:
            yield forbidden(where, "may not specify more than 1 volume type per source")


def _projection(key: str, source: Document, path: str, whole: str, taken: set[str]) -> Iterator[Cause]:
    if key in ("secret", "configMap"):
        yield from needed(source, path, "name")
        for index, item in enumerate(source.get("items") or ()):
            yield from key_to_path(item, f"{path}.items[{index}]")
            yield from _take(item.get("path", ""), source.get("name", ""), whole, taken)
    elif key == "downwardAPI":
        for file in source.get("items") or ():
            yield from downward_file(file, path)
            yield from _take(file.get("path", ""), file.get("path", ""), whole, taken)
    else:
        yield from _token(source, path, whole)


def _take(name: str, shown: str, whole: str, taken: set[str]) -> Iterator[Cause]:
    if not name:
        return
    if name in taken:
        yield invalid(whole, shown, "conflicting duplicate paths")
    taken.add(name)


def _token(source: Document, path: str, whole: str) -> Iterator[Cause]:
    seconds = source.get("expirationSeconds", 0)
    if seconds < 600:
        yield invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > 1 << 32:
        yield invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    if not source.get("path"):
        yield required(f"{whole}.path")
    else:
        yield from unreserved(source["path"], f"{whole}.path")
