"""Events of the core group: they belong to the namespace of the object that they are about.

Upstream: legacyValidateEvent of pkg/apis/core/validation/events.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid

MISMATCH = "does not match event.namespace"


def create_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of an Event."""
    namespace = document["metadata"].get("namespace", "")
    about = (document.get("involvedObject") or {}).get("namespace", "")
    if (not about and namespace not in ("", "default")) or (about and about != namespace):
        yield invalid("involvedObject.namespace", about, MISMATCH)
