"""Priority: a pod's priority and preemption policy come from its PriorityClass.

Upstream: plugin/pkg/admission/priority; the two system classes are those of pkg/apis/scheduling/v1.
"""

from typing import Any, Final

from seatrial.model.documents import Document
from seatrial.store.admission.namespaced_reader import Reader, forbidden
from seatrial.store.requests import Request

SYSTEM_PRIORITY_CLASSES: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_PREEMPT: Final = "PreemptLowerPriority"


def set_priority(request: Request, reader: Reader) -> None:
    """Resolve the class of a new pod; keep what an older client leaves out of an update."""
    if request.subresource:
        return
    spec = request.document.setdefault("spec", {})
    if request.operation == "UPDATE":
        old = (request.old or {}).get("spec") or {}
        for field in ("priority", "preemptionPolicy"):
            if spec.get(field) is None and old.get(field) is not None:
                spec[field] = old[field]
        return
    name, priority, policy = _resolved(request, reader, spec.get("priorityClassName") or "")
    if name:
        spec["priorityClassName"] = name
    given = spec.get("priority")
    if given is not None and given != priority:
        why = (
            f"the integer value of priority ({given}) must not be provided in pod spec; "
            f"priority admission controller computed {priority} from the given PriorityClass name"
        )
        raise forbidden(request, why)
    spec["priority"] = priority
    given = spec.get("preemptionPolicy")
    if given is not None and given != policy:
        why = (
            f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name"
        )
        raise forbidden(request, why)
    spec["preemptionPolicy"] = policy


def check_default(request: Request, reader: Reader) -> None:
    """Only one class may be the default of all pods."""
    if request.subresource or not request.document.get("globalDefault"):
        return
    default = _default_class(request, reader)
    if default is None:
        return
    name = default["metadata"]["name"]
    if request.operation == "CREATE" or name != request.name:
        raise forbidden(request, f"PriorityClass {name} is already marked as default. Only one default can exist")


def _resolved(request: Request, reader: Reader, name: str) -> tuple[str, int, str]:
    if not name:
        default = _default_class(request, reader)
        return _values(default) if default is not None else ("", 0, _PREEMPT)
    found = reader.find(request.store, "scheduling.k8s.io/v1", "PriorityClass", name)
    if found is not None:
        return _values(found)
    if name in SYSTEM_PRIORITY_CLASSES:
        return name, SYSTEM_PRIORITY_CLASSES[name], _PREEMPT
    raise forbidden(request, f"no PriorityClass with name {name} was found")


def _default_class(request: Request, reader: Reader) -> Document | None:
    """The default class; the lowest where several claim to be."""
    classes = reader.all(request.store, "scheduling.k8s.io/v1", "PriorityClass")
    defaults: list[Any] = [found for found in classes if found.get("globalDefault")]
    return min(defaults, key=lambda found: int(found.get("value", 0)), default=None)


def _values(found: Document) -> tuple[str, int, str]:
    return found["metadata"]["name"], int(found.get("value", 0)), found.get("preemptionPolicy") or _PREEMPT
