"""The selection of a LIST or WATCH: a namespace, labels, fields.

A selector reads few fields, so only these are decoded: a pod may carry a quarter of a megabyte of annotations.
"""

from dataclasses import dataclass

from seatrial.model.field_selectors import FieldSelector
from seatrial.model.label_selectors import LabelSelector
from seatrial.server.messages import Request
from seatrial.server.paths import Target
from seatrial.store import LABELS, Stored
from seatrial.store.registry import selectable_fields

_BY_NAME = [("metadata.name", False)]


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected namespace, labels and fields."""

    namespace: str = ""
    labels: LabelSelector | None = None
    fields: FieldSelector | None = None

    @property
    def is_everything(self) -> bool:
        """Whether namespace alone decides."""
        return self.labels is None and self.fields is None

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for equal selections."""
        return self.namespace, str(self.labels or ""), str(self.fields or "")

    @property
    def is_by_place(self) -> bool:
        """Whether namespace and name decide: an object that is in the selection then stays in it."""
        if self.labels is not None:
            return False
        return self.fields is None or [(r.field, r.negated) for r in self.fields.requirements] == _BY_NAME

    def admits(self, stored: Stored) -> bool:
        """Whether the object belongs to the selection."""
        if self.namespace and stored.namespace != self.namespace:
            return False
        if self.is_by_place:
            return self.fields is None or self.name == stored.name
        if self.labels is not None and not self.labels.matches(LABELS.read(stored)):
            return False
        return self.fields is None or self.fields.matches_encoded(stored.data)

    @property
    def name(self) -> str | None:
        """The one name that is selected, if it is one."""
        return self.fields.required_value("metadata.name") if self.fields is not None else None


def selection_of(request: Request, target: Target, selectable: tuple[str, ...] = ()) -> Selection:
    """The selection in the query and the path; `selectable` are the fields a custom kind declares."""
    labels = request.query.get("labelSelector", "")
    fields = request.query.get("fieldSelector", "")
    if target.name:
        fields = f"metadata.name={target.name}" + (f",{fields}" if fields else "")
    return Selection(
        target.namespace,
        LabelSelector.parse(labels) if labels else None,
        FieldSelector.parse(fields, selectable_fields(target.kind, selectable)) if fields else None,
    )
