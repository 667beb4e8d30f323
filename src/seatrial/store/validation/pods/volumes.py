"""The volumes of a pod, and how its containers mount them.

Upstream: ValidateVolumes, ValidateVolumeMounts and ValidateVolumeDevices of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Mapping

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.quantity import Quantity
from seatrial.store.field_errors import duplicate, forbidden, invalid, not_found_value, required, unsupported
from seatrial.store.object_meta import subdomain_faults
from seatrial.store.validation.formats import descending, label, needed, template_metadata
from seatrial.store.validation.pods import volume_sources as sources
from seatrial.store.validation.pods.projections import downward, projected
from seatrial.store.validation.rules import among, need, need_set, rules
from seatrial.store.validation.storage.claim_specs import claim_spec

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_IMAGE = rules(need("pullPolicy", among(*PULL_POLICIES)))
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_READ_ONLY = ("Disabled", "Enabled", "IfPossible")


def volumes(
    given: list[Document], pod_name: str | None, path: str, known: dict[str, Document], *, is_pod: bool
) -> Iterator[Cause]:
    """The volumes of a pod; the good ones are added to `known` by name."""
    made = {f"{pod_name}-{volume.get('name', '')}" for volume in given if volume.get("ephemeral")} if pod_name else ()
    for index, volume in enumerate(given):
        where, name = f"{path}[{index}]", volume.get("name", "")
        wrong = list(_volume(volume, name, pod_name, where, is_pod))
        if not name:
            wrong.append(required(f"{where}.name"))
        else:
            wrong += label(name, f"{where}.name")
        if name in known:
            wrong.append(duplicate(f"{where}.name", name))
        if wrong:
            yield from wrong
        else:
            known[name] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
        if claim and claim in made:
            why = "must not reference a PVC that gets created for an ephemeral volume"
            yield invalid(f"{where}.persistentVolumeClaim.claimName", claim, why)


def _volume(volume: Document, name: str, pod_name: str | None, path: str, is_pod: bool) -> Iterator[Cause]:
    yield from sources.one_of(volume, path, _SOURCES)
    first = "".join(sources.sources_of(volume, _SOURCES)[:1])
    scsi = volume.get("iscsi") or {}
    if scsi.get("initiatorName") is not None and len(f"{name}:{scsi.get('targetPortal', '')}".encode()) > 64:
        why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
        yield invalid(f"{path}.name", name, f"{why}iscsi.initiatorName is specified.")
    if first == "ephemeral" and pod_name and name:
        claim = f"{pod_name}-{name}"
        for fault in subdomain_faults(claim):
            yield invalid(f"{path}.name", name, f'PVC name "{claim}": {fault}')
    if first == "image":
        image = volume["image"]
        if is_pod and not image.get("reference"):
            yield required(f"{path}.image.reference")
        yield from _IMAGE(image, f"{path}.image")


def _empty(source: Document, path: str) -> Iterator[Cause]:
    limit = source.get("sizeLimit")
    if limit is not None and Quantity.parse(limit).sign < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _claim_template(template: Document, path: str) -> Iterator[Cause]:
    yield from template_metadata(template.get("metadata") or {}, f"{path}.metadata")
    yield from claim_spec(template.get("spec") or {}, f"{path}.spec")


_SOURCES = sources.in_order(
    "emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker "
    "persistentVolumeClaim rbd cinder cephfs quobyte downwardAPI fc flexVolume configMap azureFile vsphereVolume "
    "photonPersistentDisk portworxVolume azureDisk storageos projected scaleIO csi ephemeral image",
    cinder=sources.cinder("name"),
    downwardAPI=downward,
    emptyDir=_empty,
    ephemeral=rules(need_set("volumeClaimTemplate", _claim_template)),
    iscsi=sources.iscsi(persistent=False),
    projected=projected,
    storageos=sources.storage_os("name"),
)


def mounts(container: Document, known: Mapping[str, Document], path: str) -> Iterator[Cause]:
    """Validate volumeMounts."""
    devices = {device.get("name", ""): device.get("devicePath", "") for device in container.get("volumeDevices") or ()}
    taken: set[str] = set()
    for index, mount in enumerate(container["volumeMounts"]):
        where, name, target = f"{path}[{index}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{where}.name")
        if name not in known:
            yield not_found_value(f"{where}.name", name)
        if not target:
            yield required(f"{where}.mountPath")
        if target in taken:
            yield invalid(f"{where}.mountPath", target, "must be unique")
        taken.add(target)
        if name in devices:
            yield invalid(f"{where}.name", name, "must not already exist in volumeDevices")
        if target in devices.values():
            yield invalid(f"{where}.mountPath", target, "must not already exist as a path in volumeDevices")
        if len(mount) > 2:
            yield from _mount_options(mount, container, path, where)


def _mount_options(mount: Document, container: Document, path: str, where: str) -> Iterator[Cause]:
    part, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
    if part:
        yield from descending(part, f"{path}.subPath")
    if expression:
        if part:
            why = "subPathExpr and subPath are mutually exclusive"
            yield invalid(f"{where}.subPathExpr", expression, why)
        yield from descending(expression, f"{path}.subPathExpr")
    propagation = mount.get("mountPropagation")
    if propagation is not None:
        if propagation not in _PROPAGATIONS:
            yield unsupported(f"{path}.mountPropagation", propagation, _PROPAGATIONS)
        if propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
            why = "Bidirectional mount propagation is available only to privileged containers"
            yield forbidden(f"{path}.mountPropagation", why)
    recursive = mount.get("recursiveReadOnly")
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            yield forbidden(f"{path}.recursiveReadOnly", "may only be specified when readOnly is true")
        if propagation is not None and propagation != "None":
            why = "may only be specified when mountPropagation is None or not specified"
            yield forbidden(f"{path}.recursiveReadOnly", why)
    elif recursive is not None and recursive != "Disabled":
        yield unsupported(f"{path}.recursiveReadOnly", recursive, _READ_ONLY)


def devices(container: Document, known: Mapping[str, Document], path: str) -> Iterator[Cause]:
    """Validate volumeDevices."""
    mounted = {mount.get("name", ""): mount.get("mountPath", "") for mount in container.get("volumeMounts") or ()}
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(container["volumeDevices"]):
        where, name, target = f"{path}[{index}]", device.get("name", ""), device.get("devicePath", "")
        yield from needed(device, where, "name")
        if name in names:
            yield invalid(f"{where}.name", name, "must be unique")
        volume = known.get(name)
        if volume is None:
            yield not_found_value(f"{where}.name", name)
        elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
            why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{where}.name", name, why)
        yield from needed(device, where, "devicePath")
        if target in paths:
            yield invalid(f"{where}.devicePath", target, "must be unique")
        if ".." in target.split("/"):
            yield invalid(f"{where}.devicePath", target, "can not contain backsteps ('..')")
        else:
            paths.add(target)
        if name in mounted:
            yield invalid(f"{where}.name", name, "must not already exist in volumeMounts")
        if target in mounted.values():
            yield invalid(f"{where}.devicePath", target, "must not already exist as a path in volumeMounts")
        if name:
            names.add(name)
