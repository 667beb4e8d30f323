"""Reads the scheduler configuration that a command names; without one the Volcano room is not loaded."""

from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.model.errors import ConfigError

if TYPE_CHECKING:
    from seatrial.volcano.config.scheduler_conf import SchedulerConf


def read_conf(path: Path | None) -> "SchedulerConf | None":
    """The configuration of a file; None, without one, stands for that of Volcano's Helm chart."""
    if path is None:
        return None
    from seatrial.volcano.config.scheduler_conf import load_conf
    from seatrial.volcano.plugins import PLUGINS

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(str(path), "", f"cannot be read: {why}") from error
    return load_conf(text, str(path), PLUGINS)
