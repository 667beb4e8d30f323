"""APIServices: the name follows from version and group, and priorities are in their range.

Upstream: k8s.io/kube-aggregator/pkg/apis/apiregistration/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, required
from seatrial.store.object_meta import Faults, NameFaults, label_1035_faults, segment_faults
from seatrial.store.validation.rules import Row, always, need, of_spec, present, ranged, rules, valid


def name_faults(document: Document) -> NameFaults:
    """The rule for the name of an APIService: it follows from its version and its group."""
    spec = document.get("spec") or {}
    wanted = f"{spec.get('version', '')}.{spec.get('group', '')}"

    def faults(name: str) -> Faults:
        found = segment_faults(name)
        return found if found or name == wanted else (f'must be `spec.version+"."+spec.group`: "{wanted}"',)

    return faults


def _group(spec: Document, path: str) -> Iterator[Cause]:
    if not spec.get("group") and spec.get("version", "") != "v1":
        yield required("spec.group", "only v1 may have an empty group and it better be legacy kube")


def _local(spec: Document, path: str) -> Iterator[Cause]:
    if spec.get("service") is None and spec.get("caBundle"):
        yield invalid("spec.caBundle", f"{len(spec['caBundle'])} bytes", "local APIServices may not have a caBundle")


def _priority(field: str, most: int) -> Row:
    return always(field, ranged(1, most, f"must be positive and less than {most}"), zero=0)


create_causes = of_spec(
    rules(
        _group,
        always("version", valid(label_1035_faults)),
        _priority("groupPriorityMinimum", 20000),
        _priority("versionPriority", 1000),
        _local,
        present("service", rules(need("namespace"), need("name"))),
    )
)
"""Validation errors of an APIService."""
