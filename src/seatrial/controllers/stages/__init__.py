"""Lifecycle of pods and nodes as data: KWOK `Stage` objects, interpreted in virtual time."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.controllers.stages.kind import serve_stages
else:
    __getattr__, __dir__ = lazy_exports(__name__)
