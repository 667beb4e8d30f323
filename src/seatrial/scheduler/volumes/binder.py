"""The volume binder: can the claims of a pod be satisfied on a node, and which writes make it so.

Claims that wait for their first consumer are bound to the smallest volume that fits, or provisioned on the node that is
chosen; the rest must be bound already. Upstream: volumebinding/binder.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cmp_to_key

from seatrial.model.documents import Document
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.quantity import Quantity
from seatrial.scheduler.cache.node_selectors import NamedNode
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.cluster import Client, ObjectLister
from seatrial.scheduler.framework.interface import Watched
from seatrial.scheduler.volumes.assumed import AssumedObjects
from seatrial.scheduler.volumes.claims import (
    BOUND_BY_CONTROLLER,
    NO_PROVISIONER,
    SELECTED_NODE,
    WAIT_FOR_CONSUMER,
    annotation,
    claim_references,
    class_of,
    foreign_claim,
    is_bound_to,
    is_fully_bound,
    key_of,
    metadata_of,
    requested_storage,
    spec_of,
    volume_name,
)
from seatrial.scheduler.volumes.matching import find_volume, reachable
from seatrial.scheduler.volumes.migration import TranslationError, translated_affinity

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
VOLUME_MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
_ZERO = Quantity(0)


class BinderError(Exception):
    """Something went wrong that is not about the node."""


@dataclass(frozen=True, slots=True)
class PodClaims:
    """The claims of a pod: bound, waiting for their consumer, and unbound that should have been bound already."""

    bound: tuple[Document, ...]
    delayed: tuple[Document, ...]
    immediate: tuple[Document, ...]
    volumes: dict[str, list[Document]] = field(default_factory=dict)
    """Volumes of the classes of the waiting claims."""


@dataclass(frozen=True, slots=True)
class PodVolumes:
    """What must be written for a pod on a node: volumes to bind to claims, claims to provision."""

    bindings: tuple[tuple[Document, Document], ...] = ()
    """Volume and claim."""
    provisions: tuple[Document, ...] = ()
    capacities: tuple[Document | None, ...] = ()
    """By claim to provision: the CSIStorageCapacity that has room for it, where its driver publishes any."""


def _by_size(one: Document, other: Document) -> int:
    return (requested_storage(one) or _ZERO).compare(requested_storage(other) or _ZERO)


class VolumeBinder:
    """Answers for one profile; it remembers what it assumes until the writes are made."""

    def __init__(self, cluster: ObjectLister) -> None:
        self.cluster = cluster
        self.claims = AssumedObjects(cluster, "PersistentVolumeClaim")
        self.volumes = AssumedObjects(cluster, "PersistentVolume")

    def pod_claims(self, pod: PodInfo) -> PodClaims:
        """The claims of a pod by what has to be done for them."""
        bound: list[Document] = []
        delayed: list[Document] = []
        immediate: list[Document] = []
        for reference in claim_references(pod):
            claim = self.claims.get(reference.name, pod.namespace)
            if claim is None:
                key = f"{pod.namespace}/{reference.name}"
                raise BinderError(f'error getting PVC "{key}": persistentvolumeclaims "{key}" not found')
            complaint = foreign_claim(pod, claim) if reference.is_ephemeral else None
            if complaint is not None:
                raise BinderError(complaint)
            if is_fully_bound(claim):
                bound.append(claim)
            elif self._waits_for_consumer(claim) and not volume_name(claim):
                delayed.append(claim)
            else:
                immediate.append(claim)
        classes = {class_of(claim) for claim in delayed}
        volumes: dict[str, list[Document]] = {name: [] for name in sorted(classes)}
        if classes:
            for volume in self.volumes.all():
                if class_of(volume) in classes:
                    volumes[class_of(volume)].append(volume)
        return PodClaims(tuple(bound), tuple(delayed), tuple(immediate), volumes)

    def _waits_for_consumer(self, claim: Document) -> bool:
        name = class_of(claim)
        storage_class = self.cluster.get("StorageClass", name) if name else None
        if storage_class is None:
            return False
        if storage_class.get("volumeBindingMode") is None:
            raise BinderError(f'VolumeBindingMode not set for StorageClass "{name}"')
        return bool(storage_class["volumeBindingMode"] == WAIT_FOR_CONSUMER)

    def find(self, claims: PodClaims, node: NamedNode) -> tuple[PodVolumes, tuple[str, ...]]:
        """What binding the claims on the node takes, or the reasons why the node will not do."""
        reasons: list[str] = []
        missing = False
        if claims.bound:
            problem = self._check_bound(claims.bound, node)
            missing = problem == VOLUME_MISSING
            if problem == NODE_CONFLICT:
                reasons.append(problem)
        volumes, problem = self._find_unbound(claims, node) if claims.delayed else (PodVolumes(), None)
        if problem is not None:
            reasons.append(problem)
        if missing:
            reasons.append(VOLUME_MISSING)
        return volumes, tuple(reasons)

    def _check_bound(self, claims: Sequence[Document], node: NamedNode) -> str | None:
        csi_node = self.cluster.get("CSINode", node.name)
        for claim in claims:
            volume = self.volumes.get(volume_name(claim))
            if volume is None:
                return VOLUME_MISSING
            try:
                volume = translated_affinity(volume, csi_node)
            except TranslationError as error:
                raise BinderError(f"could not translate pv: {error}") from error
            if not reachable(volume, node):
                return NODE_CONFLICT
        return None

    def _find_unbound(self, claims: PodClaims, node: NamedNode) -> tuple[PodVolumes, str | None]:
        to_match: list[Document] = []
        to_provision: list[Document] = []
        for claim in claims.delayed:
            selected = annotation(claim, SELECTED_NODE)
            if selected is None:
                to_match.append(claim)
            elif selected != node.name:
                return PodVolumes(), BIND_CONFLICT
            else:
                to_provision.append(claim)
        bindings: list[tuple[Document, Document]] = []
        taken: set[str] = set()
        for claim in sorted(to_match, key=cmp_to_key(_by_size)):
            volume = find_volume(claim, claims.volumes.get(class_of(claim), ()), node, taken)
            if volume is None:
                to_provision.append(claim)
                continue
            taken.add(metadata_of(volume).get("name", ""))
            bindings.append((volume, claim))
        capacities: list[Document | None] = []
        problem = self._check_provisions(to_provision, node, capacities)
        if problem is not None:
            return PodVolumes(tuple(bindings)), problem
        return PodVolumes(tuple(bindings), tuple(to_provision), tuple(capacities)), None

    def _check_provisions(
        self, claims: Sequence[Document], node: NamedNode, capacities: list[Document | None]
    ) -> str | None:
        for claim in claims:
            name = class_of(claim)
            if not name:
                raise BinderError(f'no class for claim "{key_of(claim)}"')
            storage_class = self.cluster.get("StorageClass", name)
            if storage_class is None:
                raise BinderError(f'failed to find storage class "{name}"')
            if (storage_class.get("provisioner") or NO_PROVISIONER) == NO_PROVISIONER:
                return BIND_CONFLICT
            if not _topology_allowed(storage_class.get("allowedTopologies") or (), node):
                return BIND_CONFLICT
            is_enough, capacity = self._capacity(claim, storage_class, node)
            if not is_enough:
                return NOT_ENOUGH_SPACE
            capacities.append(capacity)
        return None

    def _capacity(self, claim: Document, storage_class: Document, node: NamedNode) -> tuple[bool, Document | None]:
        """Whether there is enough for the claim within reach of the node, and where, if the driver publishes it."""
        size = requested_storage(claim)
        driver = self.cluster.get("CSIDriver", storage_class.get("provisioner", ""))
        if size is None or driver is None or not spec_of(driver).get("storageCapacity"):
            return True, None
        for capacity in self.cluster.list("CSIStorageCapacity"):
            if (
                capacity.get("storageClassName") == metadata_of(storage_class).get("name")
                and (limit := volume_limit(capacity)) is not None
                and limit.value() >= size.value()
                and capacity.get("nodeTopology") is not None
                and LabelSelector.from_document(capacity["nodeTopology"]).matches(node.labels)
            ):
                return True, capacity
        return False, None

    # Reserve, PreBind and Unreserve.

    def assume(self, pod: PodInfo, node: str, volumes: PodVolumes) -> PodVolumes | None:
        """The objects as they will be written, taken for granted from now on; None where all claims are bound."""
        if all(self._is_bound(pod, reference.name) for reference in claim_references(pod)):
            return None
        bindings: list[tuple[Document, Document]] = []
        for volume, claim in volumes.bindings:
            bound, changed = bound_volume(volume, claim)
            if changed:
                self.volumes.assume(bound)
            bindings.append((bound, claim))
        provisions: list[Document] = []
        for claim in volumes.provisions:
            copy = deepcopy(claim)
            copy["metadata"].setdefault("annotations", {})[SELECTED_NODE] = node
            self.claims.assume(copy)
            provisions.append(copy)
        return PodVolumes(tuple(bindings), tuple(provisions))

    def _is_bound(self, pod: PodInfo, name: str) -> bool:
        claim = self.claims.get(name, pod.namespace)
        return claim is not None and is_fully_bound(claim)

    def revert(self, volumes: PodVolumes) -> None:
        """Forgets what was assumed."""
        for volume, _ in volumes.bindings:
            self.volumes.restore(volume)
        for claim in volumes.provisions:
            self.claims.restore(claim)

    def write(self, client: Client, volumes: PodVolumes) -> None:
        """Binds volumes to their claims and asks for those to be provisioned; StatusError where the server refuses."""
        for volume, _ in volumes.bindings:
            client.update("PersistentVolume", volume)
            self.volumes.restore(volume)
        for claim in volumes.provisions:
            client.update("PersistentVolumeClaim", claim)
            self.claims.restore(claim)

    def check_written(self, pod: PodInfo, node: str, volumes: PodVolumes) -> bool:
        """Whether the volume controller is done with all claims; BinderError where the pod must be tried again."""
        found = self.cluster.get("Node", node)
        if found is None:
            raise BinderError(f'failed to get node "{node}": node "{node}" not found')
        if self.cluster.get("Pod", pod.name, pod.namespace) is None:
            raise BinderError(f'pod does not exist any more: pod "{pod.name}" not found')
        place = Place(node, metadata_of(found).get("labels") or {}, self.cluster.get("CSINode", node))
        for volume, claim in volumes.bindings:
            if not self._is_bound_volume(volume, claim, place):
                return False
        return all(self._is_provisioned(claim, place) for claim in volumes.provisions)

    def _is_bound_volume(self, volume: Document, claim: Document, place: "Place") -> bool:
        name = metadata_of(volume).get("name", "")
        stored = self.volumes.stored(name)
        if stored is None:
            raise BinderError(f'failed to check binding: persistentvolumes "{name}" not found')
        present = self._present(claim, "failed to check binding")
        self._check_reach(stored, place)
        if not (spec_of(stored).get("claimRef") or {}).get("uid"):
            raise BinderError(f'ClaimRef got reset for pv "{name}"')
        return is_fully_bound(present)

    def _is_provisioned(self, claim: Document, place: "Place") -> bool:
        stored, name = self._present(claim, "failed to check provisioning pvc"), metadata_of(claim).get("name")
        if not metadata_of(stored).get("annotations"):
            raise BinderError(f'selectedNode annotation reset for PVC "{name}"')
        if annotation(stored, SELECTED_NODE) != place.name:
            raise BinderError(f'provisioning failed for PVC "{name}"')
        if volume_name(stored):
            volume = self.volumes.stored(volume_name(stored))
            if volume is None:
                return False
            self._check_reach(volume, place)
        return is_fully_bound(stored)

    def _present(self, claim: Document, doing: str) -> Document:
        stored = self.claims.stored(metadata_of(claim).get("name", ""), metadata_of(claim).get("namespace") or "")
        if stored is None:
            raise BinderError(f'{doing}: persistentvolumeclaims "{key_of(claim)}" not found')
        return stored

    def _check_reach(self, volume: Document, place: "Place") -> None:
        if not reachable(translated_affinity(volume, place.csi_node), place):
            name = metadata_of(volume).get("name")
            raise BinderError(
                f'pv "{name}" node affinity doesn\'t match node "{place.name}": no matching NodeSelectorTerms'
            )


@dataclass(frozen=True, slots=True)
class Place:
    """The node that a pod's volumes are bound on, as it is now."""

    name: str
    labels: Mapping[str, str]
    csi_node: Document | None


