"""KubeSchedulerConfiguration: decoded strictly, defaulted, validated and expanded as kube-scheduler v1.36.3 does it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.config.configuration import (
        Configuration,
        Extender,
        PluginRef,
        Profile,
        default_configuration,
        load_configuration,
    )
    from seatrial.scheduler.config.field_errors import ConfigurationError
    from seatrial.scheduler.config.files import parse_gates, read_configuration
    from seatrial.scheduler.config.gates import enabled_gates
    from seatrial.scheduler.config.writing import expanded_document, write_config, written_document

__all__ = [
    "Configuration",
    "ConfigurationError",
    "Extender",
    "PluginRef",
    "Profile",
    "default_configuration",
    "enabled_gates",
    "expanded_document",
    "load_configuration",
    "parse_gates",
    "read_configuration",
    "write_config",
    "written_document",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Configuration": "configuration",
            "ConfigurationError": "field_errors",
            "Extender": "configuration",
            "PluginRef": "configuration",
            "Profile": "configuration",
            "default_configuration": "configuration",
            "enabled_gates": "gates",
            "expanded_document": "writing",
            "load_configuration": "configuration",
            "parse_gates": "files",
            "read_configuration": "files",
            "write_config": "writing",
            "written_document": "writing",
        },
    )
