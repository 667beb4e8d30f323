"""NodeVolumeLimits: no more volumes of a CSI driver on a node than the driver says it can attach.

Upstream: pkg/scheduler/framework/plugins/nodevolumelimits (v1.36.3). A volume is counted once per node,
however many pods use it; claims without a volume count under a name of their own.
"""

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Nodes
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape
from seatrial.scheduler.framework.interface import Action, Plugin, Requeue, requeue
from seatrial.scheduler.framework.status import SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from seatrial.scheduler.volumes.claims import (
    claim_missing,
    class_of,
    foreign_claim,
    key_of,
    reference_of,
    spec_of,
    uses_claim,
    volume_name,
)
from seatrial.scheduler.volumes.migration import BY_PLUGIN, InTree, TranslationError, in_tree_of

TOO_MANY = "node(s) exceed max volume count"
Attached = dict[tuple[str, str], str]
"""Driver and volume -> driver."""


def _matters(volume: Document) -> bool:
    return (
        volume.get("persistentVolumeClaim") is not None
        or volume.get("ephemeral") is not None
        or in_tree_of(volume) is not None
    )


def _limits(csi_node: Document | None) -> dict[str, int]:
    drivers = spec_of(csi_node).get("drivers") or () if csi_node is not None else ()
    counts = {d.get("name", ""): (d.get("allocatable") or {}).get("count") for d in drivers}
    return {name: count for name, count in counts.items() if count is not None}


def _attacher(volume: Document) -> str | None:
    """The CSI driver that attaches an in-tree volume."""
    found = in_tree_of(volume)
    return None if found is None else found.driver


