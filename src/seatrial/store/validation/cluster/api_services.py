"""APIServices: the name follows from version and group, and priorities are in their range.

Upstream: k8s.io/kube-aggregator/pkg/apis/apiregistration/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, required
from seatrial.store.object_meta import label_1035_faults

_HIGHEST_GROUP, _HIGHEST_VERSION = 20000, 1000


def create_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of an APIService."""
    spec, name = document.get("spec") or {}, document["metadata"].get("name", "")
    group, version = spec.get("group", ""), spec.get("version", "")
    if name != f"{version}.{group}":
        yield invalid("metadata.name", name, f'must be `spec.version+"."+spec.group`: "{version}.{group}"')
    if not group and version != "v1":
        yield required("spec.group", "only v1 may have an empty group and it better be legacy kube")
    yield from (invalid("spec.version", version, fault) for fault in label_1035_faults(version))
    for key, most in (("groupPriorityMinimum", _HIGHEST_GROUP), ("versionPriority", _HIGHEST_VERSION)):
        value = spec.get(key) or 0
        if not 0 < value <= most:
            yield invalid(f"spec.{key}", value, f"must be positive and less than {most}")
    service = spec.get("service")
    if service is None:
        if spec.get("caBundle"):
            yield invalid(
                "spec.caBundle", f"{len(spec['caBundle'])} bytes", "local APIServices may not have a caBundle"
            )
        return
    for key in ("namespace", "name"):
        if not service.get(key):
            yield required(f"spec.service.{key}")


def update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of an APIService."""
    if not subresource:
        yield from create_causes(document)
