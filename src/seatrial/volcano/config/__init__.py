"""Volcano's scheduler configuration: actions, tiers of plugins and their arguments. Upstream: pkg/scheduler/conf."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.volcano.config.scheduler_conf import SchedulerConf, helm_conf, load_conf

__all__ = ["SchedulerConf", "helm_conf", "load_conf"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "SchedulerConf": "scheduler_conf",
            "helm_conf": "scheduler_conf",
            "load_conf": "scheduler_conf",
        },
    )
