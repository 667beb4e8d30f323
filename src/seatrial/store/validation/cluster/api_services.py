"""APIServices: the name follows from version and group, and priorities are in their range.

Upstream: k8s.io/kube-aggregator/pkg/apis/apiregistration/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, required
from seatrial.store.object_meta import Faults, NameFaults, label_1035_faults, segment_faults

_HIGHEST_GROUP, _HIGHEST_VERSION = 20000, 1000


def name_faults(document: Document) -> NameFaults:
    """The rule for the name of an APIService: it follows from its version and its group."""
    spec = document.get("spec") or {}
    wanted = f"{spec.get('version', '')}.{spec.get('group', '')}"

    def faults(name: str) -> Faults:
        found = segment_faults(name)
        return found if found or name == wanted else (f'must be `spec.version+"."+spec.group`: "{wanted}"',)

    return faults


def create_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of an APIService."""
    spec = document.get("spec") or {}
    group, version = spec.get("group", ""), spec.get("version", "")
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
