"""The plugins of Volcano's scheduler, one file each, by what they decide. Upstream: pkg/scheduler/plugins."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.volcano.plugins.registry import PLUGINS
else:
    __getattr__, __dir__ = lazy_exports(__name__)
