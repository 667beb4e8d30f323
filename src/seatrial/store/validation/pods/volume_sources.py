"""Validation of volume sources of pods and persistent volumes.

Upstream: the validate…VolumeSource functions of pkg/apis/core/validation/validation.go.
"""

import re
from collections.abc import Callable, Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid, required, too_long, unsupported
from seatrial.store.object_meta import label_faults, subdomain_faults
from seatrial.store.validation.formats import (
    between,
    descending,
    each,
    file_mode,
    label,
    needed,
    no_backsteps,
    subdomain,
    unreserved,
)

Check = Callable[[Document, str], Iterator[Cause]]
_IQN = re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9-.]+)(:[^,;*&$|\s]+)$")
_EUI, _NAA = re.compile("eui.[A-Za-z0-9]{16}"), re.compile("naa.[A-Za-z0-9]{32}")
_HOST_PATHS = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)


def one_of(holder: Document, path: str, sources: tuple[tuple[str, str, str, Check], ...]) -> Iterator[Cause]:
    """Exactly one of the sources (key, name in a clash, name of its path, rules) is given, and is right."""
    found = False
    for key, clash, name, check in sources:
        source = holder.get(key)
        if source is None:
            continue
        if found:
            yield forbidden(f"{path}.{clash}", "may not specify more than 1 volume type")
        else:
            found = True
            yield from check(source, f"{path}.{name}")
    if not found:
        yield required(path, "must specify a volume type")


def _needs(*keys: str) -> Check:
    def check(source: Document, path: str) -> Iterator[Cause]:
        return needed(source, path, *keys)

    return check


def host_path(source: Document, path: str) -> Iterator[Cause]:
    """A path of the node."""
    if not source.get("path"):
        yield required(f"{path}.path")
        return
    yield from no_backsteps(source["path"], f"{path}.path")
    kind = source.get("type")
    if kind is not None and kind not in _HOST_PATHS:
        yield unsupported(f"{path}.type", kind, _HOST_PATHS)


def git_repository(source: Document, path: str) -> Iterator[Cause]:
    """A checkout."""
    yield from needed(source, path, "repository")
    yield from descending(source.get("directory", ""), f"{path}.directory")


def disk(name: str) -> Check:
    """A cloud's disk with partitions."""

    def check(source: Document, path: str) -> Iterator[Cause]:
        yield from needed(source, path, name)
        partition = source.get("partition", 0)
        if not 0 <= partition <= 255:
            yield invalid(f"{path}.partition", partition, between(1, 255))

    return check


def key_to_path(item: Document, path: str) -> Iterator[Cause]:
    """Where the value of a key is written."""
    yield from needed(item, path, "key", "path")
    yield from unreserved(item.get("path", ""), f"{path}.path")
    yield from file_mode(item.get("mode"), f"{path}.mode")


def keys_of(name: str) -> Check:
    """Keys of a Secret or ConfigMap as files."""

    def check(source: Document, path: str) -> Iterator[Cause]:
        yield from needed(source, path, name)
        yield from file_mode(source.get("defaultMode"), f"{path}.defaultMode")
        for index, item in enumerate(source.get("items") or ()):
            yield from key_to_path(item, f"{path}.items[{index}]")

    return check


def nfs(source: Document, path: str) -> Iterator[Cause]:
    """An exported directory."""
    yield from needed(source, path, "server", "path")
    if not source.get("path", "").startswith("/"):
        yield invalid(f"{path}.path", source.get("path", ""), "must be an absolute path")


def iscsi(*, persistent: bool) -> Check:
    """A unit of an iSCSI target."""
    prefix = "must be valid format" if persistent else "must be valid format starting with iqn, eui, or naa"

    def check(source: Document, path: str) -> Iterator[Cause]:
        yield from needed(source, path, "targetPortal")
        if not source.get("iqn"):
            yield required(f"{path}.iqn")
        else:
            yield from _initiator(source["iqn"], f"{path}.iqn", prefix)
        lun = source.get("lun", 0)
        if not 0 <= lun <= 255:
            yield invalid(f"{path}.lun", lun, between(0, 255))
        secret = source.get("secretRef")
        if secret is None and (source.get("chapAuthDiscovery") or source.get("chapAuthSession")):
            yield required(f"{path}.secretRef")
        if persistent and secret is not None and not secret.get("name"):
            yield required(f"{path}.secretRef.name")
        if (initiator := source.get("initiatorName")) is not None:
            yield from _initiator(initiator, f"{path}.initiatorname", prefix)

    return check


def _initiator(value: str, path: str, prefix: str) -> Iterator[Cause]:
    if not value.startswith(("iqn", "eui", "naa")):
        yield invalid(path, value, prefix)
    elif value.startswith("iqn"):
        if not _IQN.search(value):
            yield invalid(path, value, "must be valid format")
    elif not (_EUI if value.startswith("eui") else _NAA).fullmatch(value):
        yield invalid(path, value, "must be valid format")


def fibre_channel(source: Document, path: str) -> Iterator[Cause]:
    """A unit on a Fibre Channel network."""
    targets, identifiers = source.get("targetWWNs"), source.get("wwids")
    if not targets and not identifiers:
        yield required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if targets and identifiers:
        why = "targetWWNs and wwids can not be specified simultaneously"
        yield invalid(f"{path}.targetWWNs", targets, why)
    if targets:
        lun = source.get("lun")
        if lun is None:
            yield required(f"{path}.lun", "lun is required if targetWWNs is specified")
        elif not 0 <= lun <= 255:
            yield invalid(f"{path}.lun", lun, between(0, 255))


