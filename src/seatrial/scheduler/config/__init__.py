"""KubeSchedulerConfiguration: decoded strictly, defaulted, validated and expanded as kube-scheduler does it."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scheduler.config.configuration import (
        Configuration,
        Extender,
        Profile,
        default_configuration,
        load_configuration,
    )
    from seatrial.scheduler.config.field_errors import ConfigurationError
    from seatrial.scheduler.config.files import parse_gates, read_configuration
    from seatrial.scheduler.config.gates import effective_gates
    from seatrial.scheduler.config.writing import expanded_document, write_config, written_document
else:
    __getattr__, __dir__ = lazy_exports(__name__)
