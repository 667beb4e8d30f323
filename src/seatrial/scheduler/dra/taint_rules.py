"""DeviceTaintRules: taints of devices that an administrator writes, and not the driver in its slices.

Upstream: k8s.io/dynamic-resource-allocation/resourceslice/tracker. A rule names a driver, a pool and a device, or some
of them; its taint is added to those that the slice has. A rule that changes the taints of a slice updates that slice.
"""

from collections.abc import Iterable, Sequence

from seatrial.model.documents import Document

GATE = "DRADeviceTaintRules"
KIND = "DeviceTaintRule"


def tainted(slices: Sequence[Document], rules: Iterable[Document]) -> Sequence[Document]:
    """The slices with the taints of the rules; those that no rule concerns are as they were."""
    for rule in rules:
        slices = [_with_taint(document, rule) for document in slices]
    return slices


def is_changed(piece: Document, old: Document | None, new: Document | None) -> bool:
    """Whether the change of a rule changes the taints of a slice."""
    before, after = ([] if rule is None else _taints(piece, rule) for rule in (old, new))
    return before != after and any((*before, *after))


def _with_taint(piece: Document, rule: Document) -> Document:
    added = _taints(piece, rule)
    if not any(added):
        return piece
    devices = [
        {**device, "taints": [*(device.get("taints") or ()), taint]} if taint else device
        for device, taint in zip(piece["spec"]["devices"], added, strict=True)
    ]
    return {**piece, "spec": {**piece["spec"], "devices": devices}}


def _taints(piece: Document, rule: Document) -> list[Document]:
    """What a rule adds to each device of a slice; empty where it adds nothing."""
    spec, of = rule.get("spec") or {}, piece.get("spec") or {}
    selector = spec.get("deviceSelector") or {}
    devices = of.get("devices") or ()
    pool = (of.get("pool") or {}).get("name")
    if selector.get("driver", of.get("driver")) != of.get("driver") or selector.get("pool", pool) != pool:
        return [{} for _ in devices]
    name, taint = selector.get("device"), spec.get("taint") or {}
    return [taint if name in (None, device.get("name")) else {} for device in devices]
