"""Selecting objects by label and field without decoding more of them than the selector reads."""

import msgspec

from seatrial.model.field_selectors import FieldSelector
from seatrial.model.label_selectors import LabelSelector
from seatrial.store.objects import Stored
from seatrial.store.views.view import View


class _Metadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Labelled(msgspec.Struct):
    metadata: _Metadata


LABELS = View(_Labelled, lambda seen: seen.metadata.labels or {})


def selected(found: list[Stored], labels: LabelSelector | None, fields: FieldSelector | None) -> list[Stored]:
    """Those objects that both selectors match."""
    if labels is not None:
        found = [stored for stored in found if labels.matches(LABELS.read(stored))]
    if fields is not None and fields.requirements:
        found = [stored for stored in found if fields.matches_encoded(stored.data)]
    return found
