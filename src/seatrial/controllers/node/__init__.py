"""Node controllers: lifecycle stages, taints by condition, zones, and pod garbage collection."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.controllers.node.taints import ready_status
else:
    __getattr__, __dir__ = lazy_exports(__name__)
