"""PersistentVolumes and claims: bound to each other, provisioned where a class says so, released and reclaimed.

Upstream: pkg/controller/volume/persistentvolume, pvprotection, pvcprotection (v1.36). Provisioning, which a CSI driver
does in a real cluster, happens here at once: the volume fits the claim and, where the claim waited for its first
consumer, is tied to the zone (without a zone: the host) of the chosen node.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.controller import Context, Key, Listener, QueueController
from seatrial.controllers.pods import PodRow
from seatrial.model.documents import Document
from seatrial.model.errors import NotFound
from seatrial.model.kinds import Kind
from seatrial.model.labels import LabelSelector
from seatrial.model.quantity import quantity_value
from seatrial.store.objects import Change, Stored

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
CLAIM_PROTECTION = "kubernetes.io/pvc-protection"
VOLUME_PROTECTION = "kubernetes.io/pv-protection"
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


class PersistentVolume(QueueController):
    """Keys are claims (namespace, name) and volumes ("", name)."""

    name: ClassVar[str] = "persistentvolume"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._volumes = context.kind("v1", "PersistentVolume")
        self._claims = context.kind("v1", "PersistentVolumeClaim")
        self._classes = context.kind("storage.k8s.io/v1", "StorageClass")
        self._nodes = context.kind("v1", "Node")
        self._pods = context.kind("v1", "Pod")

    def watches(self) -> Mapping[Kind, Listener]:
        return {
            self._claims: self._claim_changed,
            self._volumes: self._volume_changed,
            self._classes: self._class_changed,
        }

    def owners(self) -> Iterable[Kind]:
        return [self._volumes, self._claims]

    def start(self) -> None:
        super().start()
        self._unsubscribe.append(self.context.pods.listen(self._pod_changed))

    def sync(self, key: Key) -> None:
        if key[0]:
            stored = self.store.find(self._claims, key[1], key[0])
            if stored is not None:
                self._sync_claim(stored.document())
        else:
            stored = self.store.find(self._volumes, key[1])
            if stored is not None:
                self._sync_volume(stored.document())

    # Claims.

    def _sync_claim(self, claim: Document) -> None:
        meta, spec = claim["metadata"], claim["spec"]
        if "deletionTimestamp" in meta:
            self._let_go(claim)
            return
        if spec.get("volumeName"):
            self._finish_binding(claim, spec["volumeName"])
            return
        volume = self._best_volume(claim)
        if volume is not None and (not self._waits_for_consumer(claim) or _is_claimed_by(volume, claim)):
            self._bind(claim, volume)
        elif self._waits_for_consumer(claim):
            self._set_claim_status(claim, {"phase": "Pending"})
        else:
            self._provision(claim)

    def _finish_binding(self, claim: Document, name: str) -> None:
        stored = self.store.find(self._volumes, name)
        if stored is None:
            phase = "Lost" if BIND_COMPLETED in claim["metadata"].get("annotations", {}) else "Pending"
            self._set_claim_status(claim, {"phase": phase})
            return
        volume = stored.document()
        if "claimRef" not in volume["spec"] or _is_claimed_by(volume, claim):
            self._bind(claim, volume)
        else:
            self._set_claim_status(claim, {"phase": "Pending"})

    def _bind(self, claim: Document, volume: Document) -> None:
        """Point the volume at the claim and the claim at the volume, and say so in both."""
        meta, name = claim["metadata"], volume["metadata"]["name"]
        reference = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
            "resourceVersion": meta["resourceVersion"],
        }
        if not volume["spec"].get("claimRef", {}).get("uid"):

            def claim_volume(document: Document) -> None:
                if "claimRef" not in document["spec"]:
                    document["metadata"].setdefault("annotations", {})[BOUND_BY_CONTROLLER] = "yes"
                document["spec"]["claimRef"] = document["spec"].get("claimRef", {}) | reference

            self.store.modify(self._volumes, name, claim_volume, writer=self.name)

        def point_at_volume(document: Document) -> None:
            annotations = document["metadata"].setdefault("annotations", {})
            if not document["spec"].get("volumeName"):
                document["spec"]["volumeName"] = name
                annotations[BOUND_BY_CONTROLLER] = "yes"
            annotations[BIND_COMPLETED] = "yes"

        self._modify_claim(claim, point_at_volume)
        status = {
            "phase": "Bound",
            "accessModes": volume["spec"].get("accessModes", []),
            "capacity": {"storage": volume["spec"].get("capacity", {}).get("storage", "0")},
        }
        self._set_claim_status(claim, status)

    def _best_volume(self, claim: Document) -> Document | None:
        """The volume that is meant for the claim, else the smallest one that fits."""
        fitting = []
        for stored in self.store.list(self._volumes):
            volume = stored.document()
            if "deletionTimestamp" in volume["metadata"]:
                continue
            if _is_claimed_by(volume, claim):
                return volume
            if "claimRef" not in volume["spec"] and volume.get("status", {}).get("phase") == "Available":
                fitting.append(volume)
        fitting = [volume for volume in fitting if fits(claim, volume)]
        return min(fitting, key=lambda volume: (_size(volume), volume["metadata"]["name"]), default=None)

    def _waits_for_consumer(self, claim: Document) -> bool:
        found = self._class_of(claim)
        annotations = claim["metadata"].get("annotations", {})
        return (
            found is not None
            and found.get("volumeBindingMode") == "WaitForFirstConsumer"
            and (SELECTED_NODE not in annotations)
        )

    def _class_of(self, claim: Document) -> Document | None:
        name = claim["spec"].get("storageClassName")
        stored = self.store.find(self._classes, name) if name else None
        return stored.document() if stored is not None else None

    def _let_go(self, claim: Document) -> None:
        """A deleted claim waits for the pods that use it."""
        meta = claim["metadata"]
        used = any(
            meta["name"] in _claim_names(self.store.get(self._pods, row.name, row.namespace).document())
            for row in self.context.pods.in_namespace(meta["namespace"])
            if row.phase not in ("Succeeded", "Failed")
        )
        if not used:
            self._modify_claim(claim, lambda document: _drop_finalizer(document, CLAIM_PROTECTION))

    # Provisioning.

    def _provision(self, claim: Document) -> None:
        found = self._class_of(claim)
        if found is None or found["provisioner"] == NO_PROVISIONER:
            self._set_claim_status(claim, {"phase": "Pending"})
            return
        provisioner = found["provisioner"]

        def note_provisioner(document: Document) -> None:
            notes = {BETA_PROVISIONER: provisioner, PROVISIONER: provisioner}
            document["metadata"].setdefault("annotations", {}).update(notes)

        self._modify_claim(claim, note_provisioner)
        meta = claim["metadata"]
        name = f"pvc-{meta['uid']}"
        if self.store.find(self._volumes, name) is None:
            self.store.create(self._volumes, self._new_volume(name, claim, found), writer=self.name)
        self.enqueue((meta["namespace"], meta["name"]))

    def _new_volume(self, name: str, claim: Document, found: Document) -> Document:
        meta, spec = claim["metadata"], claim["spec"]
        volume_spec: Document = {
            "capacity": {"storage": spec.get("resources", {}).get("requests", {}).get("storage", "0")},
            "accessModes": spec.get("accessModes", []),
            "persistentVolumeReclaimPolicy": found.get("reclaimPolicy", "Delete"),
            "storageClassName": found["metadata"]["name"],
            "volumeMode": spec.get("volumeMode", "Filesystem"),
            "csi": {"driver": found["provisioner"], "volumeHandle": name},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": meta["namespace"],
                "name": meta["name"],
                "uid": meta["uid"],
            },
        }
        affinity = self._node_affinity(meta.get("annotations", {}).get(SELECTED_NODE))
        if affinity is not None:
            volume_spec["nodeAffinity"] = affinity
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {
                "name": name,
                "annotations": {PROVISIONED_BY: found["provisioner"]},
                "finalizers": [VOLUME_PROTECTION],
            },
            "spec": volume_spec,
        }

    def _node_affinity(self, node: str | None) -> Document | None:
        stored = self.store.find(self._nodes, node) if node else None
        labels = stored.document()["metadata"].get("labels", {}) if stored is not None else {}
        key = next((key for key in (ZONE, HOSTNAME) if key in labels), None)
        if key is None:
            return None
        expression = {"key": key, "operator": "In", "values": [labels[key]]}
        return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}

    # Volumes.

    def _sync_volume(self, volume: Document) -> None:
        meta, reference = volume["metadata"], volume["spec"].get("claimRef")
        if "deletionTimestamp" in meta:
            if volume.get("status", {}).get("phase") != "Bound":
                self._modify_volume(volume, lambda document: _drop_finalizer(document, VOLUME_PROTECTION))
            return
        if reference is None or not reference.get("uid"):
            self._set_phase(volume, "Available")
            return
        stored = self.store.find(self._claims, reference["name"], reference["namespace"])
        claim = stored.document() if stored is not None else None
        if claim is None or claim["metadata"]["uid"] != reference["uid"]:
            self._release(volume)
        elif claim["spec"].get("volumeName") == meta["name"]:
            self._set_phase(volume, "Bound")

    def _release(self, volume: Document) -> None:
        self._set_phase(volume, "Released")
        if volume["spec"].get("persistentVolumeReclaimPolicy", "Retain") == "Delete":
            self.store.delete(self._volumes, volume["metadata"]["name"], writer=self.name)

    def _set_phase(self, volume: Document, phase: str) -> None:
        def change(document: Document) -> None:
            status = document.setdefault("status", {})
            if status.get("phase") != phase:
                status["phase"] = phase

        name = volume["metadata"]["name"]
        self.store.modify(self._volumes, name, change, subresource="status", writer=self.name)

    def _modify_volume(self, volume: Document, change: Callable[[Document], None]) -> None:
        try:
            self.store.modify(self._volumes, volume["metadata"]["name"], change, writer=self.name)
        except NotFound:
            return

    def _modify_claim(self, claim: Document, change: Callable[[Document], None]) -> None:
        meta = claim["metadata"]
        self.store.modify(self._claims, meta["name"], change, namespace=meta["namespace"], writer=self.name)

    def _set_claim_status(self, claim: Document, status: Document) -> None:
        meta = claim["metadata"]

        def change(document: Document) -> None:
            document["status"] = document.get("status", {}) | status

        self.store.modify(
            self._claims, meta["name"], change, namespace=meta["namespace"], subresource="status", writer=self.name
        )

    # Who is woken by what.

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

    def _class_changed(self, change: Change) -> None:
        self._enqueue_unbound()

    def _enqueue_unbound(self) -> None:
        for stored in self.store.list(self._claims):
            if not stored.document()["spec"].get("volumeName"):
                self.enqueue((stored.namespace, stored.name))

    def _pod_changed(self, old: PodRow | None, new: PodRow | None) -> None:
        row = new or old
        if row is None or (new is not None and new.phase not in ("Succeeded", "Failed")):
            return
        for stored in self.store.list(self._claims, row.namespace):
            if _is_deleting(stored):
                self.enqueue((stored.namespace, stored.name))


def fits(claim: Document, volume: Document) -> bool:
    """Whether a free volume can serve a claim."""
    wanted, offered = claim["spec"], volume["spec"]
    if wanted.get("storageClassName", "") != offered.get("storageClassName", ""):
        return False
    if wanted.get("volumeMode", "Filesystem") != offered.get("volumeMode", "Filesystem"):
        return False
    if not set(wanted.get("accessModes", [])) <= set(offered.get("accessModes", [])):
        return False
    if wanted.get("selector") is not None:
        selector = LabelSelector.from_document(wanted["selector"])
        if not selector.matches(volume["metadata"].get("labels", {})):
            return False
    requested = wanted.get("resources", {}).get("requests", {}).get("storage", "0")
    return _size(volume) >= quantity_value(requested)


def _size(volume: Document) -> int:
    return quantity_value(volume["spec"].get("capacity", {}).get("storage", "0"))


def _is_claimed_by(volume: Document, claim: Document) -> bool:
    reference, meta = volume["spec"].get("claimRef"), claim["metadata"]
    if reference is None or (reference["namespace"], reference["name"]) != (meta["namespace"], meta["name"]):
        return False
    return reference.get("uid", "") in ("", meta["uid"])


def _is_deleting(stored: Stored) -> bool:
    return "deletionTimestamp" in stored.document()["metadata"]


def _claim_names(pod: Document) -> set[str]:
    """The claims that a pod's volumes use, ephemeral ones by their derived names."""
    names = set()
    for volume in pod["spec"].get("volumes", []):
        if "persistentVolumeClaim" in volume:
            names.add(volume["persistentVolumeClaim"]["claimName"])
        elif "ephemeral" in volume:
            names.add(f"{pod['metadata']['name']}-{volume['name']}")
    return names


def _drop_finalizer(document: Document, finalizer: str) -> None:
    meta = document["metadata"]
    kept = [other for other in meta.pop("finalizers", []) if other != finalizer]
    if kept:
        meta["finalizers"] = kept
