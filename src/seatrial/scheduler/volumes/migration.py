"""In-tree volumes whose work is done by a CSI driver: how they are counted and where they are.

Upstream: k8s.io/csi-translation-lib. Only what scheduling looks at is translated: driver, volume handle, topology.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from seatrial.model.documents import Document
from seatrial.scheduler.volumes.claims import annotation, metadata_of, spec_of

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION, BETA_REGION = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
UNSPECIFIED = "UNSPECIFIED"


class TranslationError(Exception):
    """An in-tree volume that cannot be translated."""


Source = Mapping[str, Any]
Handle = Callable[[Source, Document], str]


@dataclass(frozen=True, slots=True)
class InTree:
    """An in-tree plugin: its field in a volume, and the driver that took over."""

    plugin: str
    field: str
    driver: str
    handle: Handle
    topology_key: str = ""
    is_migrated: bool = True
    """Whether the migration can no longer be switched off."""


def _ebs_handle(source: Source, _: Document) -> str:
    volume: str = source.get("volumeID") or ""
    if not volume.startswith("aws://"):
        return volume
    identity = volume[len("aws://") :].partition("/")[2].strip("/")
    if not identity.startswith("vol-") or "/" in identity:
        why = f"Invalid format for AWS volume ({volume})"
        raise TranslationError(f"failed to translate Kubernetes ID to EBS Volume ID {why}")
    return identity


def _gce_handle(source: Source, volume: Document) -> str:
    labels = metadata_of(volume).get("labels") or {}
    zones = (labels.get(BETA_ZONE) or labels.get(ZONE) or "").split("__")
    disk = source.get("pdName")
    if len(zones) > 1:
        regions: set[str] = set()
        for zone in zones:
            parts = zone.split("-")
            if len(parts) != 3:
                expected = "zone in unexpected format, expected: {locale}-{region}-{zone}"
                raise TranslationError(f"failed to get region from zones: {expected}, got: {zone}")
            regions.add("-".join(parts[:2]))
        if len(regions) != 1:
            listed = " ".join(f"{region}:{{}}" for region in sorted(regions))
            why = f"multiple or no regions gotten from zones, got: map[{listed}]"
            raise TranslationError(f"failed to get region from zones: {why}")
        return f"projects/{UNSPECIFIED}/regions/{regions.pop()}/disks/{disk}"
    return f"projects/{UNSPECIFIED}/zones/{zones[0] or UNSPECIFIED}/disks/{disk}"


def _field(name: str) -> Handle:
    return lambda source, _: source.get(name) or ""


def _azure_disk(source: Source, _: Document) -> str:
    kind = source.get("kind")
    if kind is not None and kind.lower() != "managed":
        raise TranslationError(f"kind({kind}) is not supported in csi migration")
    return source.get("diskURI") or ""


IN_TREE = (
    InTree(
        "kubernetes.io/aws-ebs", "awsElasticBlockStore", "ebs.csi.aws.com", _ebs_handle, "topology.ebs.csi.aws.com/zone"
    ),
    InTree("kubernetes.io/gce-pd", "gcePersistentDisk", "pd.csi.storage.gke.io", _gce_handle, "topology.gke.io/zone"),
    InTree(
        "kubernetes.io/cinder",
        "cinder",
        "cinder.csi.openstack.org",
        _field("volumeID"),
        "topology.cinder.csi.openstack.org/zone",
    ),
    InTree("kubernetes.io/azure-disk", "azureDisk", "disk.csi.azure.com", _azure_disk),
    InTree("kubernetes.io/azure-file", "azureFile", "file.csi.azure.com", _field("shareName"), is_migrated=False),
    InTree(
        "kubernetes.io/vsphere-volume",
        "vsphereVolume",
        "csi.vsphere.vmware.com",
        _field("volumePath"),
        is_migrated=False,
    ),
    InTree("kubernetes.io/portworx-volume", "portworxVolume", "pxd.portworx.com", _field("volumeID")),
)
BY_PLUGIN = {entry.plugin: entry for entry in IN_TREE}


def in_tree_of(source: Document) -> InTree | None:
    """The in-tree plugin of a pod's volume, or of a volume's spec."""
    return next((entry for entry in IN_TREE if source.get(entry.field) is not None), None)


def translated_affinity(volume: Document, csi_node: Document | None) -> Document:
    """A volume with the node affinity its driver uses, where the node says the plugin is migrated."""
    entry = in_tree_of(spec_of(volume))
    if entry is None or not entry.is_migrated or csi_node is None:
        return volume
    if entry.plugin not in (annotation(csi_node, MIGRATED_PLUGINS) or "").split(","):
        return volume
    entry.handle(spec_of(volume)[entry.field], volume)
    return _with_topology(volume, entry.topology_key) if entry.topology_key else volume


def _terms(volume: Document) -> list[Document]:
    affinity = spec_of(volume).get("nodeAffinity") or {}
    terms: list[Document] = (affinity.get("required") or {}).get("nodeSelectorTerms") or []
    return terms


def _has_key(volume: Document, key: str) -> bool:
    return any(r.get("key") == key for term in _terms(volume) for r in term.get("matchExpressions") or ())


def _with_topology(volume: Document, key: str) -> Document:
    labels = metadata_of(volume).get("labels") or {}
    is_beta = not _has_key(volume, ZONE) and (
        _has_key(volume, BETA_ZONE) or (ZONE not in labels and BETA_ZONE in labels)
    )
    zone, region = (BETA_ZONE, BETA_REGION) if is_beta else (ZONE, REGION)
    copy = deepcopy(volume)
    if any(
        r.get("values") for term in _terms(copy) for r in term.get("matchExpressions") or () if r.get("key") == zone
    ):
        _rename(copy, zone, key)
    elif zone in labels:
        _add_zones(copy, key, sorted({part.strip() for part in labels[zone].split("__")} - {""}))
    if region == BETA_REGION:
        _rename(copy, region, REGION)
    return copy


def _rename(volume: Document, old: str, new: str) -> None:
    for term in _terms(volume):
        for requirement in term.get("matchExpressions") or ():
            if requirement.get("key") == old:
                requirement["key"] = new


def _add_zones(volume: Document, key: str, zones: list[str]) -> None:
    if not zones:
        return
    affinity = spec_of(volume).setdefault("nodeAffinity", {})
    required = affinity.setdefault("required", {})
    terms = required.get("nodeSelectorTerms") or [{}]
    required["nodeSelectorTerms"] = terms
    for term in terms:
        term.setdefault("matchExpressions", []).append({"key": key, "operator": "In", "values": zones})
