"""Lifecycle of pods and nodes as data: KWOK `Stage` objects, interpreted in virtual time."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.controllers.stages.kind import serve_stages

__all__ = ["serve_stages"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "serve_stages": "kind",
        },
    )