def watched_objects(volumes: PodVolumes) -> Iterator[Watched]:
    """The objects that decide whether a pod's volumes are bound. A claim is bound after its volume is there."""
    for claim in (*(claim for _, claim in volumes.bindings), *volumes.provisions):
        yield "PersistentVolumeClaim", metadata_of(claim).get("namespace") or "", metadata_of(claim).get("name", "")
    for volume, _ in volumes.bindings:
        yield "PersistentVolume", "", metadata_of(volume).get("name", "")


def _topology_allowed(terms: Sequence[Document], node: NamedNode) -> bool:
    """Whether one of a class' allowed topologies has the node; no topologies allow every node."""
    return not terms or any(
        term.get("matchLabelExpressions")
        and all(
            node.labels.get(entry.get("key", "")) in (entry.get("values") or ())
            for entry in term["matchLabelExpressions"]
        )
        for term in terms
    )


def volume_limit(capacity: Document) -> Quantity | None:
    """The largest volume a CSIStorageCapacity has room for."""
    text = capacity.get("maximumVolumeSize") or capacity.get("capacity")
    return None if text is None else Quantity.parse(text)


def bound_volume(volume: Document, claim: Document) -> tuple[Document, bool]:
    """The volume with its reference to the claim, and whether that changes it."""
    copy = deepcopy(volume)
    metadata, reference = metadata_of(claim), spec_of(volume).get("claimRef")
    changed = False
    wanted = {name: metadata.get(name) or "" for name in ("name", "namespace", "uid")}
    if reference is None or any((reference.get(name) or "") != value for name, value in wanted.items()):
        claim_ref = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **wanted}
        if metadata.get("resourceVersion"):
            claim_ref["resourceVersion"] = metadata["resourceVersion"]
        copy["spec"]["claimRef"] = claim_ref
        changed = True
    if not is_bound_to(volume, claim) and annotation(copy, BOUND_BY_CONTROLLER) is None:
        copy["metadata"].setdefault("annotations", {})[BOUND_BY_CONTROLLER] = "yes"
        changed = True
    return copy, changed
