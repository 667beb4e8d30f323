"""Binding a pod to a node, as the pods/binding subresource does it.

Upstream: pkg/registry/core/pod/storage/storage.go (BindingREST).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict, Unpack

import orjson

from seatrial.model.documents import Document, encode_to_keep
from seatrial.model.errors import BadRequest
from seatrial.model.kinds import Kind
from seatrial.model.times import to_time
from seatrial.store.metadata import conflict
from seatrial.store.objects import Facets, Stored

if TYPE_CHECKING:
    from seatrial.store.registry.templates import Splice
    from seatrial.store.store import Store


END_OF_SPEC = b'},"status":'
_UID_ONLY = frozenset(("uid",))


class BindingOptions(TypedDict, total=False):
    """The other fields of a Binding: preconditions, and metadata that is copied to the pod."""

    annotations: Mapping[str, str] | None
    labels: Mapping[str, str] | None
    uid: str
    revision: str
    dry_run: bool


def bind(
    store: "Store",
    current: Stored,
    node: str,
    *,
    writer: str,
    **more: Unpack[BindingOptions],
) -> Stored:
    """Assign a pod to a node and set its PodScheduled condition."""
    facets = current.facets
    if facets is not None and _is_plain(facets, node, more):
        change = store.templates.relabelling(current, facets, store.admission.binding_labels(store, node))
        if change is not None:
            return _spliced(store, current, facets, change, node, writer)
    kind, document = current.kind, current.document()
    metadata, spec = document["metadata"], document["spec"]
    if not node:
        raise BadRequest("name is required")
    _check(kind, metadata, spec, more.get("uid", ""), more.get("revision", ""))
    spec["nodeName"] = node
    if annotations := more.get("annotations"):
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
    if labels := {**store.admission.binding_labels(store, node), **(more.get("labels") or {})}:
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    document.setdefault("status", {}).pop("nominatedNodeName", None)
    set_scheduled(document, store.clock.now())
    if more.get("dry_run"):
        return store.unsaved(kind, document)
    return store.put(kind, document, current, writer=writer, subresource="binding")


def _is_plain(facets: Facets, node: str, more: BindingOptions) -> bool:
    """Whether a binding changes nothing but node, status and labels of the node, of a pod that may be bound."""
    if not node or facets.node or more.get("uid", "") not in ("", facets.uid):
        return False
    return more.keys() <= _UID_ONLY or not any(more.get(key) for key in more.keys() - _UID_ONLY)


def _spliced(store: "Store", current: Stored, facets: Facets, labels: "Splice", node: str, writer: str) -> Stored:
    """The binding put into the encoded pod: nodeName becomes the last field of the spec."""
    status = store.views.once(_bound_status, facets.status, store.clock.now())
    data, old = current.data, b'"resourceVersion":"%d"' % current.revision
    place = data.index(old)
    # The spec is followed by the status, and neither of them has been written by others.
    rest = data[place + len(old) : -len(facets.status) - len(END_OF_SPEC) - 1]

    def made(revision: int) -> tuple[bytes]:
        begin = data[:place], b'"resourceVersion":"%d"' % revision, rest
        whole = b"".join((*begin, b',"nodeName":', orjson.dumps(node), END_OF_SPEC, status, b"}"))
        return (whole.replace(labels.old, labels.new, 1),)

    bound = Facets(labels.shape, facets.uid, status, node)
    return store.write_pieces(current, made, writer=writer, subresource="binding", facets=bound)


def _bound_status(encoded: bytes, now: int) -> bytes:
    document: Document = {"status": orjson.loads(encoded)}
    document["status"].pop("nominatedNodeName", None)
    set_scheduled(document, now)
    return encode_to_keep(document["status"])


def set_scheduled(document: Document, now: int) -> None:
    """The condition PodScheduled becomes True; its transition time moves only if it was not."""
    status = document.setdefault("status", {})
    conditions = status.setdefault("conditions", [])
    fresh = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": to_time(now)}
    for index, condition in enumerate(conditions):
        if condition.get("type") == "PodScheduled":
            if condition.get("status") == "True":
                fresh["lastTransitionTime"] = condition.get("lastTransitionTime")
            conditions[index] = fresh
            return
    conditions.append(fresh)


def _check(kind: Kind, metadata: Document, spec: Document, uid: str, revision: str) -> None:
    name = metadata["name"]
    if uid and uid != metadata["uid"]:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {metadata['uid']}"
        raise conflict(kind, name, why)
    if revision and revision != metadata["resourceVersion"]:
        why = (
            f"Precondition failed: ResourceVersion in precondition: {revision}, "
            f"ResourceVersion in object meta: {metadata['resourceVersion']}"
        )
        raise conflict(kind, name, why)
    if "deletionTimestamp" in metadata:
        raise conflict(kind, name, f"pod {name} is being deleted, cannot be assigned to a host", "binding")
    if spec.get("nodeName"):
        raise conflict(kind, name, f'pod {name} is already assigned to node "{spec["nodeName"]}"', "binding")
    if spec.get("schedulingGates"):
        raise conflict(kind, name, f"pod {name} has non-empty .spec.schedulingGates", "binding")