def quobyte(source: Document, path: str) -> Iterator[Cause]:
    """A Quobyte volume."""
    pairs = "must be a host:port pair or multiple pairs separated by commas"
    registry = source.get("registry", "")
    if not registry:
        yield required(f"{path}.registry", pairs)
    elif len(source.get("tenant", "").encode()) >= 65:
        yield required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        for pair in registry.split(","):
            if pair.count(":") != 1 and not re.fullmatch(r"\[.*\]:[^:]*", pair):
                yield invalid(f"{path}.registry", registry, pairs)
    yield from needed(source, path, "volume")


def glusterfs(source: Document, path: str) -> Iterator[Cause]:
    """A GlusterFS volume."""
    yield from needed(source, path, "endpoints", "path")
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        why = "if the endpointnamespace is set, it must be a valid namespace name"
        yield invalid(f"{path}.endpointsNamespace", namespace, why)
    elif namespace is not None:
        yield from each(label_faults, namespace, f"{path}.endpointsNamespace")


def flocker(source: Document, path: str) -> Iterator[Cause]:
    """A Flocker dataset."""
    name, identity = source.get("datasetName", ""), source.get("datasetUUID")
    if not name and not identity:
        yield required(path, "one of datasetName and datasetUUID is required")
    if name and identity:
        yield invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        yield invalid(f"{path}.datasetName", name, "must not contain '/'")


def flex(source: Document, path: str) -> Iterator[Cause]:
    """A FlexVolume driver's volume."""
    yield from needed(source, path, "driver")
    for key in source.get("options") or ():
        if f".{key.split('/', 1)[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            yield invalid(f"{path}.options[{key}]", key, "kubernetes.io and k8s.io namespaces are reserved")


def cinder(*keys: str) -> Check:
    """An OpenStack volume, its secret named by these keys."""

    def check(source: Document, path: str) -> Iterator[Cause]:
        yield from needed(source, path, "volumeID")
        if source.get("secretRef") is not None:
            yield from needed(source["secretRef"], f"{path}.secretRef", *keys)

    return check


def storage_os(*keys: str) -> Check:
    """A StorageOS volume, its secret named by these keys."""

    def check(source: Document, path: str) -> Iterator[Cause]:
        yield from needed(source, path, "volumeName")
        for key in ("volumeName", "volumeNamespace"):
            if source.get(key):
                yield from label(source[key], f"{path}.{key}")
        if source.get("secretRef") is not None:
            yield from needed(source["secretRef"], f"{path}.secretRef", *keys)

    return check


def azure_file(source: Document, path: str) -> Iterator[Cause]:
    """An Azure file share."""
    yield from needed(source, path, "secretName", "shareName")
    if source.get("secretNamespace") == "":
        yield required(f"{path}.secretNamespace")


def azure_disk(source: Document, path: str) -> Iterator[Cause]:
    """An Azure disk."""
    yield from needed(source, path, "diskName", "diskURI")
    caching, kind, where = source.get("cachingMode"), source.get("kind"), source.get("diskURI", "")
    modes, kinds = ("None", "ReadOnly", "ReadWrite"), ("Dedicated", "Managed", "Shared")
    if caching is not None and caching not in modes:
        yield unsupported(f"{path}.cachingMode", caching, modes)
    if kind is not None and kind not in kinds:
        yield unsupported(f"{path}.kind", kind, kinds)
    if kind == "Managed" and not where.startswith("/subscriptions/"):
        managed = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
        yield unsupported(f"{path}.diskURI", where, (managed,))
    if kind is not None and kind != "Managed" and not where.startswith("https://"):
        blob = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
        yield unsupported(f"{path}.diskURI", where, (blob,))


def local(source: Document, path: str) -> Iterator[Cause]:
    """A disk of one node."""
    yield from needed(source, path, "path")
    yield from no_backsteps(source.get("path", ""), f"{path}.path")


def driver_name(name: str, path: str) -> Iterator[Cause]:
    """The name of a CSI driver."""
    if not name:
        yield required(path)
        return
    if len(name.encode()) > 63:
        yield too_long(path, 63)
    for fault in subdomain_faults(name.lower()):
        yield invalid(path, name, fault)


def csi_inline(source: Document, path: str) -> Iterator[Cause]:
    """A volume that a CSI driver makes for one pod."""
    yield from driver_name(source.get("driver", ""), f"{path}.driver")
    if (secret := source.get("nodePublishSecretRef")) is not None:
        if not secret.get("name"):
            yield required(f"{path}.nodePublishSecretRef.name")
        else:
            yield from subdomain(secret["name"], f"{path}.name")


def csi_persistent(source: Document, path: str) -> Iterator[Cause]:
    """A volume that a CSI driver knows by its handle."""
    yield from driver_name(source.get("driver", ""), f"{path}.driver")
    yield from needed(source, path, "volumeHandle")
    for key in ("controllerPublish", "controllerExpand", "nodePublish", "nodeExpand"):
        if (secret := source.get(f"{key}SecretRef")) is not None:
            where = f"{path}.{key}SecretRef"
            yield from needed(secret, where, "name")
            if secret.get("name"):
                yield from subdomain(secret["name"], f"{where}.name")
            yield from needed(secret, where, "namespace")
            if secret.get("namespace"):
                yield from label(secret["namespace"], f"{where}.namespace")


monitors, ceph_image = _needs("monitors"), _needs("monitors", "image")
volume_id, volume_path, disk_id = _needs("volumeID"), _needs("volumePath"), _needs("pdID")
scale_io, claim_name, glusterfs_inline = (
    _needs("gateway", "system", "volumeName"),
    _needs("claimName"),
    _needs("endpoints", "path"),
)
