"""Pod control: creates pods from a template, adopts and releases them by selector, ranks them for deletion.

Upstream: pkg/controller/controller_utils.go, pkg/controller/controller_ref_manager.go (v1.36).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cmp_to_key
from typing import Any, ClassVar

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.metadata import drop_owners
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.controllers.framework.selectors import SelectorIndex
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound, StatusError
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.store import Change, OwnerReference, Stored
from seatrial.store.options import CreateOptions
from seatrial.store.registry import write_status

FROM_TEMPLATE = CreateOptions(trusted=True)
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


class PodOwner(QueueController):
    """A controller whose objects own pods: it adopts and releases them by selector and watches them."""

    owner: ClassVar[tuple[str, str]]
    follows_placement: ClassVar[bool] = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind(*self.owner)
        self.pods = context.kind("v1", "Pod")
        self.selectors = SelectorIndex(self.store, self.kind, self.selector)
        self._may_adopt: set[Key] = set()

    def selector(self, document: Document) -> LabelSelector:
        """The pod selector of an object."""
        return LabelSelector.from_document(document["spec"]["selector"])

    def can_adopt(self, key: Key, orphan: PodRow) -> bool:
        """Whether an orphan that the selector matches may be taken."""
        return orphan.is_active

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._owner_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def start(self) -> None:
        self.selectors.start()
        super().start()
        self._may_adopt.update(self._queue)
        follow = self.context.pods.listen
        self._unsubscribe.append(
            follow(self._pod_changed, placement=self.follows_placement, needed=self.selectors.by_namespace)
        )

    def stop(self) -> None:
        super().stop()
        self.selectors.stop()
        self._may_adopt.clear()

    def claim(self, owner: Document) -> None:
        """Adopt orphans that match the owner's selector and release pods that no longer do."""
        meta = owner["metadata"]
        key = meta["namespace"], meta["name"]
        selector = self.selectors.get(*key)
        if "deletionTimestamp" in meta or selector is None:
            return
        for row in self.context.pods.owned_by(meta["uid"]).unlike(selector):
            self._change_pod(row, lambda pod: self.release(pod, meta["uid"]))
        if key not in self._may_adopt:
            return
        self._may_adopt.discard(key)
        reference = controller_reference(self.kind, owner)
        for row in self.context.pods.orphans(key[0]):
            if selector.matches(row.labels) and self.can_adopt(key, row):
                self._change_pod(row, lambda pod: self.adopt(pod, reference))

    def adopt(self, pod: Document, reference: Document) -> None:
        """Make an orphan a pod of this controller's."""
        pod["metadata"].setdefault("ownerReferences", []).append(reference)

    def release(self, pod: Document, owner: str) -> None:
        """Make a pod of this controller's an orphan."""
        drop_owners(pod, {owner})

    def create_pod(self, pod: Document, namespace: str) -> None:
        """Create a pod from a template, which was checked when its owner came in."""
        owner: Document = {"metadata": (controller_of(pod) or {}) | {"namespace": namespace}}
        try:
            created = self.store.create(self.pods, pod, namespace=namespace, writer=self.name, options=FROM_TEMPLATE)
        except StatusError as refusal:
            if not is_terminating(refusal):
                self.record(self.kind, owner, "FailedCreate", f"Error creating: {refusal.message}", "Warning")
            raise
        self.record(self.kind, owner, "SuccessfulCreate", f"Created pod: {created.name}")

    def delete_pod(self, row: PodRow) -> None:
        """Delete a pod that may be gone already."""
        delete_pod(self.context, row, self.name)
        if row.owner is not None:
            owner: Document = {"metadata": {"name": row.owner.name, "uid": row.owner.uid, "namespace": row.namespace}}
            self.record(self.kind, owner, *self.deletion_event(row))

    def deletion_event(self, row: PodRow) -> tuple[str, str]:
        """The reason and the message of the event about the deletion of a pod."""
        return "SuccessfulDelete", f"Deleted pod: {row.name}"

    def rows(self, owner: Document) -> list[PodRow]:
        """The pods that an object owns, in order of arrival."""
        return list(self.context.pods.owned_by(owner["metadata"]["uid"]).rows.values())

    def _change_pod(self, row: PodRow, change: Callable[[Document], object]) -> None:
        def changed(pod: Document) -> None:
            change(pod)

        self.store.modify(self.pods, row.name, changed, namespace=row.namespace, writer=self.name)

    def _owner_changed(self, change: Change) -> None:
        self.selectors.changed(change)
        if change.subresource == "status" and change.writer == self.name:
            return
        key = change.stored.namespace, change.stored.name
        self._may_adopt.add(key)
        self.enqueue(key)

    def _is_ours(self, owner: OwnerReference) -> bool:
        """Whether an owner is of this controller's kind; other groups have a Job, too."""
        return owner.kind == self.kind.kind and owner.api_version.rpartition("/")[0] == self.kind.group

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        for row in (old, new):
            if row is not None and row.owner is not None and self._is_ours(row.owner):
                self.enqueue((row.namespace, row.owner.name))
        if new is not None and new.owner is None and (old is None or old.owner or old.labels != new.labels):
            for name in self.selectors.matching(new.namespace, new.labels):
                self._may_adopt.add((new.namespace, name))
                self.enqueue((new.namespace, name))


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


def is_terminating(refusal: StatusError) -> bool:
    """Whether a create was refused because its namespace is being deleted."""
    return any(cause.reason == "NamespaceTerminating" for cause in refusal.causes)


def set_status(context: Context, stored: Stored, status: Document, writer: str) -> None:
    """Set the status of an object, whatever else has changed in it; nothing where the object is gone."""
    current = context.store.find(stored.kind, stored.name, stored.namespace)
    if current is not None:
        write_status(context.store, current, status, writer)
