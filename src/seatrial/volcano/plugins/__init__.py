"""The plugins of Volcano's scheduler, one file each, by what they decide. Upstream: pkg/scheduler/plugins."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.volcano.plugins.registry import PLUGINS

__all__ = ["PLUGINS"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "PLUGINS": "registry",
        },
    )
