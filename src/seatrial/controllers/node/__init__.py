"""Node controllers: lifecycle stages, taints by condition, zones, and pod garbage collection."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.controllers.node.taints import ready_status

__all__ = ["ready_status"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(__name__, {"ready_status": "taints"})
