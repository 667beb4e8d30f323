"""Generic ephemeral volumes: creates a claim owned by the pod for each of them.

Upstream: pkg/controller/volume/ephemeral (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import msgspec

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.controllers.framework.pod_control import controller_reference
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.store import Change, Stored, View


class _Volume(msgspec.Struct):
    ephemeral: Any = None


class _Spec(msgspec.Struct):
    volumes: list[_Volume] = []


class _Pod(msgspec.Struct):
    spec: _Spec


_HAS_EPHEMERAL = View(_Pod, lambda pod: any(volume.ephemeral for volume in pod.spec.volumes))


class EphemeralClaims(QueueController):
    """Creates claims for ephemeral volumes; its keys are pods."""

    name: ClassVar[str] = "persistentvolume"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._pods = context.kind("v1", "Pod")
        self._claims = context.kind("v1", "PersistentVolumeClaim")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self._claims: self._claim_changed}

    def owners(self) -> Iterable[Kind]:
        return ()

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.store.subscribe(self._pod_created, [self._pods], types=["ADDED"]))
        for stored in self.store.list(self._pods):
            self._enqueue(stored)

    def sync(self, key: Key) -> None:
        stored = self.store.find(self._pods, key[1], key[0])
        if stored is None or "deletionTimestamp" in stored.document()["metadata"]:
            return
        pod = stored.document()
        for volume in pod["spec"].get("volumes", []):
            name = f"{key[1]}-{volume['name']}"
            if "ephemeral" in volume and self.store.find(self._claims, name, key[0]) is None:
                claim = _claim(name, volume["ephemeral"]["volumeClaimTemplate"], controller_reference(self._pods, pod))
                self.store.create(self._claims, claim, namespace=key[0], writer=self.name)

    def _enqueue(self, stored: Stored) -> None:
        if _HAS_EPHEMERAL.read(stored):
            self.enqueue((stored.namespace, stored.name))

    def _pod_created(self, change: Change) -> None:
        self._enqueue(change.stored)

    def _claim_changed(self, change: Change) -> None:
        """Enqueue the pod of a deleted claim, so that the claim is created again."""
        if change.type == "DELETED":
            owners = change.stored.document()["metadata"].get("ownerReferences", [])
            for owner in owners:
                if owner["kind"] == "Pod":
                    self.enqueue((change.stored.namespace, owner["name"]))


def _claim(name: str, template: Document, owner: Document) -> Document:
    meta: Document = {"name": name, "ownerReferences": [owner]}
    source = template.get("metadata", {})
    meta |= {key: source[key] for key in ("annotations", "labels") if source.get(key)}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": template["spec"]}
