"""The cluster controllers, as cooperative work queues."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.controllers.registry import OFF_BY_DEFAULT, build_controllers, controller_names
    from seatrial.controllers.usage import node_metrics, parse_usage, pod_metrics, pod_usage

__all__ = [
    "OFF_BY_DEFAULT",
    "build_controllers",
    "controller_names",
    "node_metrics",
    "parse_usage",
    "pod_metrics",
    "pod_usage",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "OFF_BY_DEFAULT": "registry",
            "build_controllers": "registry",
            "controller_names": "registry",
            "node_metrics": "usage",
            "parse_usage": "usage",
            "pod_metrics": "usage",
            "pod_usage": "usage",
        },
    )
