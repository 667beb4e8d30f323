"""Finds the volume for a claim. Pure.

Upstream: k8s.io/component-helpers/storage/volume (FindMatchingVolume), persistentvolume/index.go (v1.36).
"""

from collections.abc import Iterable

from seatrial.controllers.persistentvolume.annotations import BETA_CLASS
from seatrial.model.documents import Document
from seatrial.model.label_selectors import LabelSelector
from seatrial.model.quantity import quantity_value


def class_of(document: Document) -> str:
    """The storage class of a claim or a volume; the old annotation wins."""
    noted = document["metadata"].get("annotations", {}).get(BETA_CLASS)
    name: str = noted if noted is not None else document["spec"].get("storageClassName", "")
    return name


def has_class(claim: Document) -> bool:
    """Whether the claim sets a class; an empty one counts as set."""
    return BETA_CLASS in claim["metadata"].get("annotations", {}) or "storageClassName" in claim["spec"]


def satisfies(claim: Document, volume: Document) -> bool:
    """Whether a volume meets the requirements of a claim, regardless of other claims."""
    wanted, offered = claim["spec"], volume["spec"]
    return (
        size_of(volume) >= quantity_value(wanted.get("resources", {}).get("requests", {}).get("storage", "0"))
        and class_of(volume) == class_of(claim)
        and wanted.get("volumeAttributesClassName", "") == offered.get("volumeAttributesClassName", "")
        and has_same_mode(claim, volume)
        and set(wanted.get("accessModes", [])) <= set(offered.get("accessModes", []))
    )


def has_same_mode(claim: Document, volume: Document) -> bool:
    same: bool = claim["spec"].get("volumeMode", "Filesystem") == volume["spec"].get("volumeMode", "Filesystem")
    return same


def is_claimed_by(volume: Document, claim: Document) -> bool:
    """Whether the volume is bound to, or kept for, this claim."""
    reference, meta = volume["spec"].get("claimRef"), claim["metadata"]
    if reference is None or (reference["namespace"], reference["name"]) != (meta["namespace"], meta["name"]):
        return False
    return reference.get("uid", "") in ("", meta["uid"])


def best_volume(claim: Document, volumes: Iterable[Document], *, delayed: bool) -> Document | None:
    """The volume kept for the claim, else the one with the fewest access modes and the least room that fits."""
    fitting = []
    for volume in volumes:
        if "deletionTimestamp" in volume["metadata"] or not satisfies(claim, volume):
            continue
        if is_claimed_by(volume, claim):
            return volume
        if not delayed and _is_free(volume) and _is_selected(claim, volume):
            fitting.append(volume)
    return min(fitting, key=_preference, default=None)


def size_of(volume: Document) -> int:
    return quantity_value(volume["spec"].get("capacity", {}).get("storage", "0"))


def _is_free(volume: Document) -> bool:
    return "claimRef" not in volume["spec"] and volume.get("status", {}).get("phase") == "Available"


def _is_selected(claim: Document, volume: Document) -> bool:
    selector = claim["spec"].get("selector")
    return selector is None or LabelSelector.from_document(selector).matches(volume["metadata"].get("labels", {}))


def _preference(volume: Document) -> tuple[int, int, str]:
    return len(volume["spec"].get("accessModes", [])), size_of(volume), volume["metadata"]["name"]
