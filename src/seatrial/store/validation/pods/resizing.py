"""Resizing a running pod: only processor and memory, and never away altogether.

Upstream: ValidatePodResize of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid
from seatrial.store.registry.qos import quality_of_service
from seatrial.store.validation.pods.pod_annotations import MIRROR, NOWHERE
from seatrial.store.validation.quantities import COMPUTE

_ONLY = "only cpu and memory resources are mutable"


def resize_causes(pod: Document, old: Document, found: list[Cause]) -> list[Cause]:
    """Errors of a resize, in addition to those `found` in the spec."""
    if MIRROR in (old["metadata"].get("annotations") or {}):
        return [forbidden(NOWHERE, "static pods cannot be resized")]
    spec, before, status = pod.get("spec") or {}, old.get("spec") or {}, old.get("status") or {}
    if (before.get("os") or {}).get("name") == "windows":
        return [forbidden(NOWHERE, "windows pods cannot be resized")]
    if (status.get("qosClass") or quality_of_service(before)) != quality_of_service(spec):
        quality = (pod.get("status") or {}).get("qosClass", "")
        found.append(invalid("spec", quality, "Pod QOS Class may not change as a result of resizing"))
    running = [c for c in status.get("containerStatuses") or () if (c.get("state") or {}).get("running") is not None]
    if running and running[0].get("resources") is None:
        found.append(forbidden("spec", "Pod running on node without support for resize"))
    if _asks(spec) or _asks(before):
        found += _whole_pod(spec, before)
    if status.get("nodeAllocatableResourceClaimStatuses"):
        found.append(forbidden("spec", "pods with node allocatable resource claims cannot be resized"))
    if moved := list(_moved(spec, before)):
        return found + moved
    for key in ("initContainers", "containers"):
        for index, (new, earlier) in enumerate(_pairs(spec, before, key)):
            found += _removed(new, earlier, f"spec.{key}[{index}].resources", "resource")
    for new, earlier in _pairs(spec, before, "containers"):
        if _frozen(new, earlier) != _plain(earlier):
            found.append(forbidden("spec", _ONLY))
    for index, (new, earlier) in enumerate(_pairs(spec, before, "initContainers")):
        found += _init(new, earlier, f"spec.initContainers[{index}]")
    return found


def _pairs(spec: Document, old: Document, key: str) -> list[tuple[Document, Document]]:
    return list(zip(spec.get(key) or (), old.get(key) or (), strict=False))


def _asks(spec: Document) -> bool:
    resources = spec.get("resources") or {}
    return bool(resources.get("requests") or resources.get("limits"))


def _moved(spec: Document, old: Document) -> Iterator[Cause]:
    for key in ("containers", "initContainers"):
        if len(spec.get(key) or ()) != len(old.get(key) or ()):
            yield forbidden(f"spec.{key}", f"{key} may not be added or removed on resize")
            continue
        for index, (new, earlier) in enumerate(_pairs(spec, old, key)):
            if new.get("name") != earlier.get("name"):
                yield forbidden(f"spec.{key}[{index}].name", f"{key} may not be renamed or reordered on resize")


def _removed(new: Document, old: Document, path: str, what: str) -> Iterator[Cause]:
    now, before = new.get("resources") or {}, old.get("resources") or {}
    for key in ("requests", "limits"):
        if (before.get(key) or {}).keys() - (now.get(key) or {}).keys():
            yield forbidden(f"{path}.{key}", f"{what} {key} cannot be removed")


def _whole_pod(spec: Document, old: Document) -> Iterator[Cause]:
    if old.get("resources") is not None and spec.get("resources") is None:
        yield forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    if old.get("resources") is not None:
        yield from _removed(spec, old, "spec.resources", "pod-level resource")
    if _others(spec.get("resources")) != _others(old.get("resources")):
        yield forbidden("spec", "only cpu and memory resources are mutable at pod-level")


def _init(new: Document, old: Document, path: str) -> Iterator[Cause]:
    if _frozen(new, old) != _plain(old):
        yield forbidden(path, "only cpu and memory resources for init or sidecar containers are mutable")
    if new != old and new.get("restartPolicy") != "Always":
        for policy in new.get("resizePolicy") or ():
            if policy.get("restartPolicy") == "RestartContainer":
                why = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
                yield forbidden(path, why)


def _others(resources: Document | None) -> dict[str, Any]:
    """Resources other than cpu and memory."""
    given = resources or {}
    rest = {
        kind: {name: value for name, value in (given.get(kind) or {}).items() if name not in COMPUTE}
        for kind in ("requests", "limits")
    }
    return {**rest, "claims": given.get("claims") or []}


def _frozen(container: Document, old: Document) -> dict[str, Any]:
    """A container as it is compared: upstream forgets the claims of the new one, so that a claim forbids a resize."""
    return {**container, "resources": {**_others(container.get("resources")), "claims": []}}


def _plain(container: Document) -> dict[str, Any]:
    return {**container, "resources": _others(container.get("resources"))}
