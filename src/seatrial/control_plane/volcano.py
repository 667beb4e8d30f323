"""Volcano in `serve`: its kinds and webhooks, its controllers and its scheduler."""

from typing import TYPE_CHECKING

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from seatrial.control_plane.components import Parts, Settings
    from seatrial.volcano.config.scheduler_conf import SchedulerConf


def install_volcano(parts: "Parts") -> None:
    """Serve Volcano's kinds, before any object of them is loaded."""
    from seatrial.volcano.apis.install import install

    install(parts.store)


def add_volcano(parts: "Parts", settings: "Settings") -> None:
    """Run vc-controller-manager and vc-scheduler on the server's loop."""
    from seatrial.volcano.controllers.registry import build_controllers
    from seatrial.volcano.scheduler import VolcanoScheduler

    controllers = build_controllers(parts.store, parts.clock)
    scheduler = VolcanoScheduler(parts.store, parts.clock, read_conf(settings.volcano_config))
    for worker in (controllers, scheduler):
        worker.start()
        parts.workers.append(worker)


def read_conf(path: "Path | None") -> "SchedulerConf | None":
    """A scheduler configuration file; None stands for the one of Volcano's Helm chart."""
    from seatrial.volcano.config.scheduler_conf import load_conf
    from seatrial.volcano.plugins.registry import PLUGINS

    if path is None:
        return None
    try:
        text = path.read_text()
    except OSError as error:
        raise ConfigError(str(path), "", f"cannot be read: {error.strerror}") from error
    return load_conf(text, str(path), tuple(PLUGINS))
