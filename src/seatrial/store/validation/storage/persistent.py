"""PersistentVolumes and PersistentVolumeClaims: sources, sizes, and what may change once they are made or bound.

Upstream: ValidatePersistentVolume…, ValidatePersistentVolumeClaim… of pkg/apis/core/validation/validation.go.
"""

import posixpath
from collections.abc import Iterable, Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.label_selectors import label_key_faults
from seatrial.model.quantity import Quantity
from seatrial.store.field_errors import Struct, forbidden, invalid, required, unsupported
from seatrial.store.object_meta import IMMUTABLE
from seatrial.store.validation.formats import subdomain
from seatrial.store.validation.go_values import go_struct
from seatrial.store.validation.pods import volume_sources as sources
from seatrial.store.validation.quantities import amount, basic_amount, is_native, positive_amount
from seatrial.store.validation.rules import among, given, need, need_set, present, rules
from seatrial.store.validation.selectors import node_selector
from seatrial.store.validation.storage.claim_specs import VOLUME_MODE, access_modes, claim_spec

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_RESIZES = sorted(
    [f"{who}Resize{how}" for who in ("Controller", "Node") for how in ("InProgress", "Infeasible")]
    + ["NodeResizePending"]
)
_BETA = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
_SOURCES = sources.in_order(
    "hostPath gcePersistentDisk awsElasticBlockStore glusterfs flocker nfs rbd quobyte cephfs iscsi cinder fc "
    "flexVolume azureFile vsphereVolume photonPersistentDisk portworxVolume azureDisk scaleIO local storageos csi",
    cinder=sources.cinder("name", "namespace"),
    csi=sources.csi_persistent,
    glusterfs=sources.glusterfs_persistent,
    iscsi=sources.iscsi(persistent=True),
    storageos=sources.storage_os("name", "namespace"),
)


def _capacity(spec: Document, path: str) -> Iterator[Cause]:
    capacity = spec.get("capacity") or {}
    if "storage" not in capacity or len(capacity) > 1:
        yield unsupported("spec.capacity", capacity or None, ("storage",))
    for name, value in capacity.items():
        yield from basic_amount(value, f"spec.capacity[{name}]")
        yield from positive_amount(value, f"spec.capacity[{name}]")


def _attributes_class(name: str, path: str) -> Iterator[Cause]:
    yield from subdomain(name, path) if name else (required(path, "an empty string is disallowed"),)


def _only_csi(spec: Document, path: str) -> Iterator[Cause]:
    if spec.get("volumeAttributesClassName") is not None and spec.get("csi") is None:
        yield required("spec.csi", "has to be specified when using volumeAttributesClassName")


_AFFINITY = rules(need_set("required", node_selector, text="must specify required node constraints"))
_VOLUME = rules(
    need("accessModes"),
    given("accessModes", access_modes),
    need("capacity"),
    _capacity,
    given("persistentVolumeReclaimPolicy", among("Delete", "Recycle", "Retain")),
    present("nodeAffinity", _AFFINITY),
    lambda spec, path: sources.one_of(spec, path, _SOURCES),
)
_VOLUME_CLASSES = rules(
    given("storageClassName", subdomain),
    VOLUME_MODE,
    present("volumeAttributesClassName", _attributes_class),
    _only_csi,
)


def volume_causes(volume: Document) -> Iterator[Cause]:
    """Validation errors of a PersistentVolume."""
    spec = volume.get("spec") or {}
    yield from _VOLUME(spec, "spec")
    yield from _source_extras(spec, volume["metadata"].get("name", ""))
    yield from _VOLUME_CLASSES(spec, "spec")


