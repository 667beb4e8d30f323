"""Validation of volume sources of pods and persistent volumes.

Upstream: the validate…VolumeSource functions of pkg/apis/core/validation/validation.go.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import forbidden, invalid, required, too_long, unsupported
from seatrial.store.object_meta import subdomain_faults
from seatrial.store.validation.formats import (
    between,
    descending,
    file_mode,
    label,
    no_backsteps,
    subdomain,
    unreserved,
)
from seatrial.store.validation.rules import Check, always, among, each, filled, given, need, present, ranged, rules

_IQN = re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9-.]+)(:[^,;*&$|\s]+)$")
_EUI, _NAA = re.compile("eui.[A-Za-z0-9]{16}"), re.compile("naa.[A-Za-z0-9]{32}")
_CLASH_NAMES = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
_PATH_NAMES = {"gcePersistentDisk": "persistentDisk"}
_MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_PAIRS = "must be a host:port pair or multiple pairs separated by commas"


def sources_of(holder: Document, sources: Mapping[str, Check]) -> list[str]:
    """The sources that are given, in upstream's order."""
    given = [key for key in holder if key in sources and holder[key] is not None]
    return [key for key in sources if key in given] if len(given) > 1 else given


def one_of(holder: Document, path: str, sources: Mapping[str, Check]) -> Iterator[Cause]:
    """Exactly one of the sources is given, and is right."""
    given = sources_of(holder, sources)
    if not given:
        yield required(path, "must specify a volume type")
        return
    yield from sources[given[0]](holder[given[0]], f"{path}.{_PATH_NAMES.get(given[0], given[0])}")
    for key in given[1:]:
        yield forbidden(f"{path}.{_CLASH_NAMES.get(key, key)}", "may not specify more than 1 volume type")


def _absolute(value: str, path: str) -> Iterable[Cause]:
    return () if value.startswith("/") else (invalid(path, value, "must be an absolute path"),)


def _host_path_type(source: Document, path: str) -> Iterable[Cause]:
    return _HOST_PATH_TYPE(source, path) if source.get("path") else ()


_HOST_PATHS = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_HOST_PATH_TYPE = rules(present("type", among(*_HOST_PATHS)))


def iscsi(*, persistent: bool) -> Check:
    """A unit of an iSCSI target."""
    prefix = "must be valid format" if persistent else "must be valid format starting with iqn, eui, or naa"

    def initiator(value: str, path: str) -> Iterator[Cause]:
        if not value.startswith(("iqn", "eui", "naa")):
            yield invalid(path, value, prefix)
        elif value.startswith("iqn"):
            if not _IQN.search(value):
                yield invalid(path, value, "must be valid format")
        elif not (_EUI if value.startswith("eui") else _NAA).fullmatch(value):
            yield invalid(path, value, "must be valid format")

    def secret(source: Document, path: str) -> Iterator[Cause]:
        if source.get("secretRef") is None and (source.get("chapAuthDiscovery") or source.get("chapAuthSession")):
            yield required(f"{path}.secretRef")

    def own_name(source: Document, path: str) -> Iterable[Cause]:
        name = source.get("initiatorName")
        return () if name is None else initiator(name, f"{path}.initiatorname")

    return rules(
        need("targetPortal"),
        need("iqn", initiator),
        always("lun", ranged(0, 255, between(0, 255)), zero=0),
        secret,
        present("secretRef", rules(*((need("name"),) if persistent else ()))),
        own_name,
    )


def _fibre_channel(source: Document, path: str) -> Iterator[Cause]:
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


def _quobyte(source: Document, path: str) -> Iterator[Cause]:
    registry = source.get("registry", "")
    if not registry:
        yield required(f"{path}.registry", _PAIRS)
    elif len(source.get("tenant", "").encode()) >= 65:
        yield required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        for pair in registry.split(","):
            if pair.count(":") != 1 and not re.fullmatch(r"\[.*\]:[^:]*", pair):
                yield invalid(f"{path}.registry", registry, _PAIRS)


def _endpoints_namespace(namespace: str, path: str) -> Iterable[Cause]:
    why = "if the endpointnamespace is set, it must be a valid namespace name"
    return label(namespace, path) if namespace else (invalid(path, namespace, why),)


def _flocker(source: Document, path: str) -> Iterator[Cause]:
    name, identity = source.get("datasetName", ""), source.get("datasetUUID")
    if not name and not identity:
        yield required(path, "one of datasetName and datasetUUID is required")
    if name and identity:
        yield invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        yield invalid(f"{path}.datasetName", name, "must not contain '/'")


