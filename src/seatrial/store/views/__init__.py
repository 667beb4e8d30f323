"""Views: the one way to read an object."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.store.views.documents import shared_document
    from seatrial.store.views.object_fields import Condition, OwnerReference
    from seatrial.store.views.view import StatusView, View
else:
    __getattr__, __dir__ = lazy_exports(__name__)