def _source_extras(spec: Document, name: str) -> Iterator[Cause]:
    first = "".join(sources.sources_of(spec, _SOURCES)[:1])
    if first == "local" and spec.get("nodeAffinity") is None:
        yield required("spec.nodeAffinity", "Local volume requires node affinity")
    scsi = spec.get("iscsi") or {}
    portal = scsi.get("targetPortal", "")
    if first == "iscsi" and scsi.get("initiatorName") is not None and len(f"{name}:{portal}".encode()) > 64:
        why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
        yield invalid("spec.iscsi.targetportal", portal, f"{why}iscsi.initiatorName is specified.")
    path = (spec.get("hostPath") or {}).get("path", "")
    root = spec.get("hostPath") is not None and posixpath.normpath(path or ".") in ("/", "//")
    if root and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        yield forbidden("spec.persistentVolumeReclaimPolicy", why)


def volume_update_causes(volume: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a PersistentVolume."""
    spec, before = volume.get("spec") or {}, old.get("spec") or {}
    if subresource or spec == before:
        return
    known = set(volume_causes(old))
    yield from (cause for cause in volume_causes(volume) if cause not in known)
    now, earlier = ({key: each[key] for key in _SOURCES if key in each} for each in (spec, before))
    if "csi" in now and "csi" in earlier and "controllerExpandSecretRef" not in earlier["csi"]:
        now["csi"] = {key: value for key, value in now["csi"].items() if key != "controllerExpandSecretRef"}
    if now != earlier:
        why = "spec.persistentvolumesource is immutable after creation\n"
        yield forbidden("spec.persistentvolumesource", why)
    if spec.get("volumeMode") != before.get("volumeMode"):
        yield invalid("volumeMode", spec.get("volumeMode"), IMMUTABLE)
    affinity, earlier_affinity = spec.get("nodeAffinity"), before.get("nodeAffinity")
    if (
        earlier_affinity is not None
        and affinity != earlier_affinity
        and affinity != _stable(earlier_affinity, affinity)
    ):
        why = f"{IMMUTABLE}, except for updating from beta label to GA"
        yield invalid("nodeAffinity", _shown_affinity(affinity), why)
    if before.get("volumeAttributesClassName") is not None and spec.get("volumeAttributesClassName") is None:
        yield forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden")


def _stable(old: Document, new: Document | None) -> Document:
    """The old affinity with those beta labels renamed that the new one has renamed."""
    wanted = {
        expression.get("key")
        for term in (((new or {}).get("required") or {}).get("nodeSelectorTerms") or ())
        for expression in term.get("matchExpressions") or ()
    }

    def renamed(expression: Document) -> Document:
        key = expression.get("key", "")
        return {**expression, "key": _BETA[key]} if key in _BETA and key not in wanted else expression

    terms = [
        {**term, "matchExpressions": [renamed(each) for each in term["matchExpressions"]]}
        if "matchExpressions" in term
        else term
        for term in ((old.get("required") or {}).get("nodeSelectorTerms") or ())
    ]
    return {**old, "required": {**(old.get("required") or {}), "nodeSelectorTerms": terms}}


def _shown_affinity(affinity: Document | None) -> Struct | None:
    if affinity is None:
        return None
    fields = ("key", "operator", "values")

    def term(each: Document) -> Struct:
        parts = {
            key: [go_struct(requirement, fields) for requirement in each.get(key) or ()] or None
            for key in ("matchExpressions", "matchFields")
        }
        return go_struct(parts, parts)

    wanted = affinity.get("required")
    terms = [term(each) for each in (wanted or {}).get("nodeSelectorTerms") or ()] or None
    return Struct({"Required": None if wanted is None else {"NodeSelectorTerms": terms}})


def claim_causes(claim: Document) -> Iterable[Cause]:
    """Validation errors of a PersistentVolumeClaim."""
    return claim_spec(claim.get("spec") or {}, "spec")


def claim_update_causes(claim: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a PersistentVolumeClaim."""
    if subresource == "status":
        yield from _claim_status(claim.get("status") or {})
        return
    spec, before = claim.get("spec") or {}, old.get("spec") or {}
    annotation, earlier = (each["metadata"].get("annotations") or {} for each in (claim, old))
    if annotation.get(CLASS_ANNOTATION, "") != earlier.get(CLASS_ANNOTATION, "") and not _from_annotation(claim, old):
        where = f"metadata.annotations.{CLASS_ANNOTATION}"
        yield invalid(where, annotation.get(CLASS_ANNOTATION, ""), IMMUTABLE)
    if spec == before:
        return
    known = set(claim_causes(old))
    yield from (cause for cause in claim_causes(claim) if cause not in known)
    if _munged(claim, old) != before | ({"volumeName": spec["volumeName"]} if _names_volume(spec, before) else {}):
        why = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
        )
        yield forbidden("spec", f"{why}\n")
    yield from _shrunk(spec, before, old.get("status") or {})
    if spec.get("volumeMode") != before.get("volumeMode"):
        yield invalid("volumeMode", spec.get("volumeMode"), IMMUTABLE)
    attributes = spec.get("volumeAttributesClassName")
    current = (old.get("status") or {}).get("currentVolumeAttributesClassName")
    if attributes != before.get("volumeAttributesClassName") and current is not None and not attributes:
        to = "nil" if attributes is None else "empty string"
        why = f"update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil"
        yield forbidden("spec.volumeAttributesClassName", why)