def _flex_options(options: Document, path: str) -> Iterator[Cause]:
    for key in options:
        if f".{key.split('/', 1)[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            yield invalid(f"{path}[{key}]", key, "kubernetes.io and k8s.io namespaces are reserved")


def _disk_uri(source: Document, path: str) -> Iterator[Cause]:
    kind, where = source.get("kind"), source.get("diskURI", "")
    if kind == "Managed" and not where.startswith("/subscriptions/"):
        yield unsupported(f"{path}.diskURI", where, (_MANAGED,))
    if kind is not None and kind != "Managed" and not where.startswith("https://"):
        yield unsupported(f"{path}.diskURI", where, (_BLOB,))


def driver_name(name: str, path: str) -> Iterator[Cause]:
    """The name of a CSI driver."""
    if not name:
        yield required(path)
        return
    if len(name.encode()) > 63:
        yield too_long(path, 63)
    for fault in subdomain_faults(name.lower()):
        yield invalid(path, name, fault)


def _publish_secret(source: Document, path: str) -> Iterator[Cause]:
    if (secret := source.get("nodePublishSecretRef")) is not None:
        if not secret.get("name"):
            yield required(f"{path}.nodePublishSecretRef.name")
        else:
            yield from subdomain(secret["name"], f"{path}.name")


def _disk(name: str) -> Check:
    return rules(need(name), always("partition", ranged(0, 255, between(1, 255)), zero=0))


def _keys_of(name: str) -> Check:
    return rules(need(name), present("defaultMode", file_mode), each("items", key_to_path))


def cinder(*keys: str) -> Check:
    """An OpenStack volume, its secret named by these keys."""
    return rules(need("volumeID"), present("secretRef", rules(*map(need, keys))))


def storage_os(*keys: str) -> Check:
    """A StorageOS volume, its secret named by these keys."""
    secret = present("secretRef", rules(*map(need, keys)))
    return rules(need("volumeName", label), given("volumeNamespace", label), secret)


key_to_path = rules(need("key"), need("path", unreserved), present("mode", file_mode))
_GLUSTERFS = need("endpoints"), need("path")
glusterfs_persistent = rules(*_GLUSTERFS, present("endpointsNamespace", _endpoints_namespace))
_SECRETS = ("controllerPublish", "controllerExpand", "nodePublish", "nodeExpand")
_SECRET = rules(need("name", subdomain), need("namespace", label))
csi_persistent = rules(
    always("driver", driver_name),
    need("volumeHandle"),
    *(present(f"{key}SecretRef", _SECRET) for key in _SECRETS),
)
SOURCES: dict[str, Check] = {
    "awsElasticBlockStore": _disk("volumeID"),
    "azureDisk": rules(
        need("diskName"),
        need("diskURI"),
        present("cachingMode", among("None", "ReadOnly", "ReadWrite")),
        present("kind", among("Dedicated", "Managed", "Shared")),
        _disk_uri,
    ),
    "azureFile": rules(need("secretName"), need("shareName"), present("secretNamespace", filled)),
    "cephfs": rules(need("monitors")),
    "configMap": _keys_of("name"),
    "csi": rules(always("driver", driver_name), _publish_secret),
    "fc": _fibre_channel,
    "flexVolume": rules(need("driver"), given("options", _flex_options)),
    "flocker": _flocker,
    "gcePersistentDisk": _disk("pdName"),
    "gitRepo": rules(need("repository"), given("directory", descending)),
    "glusterfs": rules(*_GLUSTERFS),
    "hostPath": rules(need("path", no_backsteps), _host_path_type),
    "image": rules(),
    "local": rules(need("path", no_backsteps)),
    "nfs": rules(need("server"), need("path"), always("path", _absolute)),
    "persistentVolumeClaim": rules(need("claimName")),
    "photonPersistentDisk": rules(need("pdID")),
    "portworxVolume": rules(need("volumeID")),
    "quobyte": rules(_quobyte, need("volume")),
    "rbd": rules(need("monitors"), need("image")),
    "scaleIO": rules(need("gateway"), need("system"), need("volumeName")),
    "secret": _keys_of("secretName"),
    "vsphereVolume": rules(need("volumePath")),
}
"""The rules of a source; the kinds that hold them add those that only they have, and say the order."""


def in_order(names: str, **own: Check) -> dict[str, Check]:
    """The sources of these names in upstream's order, with the rules that only their holder has."""
    return {name: own.get(name) or SOURCES[name] for name in names.split()}
