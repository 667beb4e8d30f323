"""Protection: a claim stays while a pod uses it, a volume while it is bound.

Upstream: pkg/controller/volume/pvcprotection, pvprotection (v1.36). Their finalizers come from admission.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.pod_row import PodRow
from seatrial.controllers.persistentvolume.annotations import CLAIM_PROTECTION, VOLUME_PROTECTION
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.store import Change
from seatrial.store.registry import drop_finalizer


class Protection(QueueController):
    """Keys are claims (namespace, name) and volumes ("", name)."""

    name: ClassVar[str] = "persistentvolume"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._volumes = context.kind("v1", "PersistentVolume")
        self._claims = context.kind("v1", "PersistentVolumeClaim")
        self._pods = context.kind("v1", "Pod")
        self._deleted: dict[Key, None] = {}

    def watches(self) -> Mapping[Kind, Listener]:
        return {self._claims: self._changed, self._volumes: self._changed}

    def owners(self) -> Iterable[Kind]:
        return [self._volumes, self._claims]

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.context.pods.listen(self._pod_changed, placement=False, needed=self._deleted))

    def stop(self) -> None:
        super().stop()
        self._deleted.clear()

    def sync(self, key: Key) -> None:
        kind, finalizer = (self._claims, CLAIM_PROTECTION) if key[0] else (self._volumes, VOLUME_PROTECTION)
        stored = self.store.find(kind, key[1], key[0])
        if stored is None:
            self._deleted.pop(key, None)
            return
        document = stored.document()
        has_it = finalizer in document["metadata"].get("finalizers", [])
        change: Callable[[Document], None] | None = None
        if "deletionTimestamp" not in document["metadata"]:
            if not has_it:
                change = _adding(finalizer)
        elif has_it:
            self._deleted[key] = None
            if not self._is_used(document):
                change = _dropping(finalizer)
        if change is not None:
            self.store.modify(kind, key[1], change, namespace=key[0], writer=self.name)

    def _is_used(self, document: Document) -> bool:
        meta = document["metadata"]
        if "namespace" not in meta:
            return bool(document.get("status", {}).get("phase") == "Bound")
        for row in self.context.pods.in_namespace(meta["namespace"]):
            if row.node and self._uses(row, meta["name"]):
                return True
        return False

    def _uses(self, row: PodRow, claim: str) -> bool:
        return claim in claims_of(self.store.get(self._pods, row.name, row.namespace).document())

    def _changed(self, change: Change) -> None:
        """Enqueue only what is being deleted or lacks its finalizer."""
        data = change.stored.data
        if b'"deletionTimestamp"' in data or b"-protection" not in data:
            self.enqueue((change.stored.namespace, change.stored.name))

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        if new is None:
            for key in self._deleted:
                self.enqueue(key)


def claims_of(pod: Document) -> set[str]:
    """The claims that a pod's volumes use, its own volumes' by their derived names."""
    names = set()
    for volume in pod["spec"].get("volumes", []):
        if "persistentVolumeClaim" in volume:
            names.add(volume["persistentVolumeClaim"]["claimName"])
        elif "ephemeral" in volume:
            names.add(f"{pod['metadata']['name']}-{volume['name']}")
    return names


def _adding(finalizer: str) -> Callable[[Document], None]:
    return lambda document: document["metadata"].setdefault("finalizers", []).append(finalizer)


def _dropping(finalizer: str) -> Callable[[Document], None]:
    return lambda document: drop_finalizer(document, finalizer)
