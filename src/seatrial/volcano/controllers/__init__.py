"""Volcano's controllers: Job, PodGroup and Queue.

Upstream: pkg/controllers.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.volcano.controllers.registry import build_controllers

__all__ = ["build_controllers"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "build_controllers": "registry",
        },
    )