class NodeVolumeLimits(Plugin):
    """Filters by the limits in CSINode."""

    requeues = (Requeue("CSINode", Action.ADD),)

    def skips_shape(self, shape: PodShape) -> bool:
        return not any(_matters(volume) for volume in shape.volumes)

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Status | None:
        return None if any(_matters(volume) for volume in pod.shape.volumes) else SKIP

    def filter_one(self, pod: PodInfo, node: NodeInfo, state: None) -> Status:
        if not pod.shape.volumes:
            return SUCCESS
        csi_node = self.handle.cluster.get("CSINode", node.name)
        wanted: Attached = {}
        problem = self._count(pod, csi_node, wanted, is_new=True)
        if problem is not None:
            return problem
        missing = self._missing_driver(wanted, csi_node)
        if missing:
            return unschedulable(f"{missing} CSI driver is not installed on the node")
        limits = _limits(csi_node)
        if not wanted or not limits:
            return SUCCESS
        attached: Attached = {}
        for other in node.pods:
            problem = self._count(other, csi_node, attached, is_new=False)
            if problem is not None:
                return problem
        new = [driver for volume, driver in wanted.items() if volume not in attached]
        attached.update(self._attachments(node.name))
        present = list(attached.values())
        for driver, limit in limits.items():
            if driver in new and present.count(driver) + new.count(driver) > limit:
                return unschedulable(TOO_MANY)
        return SUCCESS

    def _missing_driver(self, wanted: "Attached", csi_node: Document | None) -> str:
        """A driver of new volumes that the node has to have and lacks (VolumeLimitScaling)."""
        if not self.handle.gates.get("VolumeLimitScaling"):
            return ""
        installed = {entry.get("name") for entry in spec_of(csi_node or {}).get("drivers") or ()}
        for name in sorted(set(wanted.values()) - installed):
            driver = self.handle.cluster.get("CSIDriver", name)
            opts_in = driver is not None and spec_of(driver).get("preventPodSchedulingIfMissing")
            if opts_in or (driver is not None and not self.rules.missing_drivers_opt_in):
                return name
        return ""

    def _count(self, pod: PodInfo, csi_node: Document | None, found: Attached, is_new: bool) -> Status | None:
        """Adds the attachable volumes of a pod."""
        for volume in pod.shape.volumes:
            reference = reference_of(pod, volume)
            if reference is None:
                try:
                    self._count_inline(volume, csi_node, found)
                except TranslationError as problem:
                    return error(f"converting volume({volume.get('name')}) from inline to csi: {problem}")
                continue
            if not reference.name:
                return error("PersistentVolumeClaim had no name")
            claim = self.handle.cluster.get("PersistentVolumeClaim", reference.name, pod.namespace)
            if claim is None:
                if is_new:
                    about = f"looking up PVC {pod.namespace}/{reference.name}"
                    return unresolvable(f"{about}: {claim_missing(reference.name)}")
                continue
            complaint = foreign_claim(pod, claim) if reference.is_ephemeral else None
            if complaint is not None:
                return error(complaint)
            driver, handle = self._driver(claim, csi_node)
            if driver and handle:
                found[driver, handle] = driver
        return None

    def _count_inline(self, volume: Document, csi_node: Document | None, found: Attached) -> None:
        entry = in_tree_of(volume)
        if entry is not None and _is_migrated(entry, csi_node):
            found[entry.driver, entry.handle(volume[entry.field], {})] = entry.driver

    def _driver(self, claim: Document, csi_node: Document | None) -> tuple[str, str]:
        """The driver of a claim's volume and the volume's name there; empty if it is not a CSI volume."""
        volume = self.handle.cluster.get("PersistentVolume", volume_name(claim)) if volume_name(claim) else None
        if volume is None:
            return self._driver_of_class(claim, csi_node)
        source = spec_of(volume).get("csi")
        if source is not None:
            return source.get("driver") or "", source.get("volumeHandle") or ""
        entry = in_tree_of(spec_of(volume))
        if entry is None or not _is_migrated(entry, csi_node):
            return "", ""
        try:
            return entry.driver, entry.handle(spec_of(volume)[entry.field], volume)
        except TranslationError:
            return "", ""

    def _driver_of_class(self, claim: Document, csi_node: Document | None) -> tuple[str, str]:
        name = class_of(claim)
        storage_class = self.handle.cluster.get("StorageClass", name) if name else None
        if storage_class is None:
            return "", ""
        provisioner, handle = storage_class.get("provisioner") or "", f"unbound-{key_of(claim)}"
        entry = BY_PLUGIN.get(provisioner)
        if entry is None:
            return provisioner, handle
        return (entry.driver, handle) if _is_migrated(entry, csi_node) else ("", "")

    def _attachments(self, node: str) -> Attached:
        """Volumes that VolumeAttachments say are attached to the node."""
        found: Attached = {}
        for attachment in self.handle.cluster.list("VolumeAttachment"):
            spec = spec_of(attachment)
            name = (spec.get("source") or {}).get("persistentVolumeName")
            if spec.get("nodeName") != node or not spec.get("attacher") or name is None:
                continue
            volume = self.handle.cluster.get("PersistentVolume", name)
            source = spec_of(volume).get("csi") if volume is not None else None
            if source is not None:
                found[spec["attacher"], source.get("volumeHandle") or ""] = spec["attacher"]
        return found

    @requeue.on("CSINode", Action.UPDATE)
    def limit_raised(self, pod: PodInfo, old: Document, new: Document) -> bool:
        before = _limits(old)
        return any(limit > before.get(driver, 0) for driver, limit in _limits(new).items())

    @requeue.on("Pod", Action.DELETE)
    def attached_pod_deleted(self, pod: PodInfo, old: PodInfo, new: None) -> bool:
        return bool(old.node or old.nominated_node) and any(_matters(volume) for volume in old.shape.volumes)

    @requeue.on("PersistentVolumeClaim", Action.ADD)
    def claim_created(self, pod: PodInfo, old: None, new: Document) -> bool:
        return uses_claim(pod, new)

    @requeue.on("VolumeAttachment", Action.DELETE)
    def attachment_deleted(self, pod: PodInfo, old: Document, new: None) -> bool:
        attacher = spec_of(old).get("attacher")
        return any("persistentVolumeClaim" in v or _attacher(v) == attacher for v in pod.shape.volumes)


def _is_migrated(entry: InTree, csi_node: Document | None) -> bool:
    return csi_node is not None and entry.is_migrated
