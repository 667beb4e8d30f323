"""Garbage collection by owner references: background, foreground and orphan deletion.

Upstream: pkg/controller/garbagecollector (v1.36). Background: dependents of an owner that is gone are deleted.
Foreground: the owner waits behind a finalizer until the dependents that block it are gone. Orphan: references to the
owner are taken away, then its finalizer. Owners that a snapshot left out count as present.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

import msgspec

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.metadata import drop_owners
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.store import Change, OwnerReference, Stored, View
from seatrial.store.options import DeleteOptions
from seatrial.store.registry import drop_finalizer
from seatrial.store.snapshots import ABSENT_OWNERS

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
WITHOUT_OWNERS = frozenset({"status", "binding"})
"""Writes through these change neither owners nor finalizers."""
IGNORED = frozenset({("", "Event"), ("events.k8s.io", "Event")})
"""Kinds that are not followed, as upstream: ignoredResources in graph_builder.go."""


class Annotations(msgspec.Struct):
    """The annotation of objects whose owners a snapshot left out."""

    absent: str = msgspec.field(default="", name=ABSENT_OWNERS)


class Meta(msgspec.Struct, rename="camel"):
    annotations: Annotations | None = None
    owner_references: list[OwnerReference] = []
    finalizers: list[str] = []
    deletion_timestamp: str | None = None


PLAIN = Meta()
"""Of objects without owners and finalizers, which most are: they only have to be known to exist."""


class Owned(msgspec.Struct):
    metadata: Meta


_OWNED = View(Owned, lambda seen: seen.metadata)
Place = tuple[Kind, str, str]
"""Kind, namespace and name."""


class GarbageCollector(QueueController):
    """Follows owner references of all kinds; its keys are ("", uid)."""

    name: ClassVar[str] = "garbagecollector"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._places: dict[str, Place] = {}
        self._metas: dict[str, Meta] = {}
        self._dependents: dict[str, dict[str, None]] = {}

    def watches(self) -> Mapping[Kind, Listener]:
        return {}

    def owners(self) -> Iterable[Kind]:
        return ()

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.store.subscribe(self._changed, without=WITHOUT_OWNERS))
        for kind in _stored_once(self.store.kinds):
            for stored in self.store.list(kind):
                self._learn(stored)

    def stop(self) -> None:
        super().stop()
        self._places.clear()
        self._metas.clear()
        self._dependents.clear()

    def sync(self, key: Key) -> None:
        uid = key[1]
        meta = self._metas.get(uid)
        if meta is None:
            return
        if meta.deletion_timestamp is not None and ORPHAN in meta.finalizers:
            self._set_free(uid)
        elif meta.deletion_timestamp is not None and FOREGROUND in meta.finalizers:
            self._clear_the_way(uid)
        elif meta.deletion_timestamp is None and meta.owner_references:
            self._attempt_to_delete(uid, meta)

    def _attempt_to_delete(self, uid: str, meta: Meta) -> None:
        """Delete an object whose owners are all gone, or waiting for it; drop references to some that are gone."""
        kind, namespace, name = self._places[uid]
        excused = meta.annotations.absent.split(",") if meta.annotations is not None else []
        absent = [ref for ref in meta.owner_references if not self._exists(ref) and ref.uid not in excused]
        waiting = [ref for ref in meta.owner_references if self._waits(ref)]
        if len(absent) + len(waiting) < len(meta.owner_references):
            if absent or waiting:
                self._drop_references(uid, {ref.uid for ref in [*absent, *waiting]})
            return
        dependents = self._dependents.get(uid)
        if waiting and dependents and any(self._is_waiting(self._metas[dependent]) for dependent in dependents):
            self._modify(uid, _unblock)  # a circle of owners: each would wait for the next one for ever
        policy = "Foreground" if waiting and dependents else ""
        if not policy and FOREGROUND in meta.finalizers:
            policy = "Foreground"
        options = DeleteOptions(propagation_policy="Foreground" if policy else "Background", preconditions_uid=uid)
        try:
            self.store.delete(kind, name, namespace=namespace, writer=self.name, options=options)
        except NotFound:
            return

    def _clear_the_way(self, uid: str) -> None:
        blocking = [
            dependent
            for dependent in self._dependents.get(uid, {})
            if any(ref.uid == uid and ref.block_owner_deletion for ref in self._metas[dependent].owner_references)
        ]
        for dependent in list(self._dependents.get(uid, {})):
            self.enqueue(("", dependent))
        if not blocking:
            self._drop_finalizer(uid, FOREGROUND)

    def _set_free(self, uid: str) -> None:
        for dependent in list(self._dependents.get(uid, {})):
            self._drop_references(dependent, {uid})
        self._drop_finalizer(uid, ORPHAN)

    def _drop_references(self, uid: str, owners: set[str]) -> None:
        self._modify(uid, lambda document: drop_owners(document, owners))

    def _drop_finalizer(self, uid: str, finalizer: str) -> None:
        self._modify(uid, lambda document: drop_finalizer(document, finalizer))

    def _modify(self, uid: str, change: Callable[[Document], None]) -> None:
        kind, namespace, name = self._places[uid]
        try:
            self.store.modify(kind, name, change, namespace=namespace, writer=self.name)
        except NotFound:
            return

    def _exists(self, reference: OwnerReference) -> bool:
        return reference.uid in self._metas or (reference.kind == "Event" and self._is_event(reference.uid))

    def _is_event(self, uid: str) -> bool:
        """Whether there is such an Event: an owner that is not followed is looked up, as upstream."""
        events = self.store.kinds.served("v1", "Event")
        return any(stored.uid == uid for stored in self.store.list(events))

    def _waits(self, reference: OwnerReference) -> bool:
        owner = self._metas.get(reference.uid)
        return owner is not None and self._is_waiting(owner)

    def _is_waiting(self, meta: Meta) -> bool:
        """Whether an object waits for the deletion of its dependents."""
        return meta.deletion_timestamp is not None and FOREGROUND in meta.finalizers

    def _changed(self, change: Change) -> None:
        if change.stored.kind.group_kind in IGNORED:
            return
        if change.type == "DELETED":
            self._forget(change.stored)
        else:
            self._learn(change.stored)

    def _learn(self, stored: Stored) -> None:
        uid, meta = stored.uid, _OWNED.read(stored)
        before = self._metas.get(uid)
        if before is None and not meta.owner_references and not meta.finalizers:
            self._metas[uid] = PLAIN
            return
        if before is not None and before.owner_references != meta.owner_references:
            self._unlink(uid, before)
            for reference in before.owner_references:  # one that does not block any more may have been the last
                if reference.uid in self._metas:
                    self.enqueue(("", reference.uid))
        if meta.owner_references or meta.finalizers:
            self._metas[uid] = meta
            self._places[uid] = stored.kind, stored.namespace, stored.name
        else:
            self._metas[uid] = PLAIN
            self._places.pop(uid, None)
        for reference in meta.owner_references:
            self._dependents.setdefault(reference.uid, {})[uid] = None
        is_orphaned = any(not self._exists(reference) for reference in meta.owner_references)
        has_finalizer = FOREGROUND in meta.finalizers or ORPHAN in meta.finalizers
        if is_orphaned or (meta.deletion_timestamp is not None and has_finalizer):
            self.enqueue(("", uid))

    def _forget(self, stored: Stored) -> None:
        uid = stored.uid
        meta = self._metas.pop(uid, None)
        self._places.pop(uid, None)
        if meta is not None:
            self._unlink(uid, meta)
            for reference in meta.owner_references:
                self.enqueue(("", reference.uid))
        for dependent in self._dependents.get(uid, {}):
            self.enqueue(("", dependent))

    def _unlink(self, uid: str, meta: Meta) -> None:
        for reference in meta.owner_references:
            dependents = self._dependents.get(reference.uid, {})
            dependents.pop(uid, None)
            if not dependents:
                self._dependents.pop(reference.uid, None)


def _unblock(document: Document) -> None:
    """Let the owners of an object go before it."""
    for reference in document["metadata"].get("ownerReferences", []):
        if reference.get("blockOwnerDeletion"):
            reference["blockOwnerDeletion"] = False


def _stored_once(kinds: Iterable[Kind]) -> list[Kind]:
    """One version of each kind that can be listed and is followed."""
    chosen: dict[tuple[str, str], Kind] = {}
    for kind in kinds:
        if "list" in kind.verbs and kind.group_kind not in IGNORED:
            chosen.setdefault(kind.group_kind, kind)
    return list(chosen.values())
