"""Which objects of a kind a LIST or WATCH is about: a namespace, labels, fields."""

from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest
from seatrial.model.fields import FieldSelector
from seatrial.model.kinds import Kind
from seatrial.model.labels import LabelSelector
from seatrial.server.messages import Request
from seatrial.server.paths import Target
from seatrial.store.objects import Stored


@dataclass(frozen=True, slots=True)
class Selection:
    """What is asked for."""

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

    def admits(self, stored: Stored) -> bool:
        """Whether the object belongs to the selection."""
        if self.namespace and stored.namespace != self.namespace:
            return False
        return self.is_everything or self.admits_document(stored.document())

    def admits_document(self, document: Document) -> bool:
        labels = (document.get("metadata") or {}).get("labels") or {}
        if self.labels is not None and not self.labels.matches(labels):
            return False
        return self.fields is None or self.fields.matches(document)


def selection_of(request: Request, target: Target, kind: Kind) -> Selection:
    """The selection that the query and the path ask for; `kind` is the one whose fields are asked for."""
    labels = request.query.get("labelSelector", "")
    fields = request.query.get("fieldSelector", "")
    if target.name:
        fields = f"metadata.name={target.name}" + (f",{fields}" if fields else "")
    try:
        return Selection(
            target.namespace,
            LabelSelector.parse(labels) if labels else None,
            FieldSelector.parse(fields, kind) if fields else None,
        )
    except ValueError as error:
        raise BadRequest(str(error)) from None
