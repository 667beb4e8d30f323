"""Reads the scheduler configuration that a command names; without one the Volcano room is not loaded."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.volcano.config.scheduler_conf import SchedulerConf


def read_conf(path: Path | None, version: str = "") -> "SchedulerConf | None":
    """The configuration of a file; None, without one, stands for that of Volcano's Helm chart and newest version."""
    if path is None and not version:
        return None
    from seatrial.volcano.config.scheduler_conf import helm_conf, load_conf
    from seatrial.volcano.plugins import PLUGINS
    from seatrial.volcano.versions import find_version

    chosen = find_version(version)
    if path is None:
        return replace(helm_conf(), version=chosen)

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(str(path), "", f"cannot be read: {why}") from error
    return load_conf(text, str(path), PLUGINS, chosen)
