"""The cluster of a case: plain documents, the node table, and the writes of plugins taking effect at once.

Volumes are bound and provisioned as the recording did it: the controllers' answer follows a write immediately.
"""

from collections.abc import Sequence
from copy import deepcopy

from seatrial.model.documents import Document
from seatrial.model.times import SECOND, parse_time
from seatrial.scheduler.cache import NodeInfo, NodeTable, PodInfo, PodReader, replace_pod
from seatrial.scheduler.config import Configuration, default_configuration
from seatrial.scheduler.queue import PodNominator

FIRST_START = parse_time("2030-01-01T00:00:00Z")
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_CLUSTER_WIDE = frozenset(
    ("Node", "Namespace", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment")
) | {"ResourceSlice", "DeviceClass", "PriorityClass"}


class World:
    """All objects of a case. It is the cluster plugins read and the client they write with."""

    def __init__(
        self, objects: Sequence[Document], queue: Sequence[str], configuration: Configuration | None = None
    ) -> None:
        self._objects: dict[str, dict[tuple[str, str], Document]] = {}
        self._versions: dict[str, int] = {}
        self.nodes = NodeTable()
        followed = configuration or default_configuration()
        self.reader = PodReader(followed.gates, followed.version.rules)
        self.pods: dict[str, PodInfo] = {}
        self.bound_so_far = 0
        self.deallocated: list[str] = []
        self._queued = frozenset(queue)
        self.nominator = PodNominator(self._present)
        for document in objects:
            self._load(document)
        for pod in list(self.pods.values()):
            if pod.node and pod.key not in self._queued:
                self.nodes.add_pod(pod)
            elif pod.nominated_node:
                self.nominator.nominate(pod)

    # -- reading

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Document]:
        found = self._objects.get(kind, {})
        return [found[key] for key in sorted(found) if namespace is None or key[0] == namespace]

    def get(self, kind: str, name: str, namespace: str = "") -> Document | None:
        return self._objects.get(kind, {}).get(("" if kind in _CLUSTER_WIDE else namespace, name))

    @property
    def changes(self) -> int:
        return sum(self._versions.values())

    def version(self, kind: str) -> int:
        return self._versions.get(kind, 0)

    # -- writing

    def bind(self, pod: PodInfo, node: str) -> None:
        """Puts the pod on the node for good; each pod starts a second after the one before."""
        start = FIRST_START + self.bound_so_far * SECOND
        self.bound_so_far += 1
        self.nominator.remove(pod)
        bound = replace_pod(pod, node=node, nominated_node="", phase="Running", start_time=start)
        self.pods[pod.key] = bound
        self.nodes.add_pod(bound)

    def nominate(self, pod: PodInfo, node: str) -> PodInfo:
        """Records what a PostFilter decided about the pod's nominated node."""
        pod = self.pods[pod.key] = replace_pod(pod, nominated_node=node)
        self.nominator.nominate(pod, node)
        return pod

    def evict(self, node: str, victims: Sequence[PodInfo], preemptor: PodInfo) -> None:
        """Deletes the victims of a preemption, and the nominations to the node of pods with less priority."""
        for victim in victims:
            self.nodes.remove_pod(victim)
            self.pods.pop(victim.key, None)
        for other in list(self.nominator.nominated_to(node)):
            if other.priority < preemptor.priority:
                self.nominator.remove(other)
                self.pods[other.key] = replace_pod(other, nominated_node="")

    def update(self, kind: str, document: Document, subresource: str = "") -> Document:
        """Takes a plugin's update; volumes are then bound or provisioned as their controllers would."""
        if kind == "PersistentVolume":
            claim = document["spec"]["claimRef"]
            return self._bind_volume(document, claim["namespace"], claim["name"])
        if kind == "PersistentVolumeClaim":
            return self._provision(document)
        if kind == "ResourceClaim":
            self._note_deallocation(document)
        self._put(document)
        return document

    def create(self, kind: str, document: Document) -> Document:
        self._put(document)
        return document

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        self._objects.get(kind, {}).pop(("" if kind in _CLUSTER_WIDE else namespace, name), None)
        self._versions[kind] = self.version(kind) + 1

    def bound_claims(self) -> dict[str, str]:
        """Claim -> volume, for the claims that are bound."""
        return {
            f"{claim['metadata']['namespace']}/{claim['metadata']['name']}": claim["spec"]["volumeName"]
            for claim in self.list("PersistentVolumeClaim")
            if claim["spec"].get("volumeName")
        }

    def _load(self, document: Document) -> None:
        kind = document["kind"]
        if kind == "Pod":
            if (document.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
                pod = self.reader.read(document)
                self.pods[pod.key] = pod
            return
        if kind == "Node":
            self.nodes.add_node(NodeInfo.read(document))
        self._put(document)

    def _put(self, document: Document) -> None:
        kind, metadata = document["kind"], document["metadata"]
        namespace = "" if kind in _CLUSTER_WIDE else metadata.get("namespace") or "default"
        version = self._versions[kind] = self.version(kind) + 1
        metadata["resourceVersion"] = str(version)
        self._objects.setdefault(kind, {})[namespace, metadata["name"]] = document

    def _present(self, pod: PodInfo) -> PodInfo | None:
        current = self.pods.get(pod.key)
        return None if current is None or current.node else current

    def _note_deallocation(self, document: Document) -> None:
        metadata = document["metadata"]
        before = self.get("ResourceClaim", metadata["name"], metadata["namespace"])
        had = ((before or {}).get("status") or {}).get("allocation") is not None
        if had and (document.get("status") or {}).get("allocation") is None:
            self.deallocated.append(f"{metadata['namespace']}/{metadata['name']}")

    def _bind_volume(self, volume: Document, namespace: str, name: str) -> Document:
        claim = deepcopy(self.get("PersistentVolumeClaim", name, namespace))
        assert claim is not None
        volume = deepcopy(volume)
        volume["spec"]["claimRef"] = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": namespace,
            "name": name,
            "uid": claim["metadata"].get("uid", ""),
        }
        volume.setdefault("status", {})["phase"] = "Bound"
        claim["spec"]["volumeName"] = volume["metadata"]["name"]
        claim["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
        claim.setdefault("status", {})["phase"] = "Bound"
        self._put(volume)
        self._put(claim)
        return volume

    def _provision(self, claim: Document) -> Document:
        metadata, spec = claim["metadata"], claim["spec"]
        storage = self.get("StorageClass", spec["storageClassName"])
        node = self.nodes.find(metadata["annotations"][SELECTED_NODE])
        assert storage is not None and node is not None
        self._put(claim)
        key = ZONE if node.labels.get(ZONE) else HOSTNAME
        requirement = {"key": key, "operator": "In", "values": [node.labels.get(key, "")]}
        name = f"pvc-{metadata['namespace']}-{metadata['name']}"
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "storageClassName": storage["metadata"]["name"],
                "accessModes": spec.get("accessModes"),
                "volumeMode": spec.get("volumeMode"),
                "capacity": {"storage": ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")},
                "csi": {"driver": storage.get("provisioner", ""), "volumeHandle": name},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}},
            },
        }
        self._bind_volume(volume, metadata["namespace"], metadata["name"])
        return claim