def _names_volume(spec: Document, old: Document) -> bool:
    return not old.get("volumeName") and bool(spec.get("volumeName"))


def _from_annotation(claim: Document, old: Document) -> bool:
    """A claim whose class was an annotation may say it in the spec."""
    was = (old["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    now = (claim["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    wanted = (claim.get("spec") or {}).get("storageClassName")
    unset = (old.get("spec") or {}).get("storageClassName") is None
    return was is not None and unset and wanted == was and now in (None, was)


def _munged(claim: Document, old: Document) -> Document:
    """The new spec with all that may change as it was before."""
    spec, before = dict(claim.get("spec") or {}), old.get("spec") or {}
    was = (old["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    unset = before.get("storageClassName") is None and spec.get("storageClassName") is not None
    if unset and was in (None, spec.get("storageClassName")):
        spec.pop("storageClassName", None)
    if (claim.get("status") or {}).get("phase") == "Bound":
        requests = (spec.get("resources") or {}).get("requests")
        if requests is not None:
            size = ((before.get("resources") or {}).get("requests") or {}).get("storage")
            spec["resources"] = {**spec["resources"], "requests": {**requests, "storage": size}}
        spec.pop("volumeAttributesClassName", None)
        if "volumeAttributesClassName" in before:
            spec["volumeAttributesClassName"] = before["volumeAttributesClassName"]
    return spec


def _size(spec: Document) -> Quantity:
    return Quantity.parse(((spec.get("resources") or {}).get("requests") or {}).get("storage") or "0")


def _shrunk(spec: Document, old: Document, status: Document) -> Iterator[Cause]:
    size = _size(spec)
    if size < _size(old) and size <= Quantity.parse((status.get("capacity") or {}).get("storage") or "0"):
        yield forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")


def _claim_status(status: Document) -> Iterator[Cause]:
    for name, value in (status.get("capacity") or {}).items():
        yield from basic_amount(value, f"status.capacity[{name}]")
    path = "status.allocatedResourceStatuses"
    for name, state in (status.get("allocatedResourceStatuses") or {}).items():
        yield from _resource_key(name, path)
        if state not in _RESIZES:
            yield unsupported(path, name, _RESIZES)
    path = "status.allocatedResources"
    for name, value in (status.get("allocatedResources") or {}).items():
        wrong = list(_resource_key(name, path))
        wrong = wrong or list(basic_amount(value, f"{path}[{name}]"))
        yield from wrong or amount("storage", value, f"{path}[{name}]")


def _resource_key(name: str, path: str) -> Iterator[Cause]:
    faults = label_key_faults(name)
    for fault in faults:
        yield invalid(path, name, fault)
    if not faults and is_native(name) and name != "storage":
        yield unsupported(path, name, ("storage",))
