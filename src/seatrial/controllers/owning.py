"""Owning pods: making one from a template, adopting and releasing by selector, choosing which to delete.

Upstream: pkg/controller/controller_utils.go, pkg/controller/controller_ref_manager.go (v1.36).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cmp_to_key
from typing import Any

from seatrial.controllers.controller import Context
from seatrial.controllers.pods import PodRow
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.model.labels import LabelSelector
from seatrial.store.objects import Stored

PHASE_ORDER = {"Pending": 0, "Unknown": 1, "Running": 2}


def controller_reference(kind: Kind, owner: Document) -> Document:
    """The ownerReference of what `owner` controls."""
    meta = owner["metadata"]
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(document: Document) -> Document | None:
    """The reference to the managing controller, if there is one."""
    references: list[Document] = document["metadata"].get("ownerReferences", [])
    return next((reference for reference in references if reference.get("controller")), None)


def pod_from_template(template: Document, kind: Kind, owner: Document) -> Document:
    """A pod of this template, named after and controlled by `owner`."""
    source: Document = template.get("metadata", {})
    meta: dict[str, Any] = {
        "generateName": f"{owner['metadata']['name']}-",
        "ownerReferences": [controller_reference(kind, owner)],
    }
    meta |= {key: source[key] for key in ("labels", "annotations", "finalizers") if source.get(key)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]}


class PodClaims:
    """Adopts orphans that match an owner's selector and releases pods that no longer do."""

    def __init__(self, context: Context, kind: Kind, writer: str) -> None:
        self._context = context
        self._kind = kind
        self._writer = writer
        self._pods = context.kind("v1", "Pod")

    def claim(self, owner: Document, selector: LabelSelector, orphans: Iterable[PodRow]) -> None:
        meta = owner["metadata"]
        if "deletionTimestamp" in meta:
            return
        for row in self._context.pods.owned_by(meta["uid"]).unlike(selector):
            self._release(row, meta["uid"])
        for row in orphans:
            if row.owner is None and row.is_active and selector.matches(row.labels):
                self._adopt(row, owner)

    def _adopt(self, row: PodRow, owner: Document) -> None:
        reference = controller_reference(self._kind, owner)
        self._change(row, lambda meta: meta.setdefault("ownerReferences", []).append(reference))

    def _release(self, row: PodRow, uid: str) -> None:
        def without_owner(meta: Document) -> None:
            kept = [reference for reference in meta.get("ownerReferences", []) if reference["uid"] != uid]
            meta["ownerReferences"] = kept
            if not kept:
                del meta["ownerReferences"]

        self._change(row, without_owner)

    def _change(self, row: PodRow, change: Any) -> None:
        self._context.store.modify(
            self._pods, row.name, lambda pod: change(pod["metadata"]), namespace=row.namespace, writer=self._writer
        )


def least_wanted(rows: Sequence[PodRow], related: Iterable[PodRow], now: int, count: int) -> list[PodRow]:
    """The `count` pods that a controller deletes first when it has too many."""
    if count >= len(rows):
        return list(rows)
    crowd = Counter(row.node for row in related if row.is_active)

    def compare(a: PodRow, b: PodRow) -> int:
        return _compare(a, b, crowd, now)

    return sorted(rows, key=cmp_to_key(compare))[:count]


def _compare(a: PodRow, b: PodRow, crowd: Counter[str], now: int) -> int:
    """Negative where `a` goes before `b`; the eight rules of ActivePodsWithRanks in their order."""
    if bool(a.node) != bool(b.node):
        return bool(a.node) - bool(b.node)
    for first, second in (
        (PHASE_ORDER.get(a.phase, 0), PHASE_ORDER.get(b.phase, 0)),
        (a.is_ready, b.is_ready),
        (a.deletion_cost, b.deletion_cost),
        (crowd[b.node], crowd[a.node]),
    ):
        if first != second:
            return -1 if first < second else 1
    if a.ready_since is not None and b.ready_since is not None and a.ready_since != b.ready_since:
        return _younger_first(a.ready_since, b.ready_since, now, a.uid, b.uid)
    if a.restarts != b.restarts:
        return b.restarts - a.restarts
    if a.created != b.created:
        return _younger_first(a.created, b.created, now, a.uid, b.uid)
    return 0


def _younger_first(first: int, second: int, now: int, first_uid: str, second_uid: str) -> int:
    """Ages are compared by their order of magnitude (base 2), then by uid, as LogarithmicScaleDown does."""
    rank = _magnitude(now - first) - _magnitude(now - second)
    if rank == 0:
        return -1 if first_uid < second_uid else 1
    return rank


def _magnitude(age: int) -> int:
    nanoseconds = age * 1000
    return math.floor(math.log2(nanoseconds)) if nanoseconds > 0 else -1


def delete_pod(context: Context, row: PodRow, writer: str) -> None:
    """Delete a pod that may be gone already."""
    try:
        context.store.delete(context.kind("v1", "Pod"), row.name, namespace=row.namespace, writer=writer)
    except NotFound:
        return


def set_status(context: Context, stored: Stored, status: Document, writer: str) -> None:
    """Write `.status` if it differs."""

    def change(document: Document) -> None:
        document["status"] = status

    context.store.modify(
        stored.kind, stored.name, change, namespace=stored.namespace, subresource="status", writer=writer
    )
