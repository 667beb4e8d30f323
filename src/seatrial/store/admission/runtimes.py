"""RuntimeClass: the overhead of a sandbox counts as the pod's, and its nodes are those that have it.

Upstream: plugin/pkg/admission/runtimeclass, pkg/util/tolerations.
"""

from typing import Any

from seatrial.model.documents import Document
from seatrial.model.quantity import Quantity
from seatrial.store.admission.namespaced_reader import Reader, forbidden
from seatrial.store.requests import Request


def apply_runtime_class(request: Request, reader: Reader) -> None:
    """Give a new pod the overhead, node selector and tolerations of its runtime class."""
    runtime = _class_of(request, reader)
    if runtime is None:
        return
    spec = request.document["spec"]
    overhead = (runtime.get("overhead") or {}).get("podFixed")
    if runtime.get("overhead") is not None:
        if spec.get("overhead") and not _same(spec["overhead"], overhead or {}):
            raise forbidden(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        if overhead:
            spec["overhead"] = dict(overhead)
    scheduling = runtime.get("scheduling")
    if scheduling is None:
        return
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.get(key, value) != value:
            why = (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
            raise forbidden(request, why)
        selector[key] = value
    if selector:
        spec["nodeSelector"] = selector
    merged = _merged(spec.get("tolerations") or [], scheduling.get("tolerations") or [])
    if merged:
        spec["tolerations"] = merged


def check_overhead(request: Request, reader: Reader) -> None:
    """A pod's overhead is that of its runtime class, and none where it has no class."""
    if request.operation != "CREATE" or request.subresource:
        return
    overhead = (request.document.get("spec") or {}).get("overhead") or {}
    runtime = _class_of(request, reader)
    if runtime is not None and runtime.get("overhead") is not None:
        if not _same(overhead, runtime["overhead"].get("podFixed") or {}):
            raise forbidden(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    elif overhead:
        raise forbidden(request, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")


def _class_of(request: Request, reader: Reader) -> Document | None:
    if request.operation != "CREATE" or request.subresource:
        return None
    name = (request.document.get("spec") or {}).get("runtimeClassName")
    if not name:
        return None
    runtime = reader.find(request.store, "node.k8s.io/v1", "RuntimeClass", name)
    if runtime is None:
        raise forbidden(request, f'pod rejected: RuntimeClass "{name}" not found')
    return runtime


def _same(left: Document, right: Document) -> bool:
    return left.keys() == right.keys() and all(Quantity.parse(left[k]) == Quantity.parse(right[k]) for k in left)


def _merged(first: list[Any], second: list[Any]) -> list[Any]:
    """Both lists without tolerations that another one covers; of equal ones the first stays."""
    every = [*first, *second]
    kept: list[Any] = []
    for position, toleration in enumerate(every):
        if any(_covers(other, toleration) for other in kept):
            continue
        if any(other != toleration and _covers(other, toleration) for other in every[position + 1 :]):
            continue
        kept.append(toleration)
    return kept


def _covers(wide: Document, narrow: Document) -> bool:
    """Whether the first tolerates all that the second does."""
    if wide == narrow:
        return True
    if narrow.get("key", "") != wide.get("key", "") and (wide.get("key") or wide.get("operator") != "Exists"):
        return False
    if wide.get("effect") and narrow.get("effect", "") != wide["effect"]:
        return False
    seconds = wide.get("tolerationSeconds")
    if wide.get("effect") == "NoExecute" and seconds is not None:
        mine = narrow.get("tolerationSeconds")
        if mine is None or mine > seconds:
            return False
    match wide.get("operator") or "Equal":
        case "Equal":
            return narrow.get("operator") == "Equal" and narrow.get("value", "") == wide.get("value", "")
        case "Exists":
            return True
    return False
