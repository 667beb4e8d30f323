"""KubeSchedulerConfiguration: decoded strictly, defaulted, validated and expanded as kube-scheduler v1.36.3 does it."""

from seatrial.scheduler.config.configuration import (
    Configuration,
    Extender,
    PluginRef,
    Profile,
    default_configuration,
    load_configuration,
)
from seatrial.scheduler.config.field_errors import ConfigurationError

__all__ = [
    "Configuration",
    "ConfigurationError",
    "Extender",
    "PluginRef",
    "Profile",
    "default_configuration",
    "load_configuration",
]
