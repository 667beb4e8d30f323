"""Assembles a server process from the packages below: store, API, scheduler, controllers, scenarios, pages."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.control_plane.admission_plugins import disabled_plugins
    from seatrial.control_plane.components import Settings
    from seatrial.control_plane.hosted_run import HostedRun
    from seatrial.control_plane.memory import free_memory
    from seatrial.control_plane.process import run
    from seatrial.control_plane.result_strategy import check_strategy, chosen_strategy
    from seatrial.control_plane.scheduler_configuration import load, load_or_refuse
    from seatrial.control_plane.volcano import read_conf

__all__ = [
    "HostedRun",
    "Settings",
    "check_strategy",
    "chosen_strategy",
    "disabled_plugins",
    "free_memory",
    "load",
    "load_or_refuse",
    "read_conf",
    "run",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "HostedRun": "hosted_run",
            "Settings": "components",
            "check_strategy": "result_strategy",
            "chosen_strategy": "result_strategy",
            "disabled_plugins": "admission_plugins",
            "free_memory": "memory",
            "load": "scheduler_configuration",
            "load_or_refuse": "scheduler_configuration",
            "read_conf": "volcano",
            "run": "process",
        },
    )
