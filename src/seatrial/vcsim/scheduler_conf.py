"""The configuration of the Volcano scheduler that a user gives."""

from pathlib import Path

from seatrial.model.errors import ConfigError
from seatrial.volcano.config import SchedulerConf, helm_conf, load_conf
from seatrial.volcano.plugins import PLUGINS


def read_conf(path: Path | None) -> SchedulerConf:
    """The configuration of a file; that of Volcano's Helm chart without one."""
    if path is None:
        return helm_conf()
    try:
        return load_conf(path.read_text(encoding="utf-8"), str(path), PLUGINS)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), "", str(getattr(error, "strerror", None) or error)) from error
