"""Selecting objects by label and field without decoding more of them than the selector reads."""

from collections.abc import Mapping
from typing import Any, TypedDict

import msgspec

from seatrial.model.documents import Document
from seatrial.model.field_selectors import FieldSelector
from seatrial.model.label_selectors import LabelSelector
from seatrial.store.objects import Stored


class _Labels(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Labelled(msgspec.Struct):
    metadata: _Labels


class _Metadata(TypedDict, total=False):
    name: str
    namespace: str


class _PodSpec(TypedDict, total=False):
    nodeName: str
    restartPolicy: str
    schedulerName: str
    serviceAccountName: str
    hostNetwork: bool


class _PodStatus(TypedDict, total=False):
    phase: str
    podIP: str
    podIPs: list[Any]
    nominatedNodeName: str


class _Pod(TypedDict, total=False):
    metadata: _Metadata
    spec: _PodSpec
    status: _PodStatus


_LABELLED = msgspec.json.Decoder(_Labelled)
_POD = msgspec.json.Decoder(_Pod)


def labels_of(stored: Stored) -> Mapping[str, str]:
    """The labels of an object, read from its bytes."""
    return _LABELLED.decode(stored.data).metadata.labels or {}


def fields_of(stored: Stored) -> Document:
    """Those fields of an object that a selector may read."""
    if stored.kind.group_kind == ("", "Pod"):
        return dict(_POD.decode(stored.data))
    return stored.document()


def selected(found: list[Stored], labels: LabelSelector | None, fields: FieldSelector | None) -> list[Stored]:
    """Those objects that both selectors match."""
    if labels is not None:
        found = [stored for stored in found if labels.matches(labels_of(stored))]
    if fields is not None and fields.requirements:
        found = [stored for stored in found if fields.matches(fields_of(stored))]
    return found
