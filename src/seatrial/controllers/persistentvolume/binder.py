"""Binds claims and volumes to each other, and keeps the phase of both.

Upstream: pkg/controller/volume/persistentvolume/pv_controller.go (v1.36).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.persistentvolume.annotations import (
    BETA_DEFAULT_CLASS,
    BETA_PROVISIONER,
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    DEFAULT_CLASS,
    IN_TREE,
    PROVISIONED_BY,
    PROVISIONER,
    SELECTED_NODE,
)
from seatrial.controllers.persistentvolume.matching import (
    best_volume,
    class_of,
    has_class,
    has_same_mode,
    is_claimed_by,
    satisfies,
)
from seatrial.controllers.persistentvolume.provisioning import claim_reference, new_volume
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.store import Change


class Binder(QueueController):
    """Keys are claims (namespace, name) and volumes ("", name)."""

    name: ClassVar[str] = "persistentvolume"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._volumes = context.kind("v1", "PersistentVolume")
        self._claims = context.kind("v1", "PersistentVolumeClaim")
        self._classes = context.kind("storage.k8s.io/v1", "StorageClass")
        self._nodes = context.kind("v1", "Node")

    def watches(self) -> Mapping[Kind, Listener]:
        return {
            self._claims: self._claim_changed,
            self._volumes: self._volume_changed,
            self._classes: lambda change: self._enqueue_unbound(),
        }

    def owners(self) -> Iterable[Kind]:
        return [self._volumes, self._claims]

    def sync(self, key: Key) -> None:
        stored = self.store.find(self._claims if key[0] else self._volumes, key[1], key[0])
        if stored is None:
            return
        if not key[0]:
            self._sync_volume(stored.document())
        elif BIND_COMPLETED in stored.document()["metadata"].get("annotations", {}):
            self._sync_bound(stored.document())
        else:
            self._sync_unbound(stored.document())

    # Claims.

    def _sync_bound(self, claim: Document) -> None:
        """A claim that was bound once stays bound, or becomes Lost."""
        name = claim["spec"].get("volumeName")
        stored = self.store.find(self._volumes, name) if name else None
        volume = stored.document() if stored is not None else None
        reference = volume["spec"].get("claimRef") if volume is not None else None
        if volume is not None and (reference is None or reference.get("uid") == claim["metadata"]["uid"]):
            self._bind(claim, volume)
        elif claim.get("status", {}).get("phase") != "Lost":
            self._set_claim_status(claim, "Lost", None)

    def _sync_unbound(self, claim: Document) -> None:
        if claim["spec"].get("volumeName"):
            self._take_named(claim, claim["spec"]["volumeName"])
            return
        is_delayed = self._waits_for_consumer(claim)
        volumes = [stored.document() for stored in self.store.list(self._volumes)]
        volume = best_volume(claim, volumes, delayed=is_delayed)
        if volume is not None:
            self._bind(claim, volume)
        elif not has_class(claim) and (default := self._default_class()) is not None:
            self._modify(claim, lambda document: document["spec"].update(storageClassName=default))
        elif class_of(claim) and not (is_delayed and SELECTED_NODE not in claim["metadata"].get("annotations", {})):
            self._provision(claim)
        else:
            self._set_claim_status(claim, "Pending", None)

    def _take_named(self, claim: Document, name: str) -> None:
        """Bind a claim to the volume that the user or the scheduler has chosen."""
        stored = self.store.find(self._volumes, name)
        volume = stored.document() if stored is not None else None
        if volume is not None and (
            satisfies(claim, volume) if "claimRef" not in volume["spec"] else is_claimed_by(volume, claim)
        ):
            self._bind(claim, volume)
        else:
            self._set_claim_status(claim, "Pending", None)

    def _bind(self, claim: Document, volume: Document) -> None:
        """Set the reference and the phase in both the volume and the claim."""
        name, reference = volume["metadata"]["name"], claim_reference(claim)

        def claim_volume(document: Document) -> None:
            present = document["spec"].get("claimRef")
            if present is None:
                document["metadata"].setdefault("annotations", {})[BOUND_BY_CONTROLLER] = "yes"
            if present is None or present.get("uid") != reference["uid"]:
                document["spec"]["claimRef"] = reference

        def point_at_volume(document: Document) -> None:
            annotations = document["metadata"].setdefault("annotations", {})
            if document["spec"].get("volumeName") != name:
                document["spec"]["volumeName"] = name
                annotations.setdefault(BOUND_BY_CONTROLLER, "yes")
            annotations.setdefault(BIND_COMPLETED, "yes")

        self._modify(volume, claim_volume)
        self._set_phase(volume, "Bound")
        self._modify(claim, point_at_volume)
        self._set_claim_status(claim, "Bound", volume)

    def _waits_for_consumer(self, claim: Document) -> bool:
        found = self._class(claim)
        return found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"

    def _class(self, claim: Document) -> Document | None:
        name = class_of(claim)
        stored = self.store.find(self._classes, name) if name else None
        return stored.document() if stored is not None else None

    def _default_class(self) -> str | None:
        """The youngest class that is marked as the default one."""
        marked = []
        for stored in self.store.list(self._classes):
            meta = stored.document()["metadata"]
            annotations = meta.get("annotations", {})
            if "true" in (annotations.get(DEFAULT_CLASS), annotations.get(BETA_DEFAULT_CLASS)):
                marked.append((meta["creationTimestamp"], stored.name))
        youngest = max((created for created, _ in marked), default="")
        return min((name for created, name in marked if created == youngest), default=None)

    def _provision(self, claim: Document) -> None:
        found = self._class(claim)
        if found is None or found["provisioner"].startswith(IN_TREE):
            return
        provisioner = found["provisioner"]

        def note_provisioner(document: Document) -> None:
            notes = {BETA_PROVISIONER: provisioner, PROVISIONER: provisioner}
            document["metadata"].setdefault("annotations", {}).update(notes)

        self._modify(claim, note_provisioner)
        chosen = claim["metadata"].get("annotations", {}).get(SELECTED_NODE)
        node = self.store.find(self._nodes, chosen) if chosen else None
        volume = new_volume(claim, found, node.document() if node is not None else None)
        if self.store.find(self._volumes, volume["metadata"]["name"]) is None:
            self.store.create(self._volumes, volume, writer=self.name)

    # Volumes.

    def _sync_volume(self, volume: Document) -> None:
        meta, reference = volume["metadata"], volume["spec"].get("claimRef")
        if reference is None or not reference.get("uid"):
            self._set_phase(volume, "Available")
            return
        stored = self.store.find(self._claims, reference["name"], reference["namespace"])
        claim = stored.document() if stored is not None else None
        if claim is None or claim["metadata"]["uid"] != reference["uid"]:
            self._reclaim(volume)
        elif not claim["spec"].get("volumeName"):
            if has_same_mode(claim, volume):
                self.enqueue((reference["namespace"], reference["name"]))
        elif claim["spec"]["volumeName"] == meta["name"]:
            self._set_phase(volume, "Bound")
        elif PROVISIONED_BY in meta.get("annotations", {}) and _policy(volume) == "Delete":
            self._reclaim(volume)
        else:
            self._unbind(volume)

    def _reclaim(self, volume: Document) -> None:
        """Apply the reclaim policy once the claim is gone: delete the volume, recycle it, or retain it as Released."""
        if volume.get("status", {}).get("phase") != "Failed":
            self._set_phase(volume, "Released")
        if _policy(volume) == "Delete" and "deletionTimestamp" not in volume["metadata"]:
            self.store.delete(self._volumes, volume["metadata"]["name"], writer=self.name)
        elif _policy(volume) == "Recycle":
            self._unbind(volume)

    def _unbind(self, volume: Document) -> None:
        def change(document: Document) -> None:
            annotations = document["metadata"].get("annotations", {})
            if annotations.pop(BOUND_BY_CONTROLLER, None) is None:
                document["spec"]["claimRef"].pop("uid", None)
            else:
                del document["spec"]["claimRef"]
            if not annotations:
                document["metadata"].pop("annotations", None)

        self._modify(volume, change)
        self._set_phase(volume, "Available")

    # Writing.

    def _modify(self, document: Document, change: Callable[[Document], None]) -> None:
        meta, kind = document["metadata"], self._claims if "namespace" in document["metadata"] else self._volumes
        self.store.modify(kind, meta["name"], change, namespace=meta.get("namespace", ""), writer=self.name)

    def _set_phase(self, volume: Document, phase: str) -> None:
        def change(document: Document) -> None:
            status = document.setdefault("status", {})
            if status.get("phase") != phase:
                status["phase"] = phase
                status.pop("message", None)

        name = volume["metadata"]["name"]
        self.store.modify(self._volumes, name, change, subresource="status", writer=self.name)

    def _set_claim_status(self, claim: Document, phase: str, volume: Document | None) -> None:
        meta = claim["metadata"]

        def change(document: Document) -> None:
            status = document.setdefault("status", {})
            if volume is None:
                for field in ("accessModes", "capacity", "currentVolumeAttributesClassName"):
                    status.pop(field, None)
            else:
                status["accessModes"] = volume["spec"].get("accessModes", [])
                if status.get("phase") != phase:
                    status["capacity"] = volume["spec"].get("capacity", {})
                    if volume["spec"].get("volumeAttributesClassName"):
                        status["currentVolumeAttributesClassName"] = volume["spec"]["volumeAttributesClassName"]
            status["phase"] = phase

        self.store.modify(
            self._claims, meta["name"], change, namespace=meta["namespace"], subresource="status", writer=self.name
        )

    # Event handlers.

    def _claim_changed(self, change: Change) -> None:
        self.enqueue((change.stored.namespace, change.stored.name))
        volume = change.stored.document()["spec"].get("volumeName")
        if volume:
            self.enqueue(("", volume))

    def _volume_changed(self, change: Change) -> None:
        self.enqueue(("", change.stored.name))
        reference = change.stored.document()["spec"].get("claimRef")
        if reference is not None:
            self.enqueue((reference["namespace"], reference["name"]))
        elif change.type != "DELETED":
            self._enqueue_unbound()

    def _enqueue_unbound(self) -> None:
        for stored in self.store.list(self._claims):
            if not stored.document()["spec"].get("volumeName"):
                self.enqueue((stored.namespace, stored.name))


def _policy(volume: Document) -> str:
    policy: str = volume["spec"].get("persistentVolumeReclaimPolicy", "Retain")
    return policy
