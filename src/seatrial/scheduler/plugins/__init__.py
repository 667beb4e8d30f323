"""The in-tree plugins, one file or folder each, and the registry that finds them.

Upstream: pkg/scheduler/framework/plugins.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.plugins.default_preemption import DefaultPreemption
    from seatrial.scheduler.plugins.out_of_tree import known_points, load_module, load_plugins
    from seatrial.scheduler.plugins.out_of_tree_warnings import plugin_warnings
    from seatrial.scheduler.plugins.registry import Registry, load
else:
    __getattr__, __dir__ = lazy_exports(__name__)
