"""The scale subresource: any kind with replicas, seen as one autoscaling/v1 Scale.

Upstream: the ScaleREST of pkg/registry/apps, and apiextensions-apiserver/pkg/registry/customresource/etcd.go.
"""

from dataclasses import dataclass
from typing import Any

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, Cause, Invalid, NotFound
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.store.metadata import conflict

SCALE = Kind("autoscaling", "v1", "Scale", "scales", verbs=())
MOST_REPLICAS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """The JSON paths of a kind's replicas and selector."""

    replicas: tuple[str, ...] = ("spec", "replicas")
    status: tuple[str, ...] = ("status", "replicas")
    selector: tuple[str, ...] = ("spec", "selector")


_BUILT_IN = ScalePaths()


def scale_of(document: Document, paths: ScalePaths | None = None) -> Document:
    """The Scale of an object."""
    metadata = document["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Document = {"replicas": _at(document, (paths or _BUILT_IN).status) or 0}
    selector = _selector_text(document, paths)
    if selector:
        status["selector"] = selector
    replicas = _at(document, (paths or _BUILT_IN).replicas)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: metadata[key] for key in kept if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def apply_scale(kind: Kind, document: Document, scale: Document, paths: ScalePaths | None = None) -> None:
    """Set the replicas of a Scale, in place."""
    name, asked = document["metadata"]["name"], scale.get("metadata") or {}
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    if isinstance(replicas, bool) or not isinstance(replicas, int) or replicas > MOST_REPLICAS:
        raise BadRequest('Scale in version "v1" cannot be handled as a Scale: spec.replicas: expected an int32')
    if replicas < 0:
        cause = Cause("spec.replicas", f"Invalid value: {replicas}: must be greater than or equal to 0")
        text = f'Scale.autoscaling "{name}" is invalid: {cause.field}: {cause.message}'
        raise Invalid(text, group="autoscaling", kind="Scale", name=name, causes=[cause])
    uid = asked.get("uid")
    if uid and uid != document["metadata"]["uid"]:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {document['metadata']['uid']}"
        raise conflict(kind, name, why, "scale")
    revision = asked.get("resourceVersion")
    if revision and revision != document["metadata"]["resourceVersion"]:
        raise conflict(kind, name)
    *parents, last = (paths or _BUILT_IN).replicas
    for key in parents:
        document = document.setdefault(key, {})
    document[last] = replicas


def check_scalable(kind: Kind) -> None:
    """NotFound for a kind that has no scale."""
    if "scale" not in kind.subresources:
        raise NotFound("the server could not find the requested resource")


def _selector_text(document: Document, paths: ScalePaths | None) -> str:
    selector = _at(document, (paths or _BUILT_IN).selector) if (paths or _BUILT_IN).selector else None
    if isinstance(selector, str):
        return selector
    if not isinstance(selector, dict) or not selector:
        return ""
    if document["kind"] == "ReplicationController":
        selector = {"matchLabels": selector}
    return str(LabelSelector.from_document(selector))


def _at(document: Document, path: tuple[str, ...]) -> Any:
    value: Any = document
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
