"""The in-tree plugins, one file or folder each, and the registry that finds them.

Upstream: pkg/scheduler/framework/plugins.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.plugins.default_preemption import DefaultPreemption
    from seatrial.scheduler.plugins.out_of_tree import known_points, load_module, load_plugins
    from seatrial.scheduler.plugins.out_of_tree_warnings import plugin_warnings
    from seatrial.scheduler.plugins.registry import Registry, load, points_of

__all__ = [
    "DefaultPreemption",
    "Registry",
    "known_points",
    "load",
    "load_module",
    "load_plugins",
    "plugin_warnings",
    "points_of",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "DefaultPreemption": "default_preemption",
            "Registry": "registry",
            "known_points": "out_of_tree",
            "load": "registry",
            "load_module": "out_of_tree",
            "load_plugins": "out_of_tree",
            "plugin_warnings": "out_of_tree_warnings",
            "points_of": "registry",
        },
    )
